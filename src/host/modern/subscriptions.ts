import { INTERNAL_ERROR, INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { encodeMessage, errorResponse } from '../../link/frames.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import { ACKNOWLEDGED, COMPLETE, SERVER_INFO_META, SUBSCRIPTION_META } from '../../mcp/modern/wire.ts';

/** Member of the filter for each list, and the capability that announces its changes. */
const LISTS = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const;
type ListMember = keyof typeof LISTS;
const LIST_MEMBERS = Object.keys(LISTS) as ListMember[];

interface Subscription {
  readonly exchange: Exchange;
  readonly lists: ReadonlySet<string>;
  readonly uris: Set<string>;
  /** Notifications that arrived before the acknowledgement, which comes first. */
  early: string[] | undefined;
}

export interface SubscriptionsPorts {
  serverInfo: object;
  capabilities(): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a request of the host's own to the session. Resolves to whether it succeeded. */
  request(method: string, params: object): Promise<boolean>;
}

/** Limits of one client: open subscriptions, and resources of each. */
const MAX_SUBSCRIPTIONS = 64;
const MAX_URIS = 1_024;

/** Subscriptions of a modern client. The legacy session under them has the sum of all, and keeps it for a new worker. */
export class Subscriptions {
  readonly #ports: SubscriptionsPorts;
  readonly #open = new Set<Subscription>();

  constructor(ports: SubscriptionsPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Serves `subscriptions/listen` until the client cancels it. */
  async listen(exchange: Exchange, params: Readonly<Record<string, unknown>>): Promise<void> {
    const wanted = readFilter(params.notifications);
    if (typeof wanted === 'string') return fail(exchange, INVALID_PARAMS, wanted);
    if (this.#open.size >= MAX_SUBSCRIPTIONS) {
      return fail(exchange, INTERNAL_ERROR, `Too many subscriptions are open; the limit is ${MAX_SUBSCRIPTIONS}.`);
    }
    const lists = new Set<string>();
    const subscription: Subscription = { exchange, lists, uris: new Set(), early: [] };
    this.#open.add(subscription);
    const capabilities = await this.#ports.capabilities();
    const honored: Record<string, unknown> = {};
    for (const member of LIST_MEMBERS) {
      const capability = capabilities[LISTS[member]];
      if (!wanted[member] || !isRecord(capability) || capability.listChanged !== true) continue;
      lists.add(`notifications/${LISTS[member]}/list_changed`);
      honored[member] = true;
    }
    const { resources } = capabilities;
    if (wanted.uris.length > 0 && isRecord(resources) && resources.subscribe === true) {
      const uris = await this.#subscribe(subscription, wanted.uris);
      if (uris.length > 0) honored.resourceSubscriptions = uris;
    }
    // The client may have cancelled it meanwhile.
    if (!this.#open.has(subscription)) return;
    exchange.notify(this.#frame(exchange, ACKNOWLEDGED, { notifications: honored }));
    for (const frame of subscription.early ?? []) exchange.notify(frame);
    subscription.early = undefined;
    if (Object.keys(honored).length === 0) this.#complete(subscription);
  }

  cancel(exchange: Exchange): void {
    for (const one of this.#open) if (one.exchange === exchange) this.#remove(one);
  }

  /** Forwards a change to the subscriptions that want it. */
  onNotification(method: string, params: Readonly<Record<string, unknown>>): void {
    for (const { exchange, lists, uris, early } of this.#open) {
      const isWanted = method === UPDATED ? uris.has(String(params.uri)) : lists.has(method);
      if (!isWanted) continue;
      const frame = this.#frame(exchange, method, params);
      if (early) early.push(frame);
      else exchange.notify(frame);
    }
  }

  /** Ends every subscription, and reports it to the clients. */
  end(): void {
    for (const one of [...this.#open]) this.#complete(one);
  }

  async #subscribe(subscription: Subscription, wanted: readonly string[]): Promise<string[]> {
    const answered = await Promise.all(
      wanted.map(async (uri) => {
        const isKnown = this.#isSubscribed(uri);
        // Changes count from here on, although the acknowledgement follows later.
        subscription.uris.add(uri);
        return isKnown || (await this.#ports.request('resources/subscribe', { uri }));
      }),
    );
    const honored = wanted.filter((_, i) => answered[i]);
    for (const uri of wanted) if (!honored.includes(uri)) subscription.uris.delete(uri);
    return honored;
  }

  #isSubscribed(uri: string): boolean {
    return [...this.#open].some(({ uris }) => uris.has(uri));
  }

  #complete(subscription: Subscription): void {
    const { exchange } = subscription;
    this.#remove(subscription);
    const _meta = { [SUBSCRIPTION_META]: exchange.id, [SERVER_INFO_META]: this.#ports.serverInfo };
    exchange.answer(encodeMessage({ id: exchange.id, result: { resultType: COMPLETE, _meta } }));
  }

  #remove(subscription: Subscription): void {
    this.#open.delete(subscription);
    for (const uri of subscription.uris) {
      if (!this.#isSubscribed(uri)) void this.#ports.request('resources/unsubscribe', { uri });
    }
  }

  #frame(exchange: Exchange, method: string, params: Readonly<Record<string, unknown>>): string {
    const meta = isRecord(params._meta) ? params._meta : {};
    return encodeMessage({ method, params: { ...params, _meta: { ...meta, [SUBSCRIPTION_META]: exchange.id } } });
  }
}

const UPDATED = 'notifications/resources/updated';

type Filter = Record<ListMember, boolean> & { uris: string[] };

/** Reads the filter of a request, or returns what is wrong with it. */
function readFilter(given: unknown): Filter | string {
  if (!isRecord(given)) return 'Invalid params: params.notifications must be an object that names what to listen to.';
  const { resourceSubscriptions: uris = [] } = given;
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string') || uris.length > MAX_URIS) {
    return `Invalid params: params.notifications.resourceSubscriptions must be a list of at most ${MAX_URIS} URIs.`;
  }
  const wrong = LIST_MEMBERS.find((member) => !['undefined', 'boolean'].includes(typeof given[member]));
  if (wrong) return `Invalid params: params.notifications.${wrong} must be true or false.`;
  const [tools, prompts, resources] = LIST_MEMBERS.map((member) => given[member] === true) as [
    boolean,
    boolean,
    boolean,
  ];
  return {
    toolsListChanged: tools,
    promptsListChanged: prompts,
    resourcesListChanged: resources,
    uris: [...new Set(uris as string[])],
  };
}

function fail(exchange: Exchange, code: number, message: string): void {
  exchange.answer(errorResponse(exchange.id, code, message), code);
}
