import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../../errors/rpcCodes.ts';
import { RpcError } from '../../../errors/rpcError.ts';

/**
 * Servers are told that their client can be asked anything, because many clients share them. The error for one that
 * cannot: the same that this client would give itself (2025-11-25, Elicitation, Sampling).
 */
export function missingCapability(
  method: string,
  params: Readonly<Record<string, unknown>>,
  capabilities: Readonly<Record<string, unknown>>,
): RpcError | undefined {
  const sampling = capabilities.sampling as Record<string, unknown> | undefined;
  const elicitation = capabilities.elicitation as Record<string, unknown> | undefined;
  if (method === 'sampling/createMessage') {
    if (!sampling) return new RpcError(METHOD_NOT_FOUND, 'The client of this call has no sampling.');
    if (params.tools === undefined || sampling.tools) return undefined;
    return new RpcError(INVALID_PARAMS, 'The client of this call has no sampling with tools.');
  }
  if (!elicitation) return new RpcError(METHOD_NOT_FOUND, 'The client of this call has no elicitation.');
  const mode = params.mode ?? 'form';
  // A client of before the modes has forms.
  const knows = mode === 'form' ? elicitation.form || !elicitation.url : elicitation.url;
  if (mode === 'form' || mode === 'url') {
    return knows ? undefined : new RpcError(INVALID_PARAMS, `The client of this call has no elicitation by ${mode}.`);
  }
  return new RpcError(INVALID_PARAMS, 'The mode of an elicitation must be form or url.');
}
