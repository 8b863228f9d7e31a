import { INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';

/** Returns a required string parameter of a request. */
export function textParam(params: Readonly<Record<string, unknown>>, name: string): string {
  const value = params[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new RpcError(INVALID_PARAMS, `"${name}" must be a string.`);
}
