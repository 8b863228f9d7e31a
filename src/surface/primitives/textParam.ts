import { INVALID_PARAMS } from '../../ops/rpcCodes.ts';
import { RpcError } from '../../ops/rpcError.ts';

/** A parameter of MCP's own methods without which nothing can be asked. */
export function textParam(params: Readonly<Record<string, unknown>>, name: string): string {
  const value = params[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new RpcError(INVALID_PARAMS, `"${name}" must be a text.`);
}
