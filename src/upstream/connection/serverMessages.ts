import type { Oddities } from '../../mcp/wire/oddities.ts';
import type { UpstreamClientOptions } from '../../mcp/wire/upstreamClient.ts';

import type { CallOrigin } from './callOrigin.ts';

/** `origin`: origin of the related call, if the transport knows it. */
export type NotificationListener = (params: Record<string, unknown>, origin?: object) => void;
export type RequestHandler = (
  params: Record<string, unknown>,
  signal: AbortSignal,
  origin?: object,
) => Promise<Record<string, unknown>>;
type ClientCapabilities = NonNullable<CallOrigin['clientCapabilities']>;
/** Answers the questions of a round together, or is `undefined` where the client gets one at a time. */
export type QuestionsHandler = NonNullable<UpstreamClientOptions['onQuestions']>;
/** Capability that a start declares to the server, or a function that each start asks for it. */
export type Capability = Record<string, object> | (() => Promise<Record<string, object>>);

/** Listeners and handlers for messages of a server, over all its starts. */
export class ServerMessages {
  readonly #listeners = new Map<string, Set<NotificationListener>>();
  readonly #handlers = new Map<string, RequestHandler>();
  readonly #capabilities: Capability[] = [];
  #offer = (client: ClientCapabilities): ClientCapabilities => client;
  #questionsHandler: QuestionsHandler | undefined;

  onNotification(method: string, listener: NotificationListener): () => void {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  setRequestHandler(method: string, handler: RequestHandler, capability: Capability): void {
    this.#handlers.set(method, handler);
    this.#capabilities.push(capability);
  }

  setOffer(offer: (client: ClientCapabilities) => ClientCapabilities): void {
    this.#offer = offer;
  }

  setQuestionsHandler(handler: QuestionsHandler): void {
    this.#questionsHandler = handler;
  }

  async clientOptions(oddities: Oddities): Promise<UpstreamClientOptions> {
    const declared = await Promise.all(this.#capabilities.map((one) => (typeof one === 'function' ? one() : one)));
    return {
      oddities,
      capabilitiesOf: (origin) => {
        const { clientCapabilities } = origin as CallOrigin;
        return clientCapabilities && this.#offer(clientCapabilities);
      },
      capabilities: Object.assign({}, ...declared),
      onNotification: ({ method, params, origin }) => {
        for (const listener of this.#listeners.get(method) ?? []) listener(params, origin);
      },
      onRequest: ({ method, params, origin }, signal) => this.#handlers.get(method)?.(params, signal, origin),
      onQuestions: (questions, origin, signal) => this.#questionsHandler?.(questions, origin, signal),
    };
  }
}
