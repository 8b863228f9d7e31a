/** Answers a request with an error of JSON-RPC: for what MCP defines so; faults of tools are results (design.md §3). */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
