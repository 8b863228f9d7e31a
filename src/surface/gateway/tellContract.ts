import type { CatalogTool } from '../../catalog/types.ts';
import type { SurfaceCall } from '../../protocol/sessionSurface.ts';
import type { GatewayContext } from './gatewayContext.ts';

/** To be said before anything of the call leaves: a call has its tool's contract (004, Replay), and the host knows no tools. */
export function tellContract(
  tool: CatalogTool,
  { contractOf }: Pick<GatewayContext, 'contractOf'>,
  call: Pick<SurfaceCall, 'contract'>,
): void {
  const contract = contractOf?.(tool) ?? 'never_replay';
  // What is never repeated needs no word: the host takes that for granted.
  if (contract !== 'never_replay') call.contract?.(contract);
}
