import type { CatalogTool } from '../../catalog/types.ts';
import type { SurfaceCall } from '../../protocol/sessionSurface.ts';
import type { GatewayContext } from './gatewayContext.ts';

/**
 * To be awaited before anything of the call leaves: a call has its tool's contract (004, Replay), and the host knows no
 * tools. It knows by this too that the call has begun: of one that nobody has told it of, nothing has happened.
 */
export function tellContract(
  tool: CatalogTool,
  { contractOf }: Pick<GatewayContext, 'contractOf'>,
  call: Pick<SurfaceCall, 'contract'>,
): Promise<void> | undefined {
  return call.contract?.(contractOf?.(tool) ?? 'never_replay');
}
