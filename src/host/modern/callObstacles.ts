import { INVALID_PARAMS, URL_ELICITATION_REQUIRED } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { errorResponse, peekIsError } from '../../link/frames.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import { MISSING_CLIENT_CAPABILITY } from '../../mcp/modern/wire.ts';
import type { HeldCall } from './heldCall.ts';

/** Address that the user must visit before a server runs a call. */
export interface Visit {
  mode: 'url';
  message: string;
  url: string;
}

/** Returns what a client must do, or be able to do, before a failed call of a server can succeed. */
export function obstacleIn(
  frame: Buffer,
  { missing, envelope }: HeldCall,
): Visit | { requiredCapabilities: object } | undefined {
  if (!missing && !peekIsError(frame)) return undefined;
  const { result, error } = JSON.parse(frame.toString('utf8')) as { result?: { isError?: unknown }; error?: RpcFault };
  if (missing && (error !== undefined || result?.isError === true)) return { requiredCapabilities: missing };
  const { requiredCapabilities } = error?.data ?? {};
  const isLacking = (name: string): boolean => !envelope.capabilities[name];
  if (error?.code === MISSING_CLIENT_CAPABILITY && isRecord(requiredCapabilities)) {
    return Object.keys(requiredCapabilities).some(isLacking) ? { requiredCapabilities } : undefined;
  }
  const [first] = (error?.code === URL_ELICITATION_REQUIRED && error.data?.elicitations) || [];
  return first && { mode: 'url', message: String(first.message), url: String(first.url) };
}

interface RpcFault {
  code: number;
  data?: { requiredCapabilities?: unknown; elicitations?: readonly { message?: unknown; url?: unknown }[] };
}

/** Answers a request that needs a capability which it does not declare. */
export function lacks(exchange: Exchange, requiredCapabilities: object): void {
  const message = `Missing required client capability: ${Object.keys(requiredCapabilities).join(', ')}.`;
  const frame = errorResponse(exchange.id, MISSING_CLIENT_CAPABILITY, message, { requiredCapabilities });
  exchange.answer(frame, MISSING_CLIENT_CAPABILITY);
}

/** Answers a request whose parameters contradict its round. */
export function refuse(exchange: Exchange, message: string): void {
  exchange.answer(errorResponse(exchange.id, INVALID_PARAMS, message));
}
