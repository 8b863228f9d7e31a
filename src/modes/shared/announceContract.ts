import type { CatalogTool } from '../../catalog/types.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { GatewayContext } from './modeContext.ts';

/**
 * Announces the contract of a call's tool to the host, which knows no tools (O3.8). The host replays a replayable call
 * where this worker hangs or dies, and learns of all others when they begin.
 */
export function announceContract(
  tool: CatalogTool,
  { contractOf }: Pick<GatewayContext, 'contractOf'>,
  call: Pick<CallContext, 'contract'>,
): void {
  // A repeated call would begin a second task, so the declared contract does not apply.
  if (tool.requiresTask) return;
  const contract = contractOf(tool);
  if (contract === 'convergent') call.contract?.(contract);
}
