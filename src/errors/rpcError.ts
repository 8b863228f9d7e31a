import { visibleData, visibleText } from '../text/visibleText.ts';

/**
 * Answers a request with an error of JSON-RPC where MCP defines one. Faults of tools are results (G4.8).
 * Clients show the message as Waygate's, also that of a server's own error, so nothing in it is hidden.
 */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(visibleText(message));
    this.code = code;
    this.data = visibleData(data);
  }
}
