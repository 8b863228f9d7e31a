import type { IncomingMessage, ServerResponse } from 'node:http';
import { encodeMessage, errorResponse, isRequestId, type JsonRpcMessage, type RequestId } from '../../link/frames.ts';
import { HttpRefusal } from '../../mcp/http/httpRefusal.ts';
import { isProblem, type Problem, readEnvelope } from '../../mcp/modern/envelope.ts';
import { headerProblem } from '../../mcp/modern/headers.ts';
import { HttpExchange } from '../../mcp/modern/httpExchange.ts';
import { StateSeal } from '../../mcp/modern/requestState.ts';
import { claimsModern } from '../../mcp/modern/wire.ts';
import type { UsedRounds } from '../session/usedRounds.ts';
import { digestOf } from './heldCall.ts';
import { ModernClient } from './modernClient.ts';
import type { ModernOptions } from './modernOptions.ts';

export interface HttpClientsOptions extends Omit<ModernOptions, 'seal' | 'use' | 'isHttp' | 'mode' | 'introduction'> {
  /** Key for the states of rounds, and the rounds that have been answered. Both outlive the process. */
  key: Buffer;
  used: Pick<UsedRounds, 'use' | 'forgetOld'>;
  /** Identity of everybody who may send requests: the bearer token, empty without one. */
  token: string;
  /** Returns the mode and its introduction. Read for each client, because the configuration may change. */
  modeNow(): Pick<ModernOptions, 'mode' | 'introduction'>;
}

/** Limits of one address: clients by name, and requests in flight. */
const MAX_CLIENTS = 64;
const MAX_REQUESTS = 1_024;
/** Idle time after which a client's legacy session ends. */
const IDLE_MS = 30 * 60_000;
/** Time for which a client that does not read may hold back its session. */
const STALL_MS = 30_000;

interface HttpClient {
  client: ModernClient;
  open: Set<HttpExchange>;
}

/**
 * Clients of revision 2026-07-28 over HTTP. Requests belong together if they have the same token and name the same
 * client: quotas and approvals are theirs, whatever connection they take.
 */
export class HttpClients {
  readonly #options: HttpClientsOptions;
  readonly #seal: StateSeal;
  readonly #clients = new Map<string, HttpClient>();

  constructor(options: HttpClientsOptions) {
    this.#options = options;
    this.#seal = new StateSeal(options.key);
  }

  /** Serves the message of a POST. */
  post(message: JsonRpcMessage, { headers }: IncomingMessage, response: ServerResponse): void {
    const { id, method } = message;
    if (method === undefined)
      throw new HttpRefusal(400, 'The body must be a request; answers belong into the next request.');
    const problem = this.#problemOf(message, headers);
    if (problem) refuse(response, isRequestId(id) ? id : undefined, problem);
    // Closing the stream cancels a request, so no notification of a client has a meaning.
    else if (!isRequestId(id)) response.writeHead(202).end();
    else this.#serve(id, message, response);
  }

  /** Keeps open streams alive, and ends the sessions of clients that have gone. */
  tend(): void {
    for (const [key, { client, open }] of this.#clients) {
      for (const exchange of open) exchange.keepAlive();
      if (open.size === 0 && client.idleMs > IDLE_MS) this.#end(key);
    }
    this.#options.used.forgetOld();
  }

  /** Ends all sessions. Open requests may finish. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients.keys()].map((key) => this.#end(key)));
  }

  #problemOf(message: JsonRpcMessage, headers: IncomingMessage['headers']): Problem | undefined {
    // A notification states nothing about its client.
    const isNotification = message.id === undefined;
    if (!isNotification && !claimsModern(message)) return readEnvelope(message) as Problem;
    const contradiction = isNotification ? undefined : headerProblem(headers, message);
    if (contradiction || isNotification) return contradiction;
    const envelope = readEnvelope(message);
    return isProblem(envelope) ? envelope : undefined;
  }

  #serve(id: RequestId, message: JsonRpcMessage, response: ServerResponse): void {
    const { client, open } = this.#clientOf(message);
    if (open.size >= MAX_REQUESTS) {
      throw new HttpRefusal(503, 'Too many requests are in flight; wait for their answers.', { 'retry-after': '5' });
    }
    const exchange = new HttpExchange(id, response, () => client.cancel(exchange));
    open.add(exchange);
    response.once('close', () => open.delete(exchange));
    client.request(message, exchange);
  }

  #clientOf(message: JsonRpcMessage): HttpClient {
    const envelope = readEnvelope(message);
    const name = isProblem(envelope) ? '' : envelope.client.name;
    const key = digestOf([this.#options.token, name]);
    const known = this.#clients.get(key);
    if (known) return known;
    if (this.#clients.size >= MAX_CLIENTS) this.#replaceIdlest();
    const open = new Set<HttpExchange>();
    const full = (): Promise<void> | undefined => {
      const waiting = [...open].flatMap((exchange) => exchange.drained(STALL_MS) ?? []);
      return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined);
    };
    const own = { seal: this.#seal, use: (nonce: string) => this.#options.used.use(nonce), isHttp: true };
    const client = new ModernClient({ ...this.#options, ...this.#options.modeNow(), ...own }, key, full);
    const one = { client, open };
    this.#clients.set(key, one);
    return one;
  }

  #replaceIdlest(): void {
    const idle = [...this.#clients].filter(([, { client, open }]) => open.size === 0 && client.idleMs > 0);
    const [key] = idle.sort(([, a], [, b]) => b.client.idleMs - a.client.idleMs)[0] ?? [];
    if (key === undefined) throw new HttpRefusal(503, 'Too many clients are connected.', { 'retry-after': '5' });
    void this.#end(key);
  }

  #end(key: string): Promise<number> {
    const one = this.#clients.get(key);
    this.#clients.delete(key);
    return one?.client.end() ?? Promise.resolve(0);
  }
}

function refuse(response: ServerResponse, id: RequestId | undefined, { code, message, data }: Problem): void {
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(
    id === undefined ? encodeMessage({ error: { code, message, data } }) : errorResponse(id, code, message, data),
  );
}
