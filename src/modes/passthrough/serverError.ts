import { faultError } from '../../errors/faultError.ts';
import { errorText, GatewayError } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR, URL_ELICITATION_REQUIRED } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { contractOf } from '../../replay/replay.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import { scrubValue } from '../../secrets/scrubValue.ts';
import { failedCall } from '../../upstream/connection/callFailed.ts';

interface Failed {
  failure?: unknown;
  code?: unknown;
  message?: unknown;
  data?: unknown;
}

/** Returns the JSON-RPC error that a server answered with, unchanged. A status of HTTP is not one. */
export function ownErrorOf(thrown: unknown): RpcError | undefined {
  const error = (thrown instanceof GatewayError ? thrown.cause : thrown) as Failed | undefined;
  if (error?.failure !== 'error' || typeof error.code !== 'number' || error.code >= 0) return undefined;
  return new RpcError(error.code, String(error.message), error.data);
}

/** Masks the secrets of an error. The data of an elicitation stays, since the user has to open its address. */
export function maskedError({ code, message, data }: RpcError): RpcError {
  return new RpcError(code, scrubSecrets(message), code === URL_ELICITATION_REQUIRED ? data : scrubValue(data));
}

/** Answers a call that failed without an answer of its server (G4.8). */
export function faultResult(error: GatewayError): object {
  return { content: [{ type: 'text', text: `${errorText(error)}\n` }], isError: true };
}

/** Makes the error for a forwarded request, which has no results of that form. */
export function requestError(server: string, method: string, thrown: unknown, isMasked: boolean): RpcError {
  const own = ownErrorOf(thrown);
  if (own) return isMasked ? maskedError(own) : own;
  const { fault, knowledge, retryAfterSeconds: retryAfter } = failedCall(thrown, scrubSecrets);
  const contract = contractOf(method);
  const error = faultError(fault, {
    subject: server,
    knowledge,
    contract,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
  return new RpcError(INTERNAL_ERROR, error.message, error.toObject());
}

/** Returns the ids of the elicitations that an error asks for. */
export function requiredElicitations({ code, data }: RpcError): string[] {
  if (code !== URL_ELICITATION_REQUIRED) return [];
  const { elicitations } = (data ?? {}) as { elicitations?: unknown };
  if (!Array.isArray(elicitations)) return [];
  return elicitations.flatMap((one) => {
    const { elicitationId } = (one ?? {}) as { elicitationId?: unknown };
    return typeof elicitationId === 'string' ? [elicitationId] : [];
  });
}
