import { RpcError } from '../../ops/rpcError.ts';

const INVALID_PARAMS = -32602;

/** A parameter of MCP's own methods without which nothing can be asked. */
export function textParam(params: Readonly<Record<string, unknown>>, name: string): string {
  const value = params[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new RpcError(INVALID_PARAMS, `"${name}" must be a text.`);
}
