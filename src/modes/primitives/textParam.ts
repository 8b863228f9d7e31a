import { INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';

/** A parameter of MCP's own methods without which nothing can be asked. */
export function textParam(params: Readonly<Record<string, unknown>>, name: string): string {
  const value = params[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new RpcError(INVALID_PARAMS, `"${name}" must be a text.`);
}
