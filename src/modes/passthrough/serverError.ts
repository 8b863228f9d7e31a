import { faultError } from '../../errors/faultError.ts';
import { errorText, GatewayError } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR, URL_ELICITATION_REQUIRED } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { contractOf } from '../../replay/replay.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import { scrubValue } from '../../secrets/scrubValue.ts';
import { visibleText } from '../../text/visibleText.ts';
import { failedCall } from '../../upstream/connection/callFailed.ts';

interface Failed {
  failure?: unknown;
  code?: unknown;
  message?: unknown;
  data?: unknown;
}

export interface ErrorTerms {
  isMasked: boolean;
  /** Makes the `data` of an error that sends the user to URLs first. */
  required(data: unknown): object;
}

/** Returns the JSON-RPC error that a server answered with, as the client may see it. A status of HTTP is not one. */
export function ownErrorOf(thrown: unknown, { isMasked, required }: ErrorTerms): RpcError | undefined {
  const error = (thrown instanceof GatewayError ? thrown.cause : thrown) as Failed | undefined;
  if (error?.failure !== 'error' || typeof error.code !== 'number' || error.code >= 0) return undefined;
  const { code, data } = error;
  const message = visibleText(String(error.message));
  if (code === URL_ELICITATION_REQUIRED) return new RpcError(code, scrubSecrets(message), required(data));
  return new RpcError(code, isMasked ? scrubSecrets(message) : message, isMasked ? scrubValue(data) : data);
}

/** Answers a call that failed without an answer of its server (G4.8). */
export function faultResult(error: GatewayError): object {
  return { content: [{ type: 'text', text: `${errorText(error)}\n` }], isError: true };
}

/** Makes the error for a forwarded request, which has no results of that form. */
export function requestError(server: string, method: string, thrown: unknown, terms: ErrorTerms): RpcError {
  const own = ownErrorOf(thrown, terms);
  if (own) return own;
  if (thrown instanceof GatewayError) return new RpcError(INTERNAL_ERROR, thrown.message, thrown.toObject());
  const { fault, knowledge, retryAfterSeconds: retryAfter } = failedCall(thrown, scrubSecrets);
  const contract = contractOf(method);
  const error = faultError(fault, {
    subject: server,
    knowledge,
    contract,
    cause: thrown,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
  return new RpcError(INTERNAL_ERROR, error.message, error.toObject());
}
