import type { JSONRPCMessage, JSONRPCNotification } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR } from '../../../errors/rpcCodes.ts';
import { type Deferred, deferred } from '../../../lib/deferred.ts';
import { isRecord } from '../../../lib/isRecord.ts';
import type { RequestId } from '../../../link/frames.ts';
import { ACKNOWLEDGED, SUBSCRIPTION_META } from '../../modern/wire.ts';
import type { UpstreamRequestError } from '../upstreamClient.ts';
import type { Params, RpcError } from './eras.ts';

export interface ListeningPorts {
  /** Sends `subscriptions/listen`. */
  send(id: RequestId, params: Params): Promise<void>;
  cancel(id: RequestId): void;
  /** Delivers a notification to the client. */
  deliver(method: string): void;
  /** Returns whether a transport has put the error in place of an answer. */
  isLost(error: RpcError): boolean;
  /** Ends a connection over which nothing can be listened to any more. */
  giveUp(): void;
}

/** Lists that a client can listen to: their capability, the filter's member and the notification. */
const LISTS = [
  ['tools', 'toolsListChanged', 'notifications/tools/list_changed'],
  ['resources', 'resourcesListChanged', 'notifications/resources/list_changed'],
  ['prompts', 'promptsListChanged', 'notifications/prompts/list_changed'],
] as const;
const ID_PREFIX = 'waygate-listen-';
const RESTART_MS = 1_000;
const MAX_RESTART_MS = 60_000;
/** A subscription that lasted longer counts as a good one. */
const STEADY_MS = 30_000;
const MAX_FAILURES = 2;

/** The one subscription of a client: changes of lists, and of the resources that it follows (M9.6). */
export class Listening {
  readonly #ports: ListeningPorts;
  readonly #uris = new Set<string>();
  #lists: (typeof LISTS)[number][] = [];
  #id: RequestId | undefined;
  /** Earlier subscription, until the latest one is acknowledged: nothing is missed in between. */
  #before: RequestId | undefined;
  #lastId = 0;
  /** Settles when the server has acknowledged the latest subscription, or refused it. */
  #begun: Deferred<RpcError | undefined> | undefined;
  #acknowledgedAt: number | undefined;
  /** Changes may have been missed. */
  #hasGap = false;
  #failures = 0;
  #delayMs = RESTART_MS;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(ports: ListeningPorts) {
    this.#ports = ports;
  }

  /** Listens to the lists whose changes the server announces. */
  begin(capabilities: unknown): void {
    const declared = isRecord(capabilities) ? capabilities : {};
    this.#lists = LISTS.filter(([name]) => {
      const one = declared[name];
      return isRecord(one) && one.listChanged === true;
    });
    if (this.#lists.length > 0) void this.#listen();
  }

  /** Follows a resource, or stops that. Resolves to the server's error if it refuses. */
  async follow(uri: string, on: boolean): Promise<RpcError | undefined> {
    if (on === this.#uris.has(uri)) return undefined;
    if (on) this.#uris.add(uri);
    else this.#uris.delete(uri);
    const error = await this.#listen();
    if (error && on) this.#uris.delete(uri);
    return error;
  }

  /** Takes a notification. Returns whether it was about the subscription alone. */
  notified({ method, params }: JSONRPCNotification): boolean {
    const { _meta } = params ?? {};
    const subscription = _meta?.[SUBSCRIPTION_META];
    if (_meta && subscription !== undefined) delete _meta[SUBSCRIPTION_META];
    if (params && _meta && Object.keys(_meta).length === 0) delete params._meta;
    if (method === 'notifications/cancelled' && params?.requestId === this.#id && this.#id !== undefined) {
      this.#onEnd();
      return true;
    }
    if (method !== ACKNOWLEDGED) return false;
    if (subscription === this.#id) this.#onAcknowledged();
    return true;
  }

  /** Takes an answer. Returns whether it ended the subscription. */
  ended(message: Exclude<JSONRPCMessage, { method: string }>): boolean {
    const { id } = message;
    if (typeof id !== 'string' || !id.startsWith(ID_PREFIX)) return false;
    if (id !== this.#id) return true;
    if (!('error' in message) || this.#ports.isLost(message.error)) this.#onEnd();
    else this.#onRefused(message.error);
    return true;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#begun?.resolve(undefined);
  }

  #listen(): Promise<RpcError | undefined> {
    clearTimeout(this.#timer);
    const begun = deferred<RpcError | undefined>();
    this.#begun?.resolve(begun.promise);
    this.#begun = begun;
    const lists = Object.fromEntries(this.#lists.map(([, member]) => [member, true]));
    const notifications = { ...lists, ...(this.#uris.size > 0 ? { resourceSubscriptions: [...this.#uris] } : {}) };
    this.#endEarlier();
    this.#before = this.#id;
    this.#id = undefined;
    if (this.#closed || Object.keys(notifications).length === 0) {
      this.#endEarlier();
      begun.resolve(undefined);
      return begun.promise;
    }
    this.#lastId += 1;
    const id = `${ID_PREFIX}${this.#lastId}`;
    this.#id = id;
    this.#acknowledgedAt = undefined;
    this.#ports.send(id, { notifications }).catch((error: UpstreamRequestError) => {
      if (this.#id !== id) return;
      const { failure, code = INTERNAL_ERROR, message } = error;
      if (failure === 'error' || failure === 'protocol') this.#onRefused({ code, message });
      else this.#onEnd();
    });
    return begun.promise;
  }

  #endEarlier(): void {
    if (this.#before !== undefined) this.#ports.cancel(this.#before);
    this.#before = undefined;
  }

  /** The server cannot be listened to. */
  #onRefused(error: RpcError): void {
    this.#endEarlier();
    this.#id = undefined;
    this.#begun?.resolve(error);
  }

  #onAcknowledged(): void {
    this.#endEarlier();
    this.#acknowledgedAt = performance.now();
    this.#failures = 0;
    this.#begun?.resolve(undefined);
    if (this.#hasGap) for (const [, , method] of this.#lists) this.#ports.deliver(method);
    this.#hasGap = false;
  }

  /** Listens again after a pause. A server that cannot be listened to twice in a row is gone. */
  #onEnd(): void {
    this.#id = undefined;
    if (this.#closed) return;
    this.#hasGap = true;
    const lastedMs = this.#acknowledgedAt === undefined ? 0 : performance.now() - this.#acknowledgedAt;
    if (this.#acknowledgedAt === undefined) this.#failures += 1;
    if (this.#failures >= MAX_FAILURES) {
      this.#ports.giveUp();
      return;
    }
    const delayMs = lastedMs > STEADY_MS ? RESTART_MS : this.#delayMs;
    this.#delayMs = Math.min(MAX_RESTART_MS, 2 * delayMs);
    this.#timer = setTimeout(() => void this.#listen(), delayMs).unref();
  }
}
