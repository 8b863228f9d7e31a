import type { CatalogTool } from '../../catalog/types.ts';
import type { SurfaceCall } from '../../mcp/session/sessionMode.ts';
import type { GatewayContext } from './modeContext.ts';

/**
 * A call has its tool's contract (004, Replay), and the host knows no tools: what may be sent again is, where this worker
 * hangs or says nothing more. Of all others the host learns when they begin.
 */
export function tellContract(
  tool: CatalogTool,
  { contractOf }: Pick<GatewayContext, 'contractOf'>,
  call: Pick<SurfaceCall, 'contract'>,
): void {
  const contract = contractOf(tool);
  if (contract === 'convergent') call.contract?.(contract);
}
