import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../../errors/rpcCodes.ts';
import { RpcError } from '../../../errors/rpcError.ts';

/**
 * Returns the error for a request that the client does not support, the same that the client itself would give
 * (2025-11-25, Elicitation, Sampling). Waygate declares every capability to servers, because many clients share them.
 */
export function missingCapability(
  method: string,
  params: Readonly<Record<string, unknown>>,
  capabilities: Readonly<Record<string, unknown>>,
): RpcError | undefined {
  const sampling = capabilities.sampling as Record<string, unknown> | undefined;
  const elicitation = capabilities.elicitation as Record<string, unknown> | undefined;
  if (method === 'sampling/createMessage') {
    if (!sampling) return new RpcError(METHOD_NOT_FOUND, 'The client of this call does not support sampling.');
    if (params.tools === undefined || sampling.tools) return undefined;
    return new RpcError(INVALID_PARAMS, 'The client of this call does not support sampling with tools.');
  }
  if (!elicitation) return new RpcError(METHOD_NOT_FOUND, 'The client of this call does not support elicitation.');
  const mode = params.mode ?? 'form';
  // Clients older than the modes support forms.
  const knows = mode === 'form' ? elicitation.form || !elicitation.url : elicitation.url;
  if (mode === 'form' || mode === 'url') {
    return knows
      ? undefined
      : new RpcError(INVALID_PARAMS, `The client of this call does not support elicitation by ${mode}.`);
  }
  return new RpcError(INVALID_PARAMS, 'The mode of an elicitation must be form or url.');
}
