import { randomUUID } from 'node:crypto';
import {
  encodeMessage,
  type JsonRpcMessage,
  KEPT_NOTIFICATION,
  LOST_NOTIFICATION,
  type RequestId,
} from '../../link/frames.ts';
import { negotiateVersion } from '../../mcp/mcpVersions.ts';
import { type LostCall, MAX_LOST_CALLS } from '../../replay/lostCall.ts';
import { RESUMED_META } from '../../replay/replay.ts';
import { shortened } from '../../text/porcelain.ts';
import type { ClientCall } from './clientCall.ts';

/** Unique, so that it cannot equal an id of the client. */
const INITIALIZE_ID = `waygate:${randomUUID()}`;
const SUBSCRIBE_ID = `${INITIALIZE_ID}:subscribe:`;
const LEVEL_ID = `${INITIALIZE_ID}:level`;

/** Receiver of an answer to one of the host's own requests. */
export type OwnAnswer = 'introduction' | 'nobody';

/**
 * Keeps the session state that every new worker needs: negotiated version, log level, subscriptions, memory and lost
 * calls.
 */
export class HeldSession {
  readonly #logLevel = new HeldLogLevel();
  readonly #subscriptions = new HeldSubscriptions();
  readonly memory = new HeldMemory();
  readonly losses = new HeldLosses();
  #seed: JsonRpcMessage | undefined;
  #initialized = false;

  get begun(): boolean {
    return this.#seed !== undefined;
  }

  /** Keeps the client's `initialize` and returns the negotiated version. */
  begin(message: JsonRpcMessage): string {
    const protocolVersion = negotiateVersion(message.params?.protocolVersion);
    this.#seed = { ...message, params: { ...message.params, protocolVersion } };
    return protocolVersion;
  }

  /** Allows another `initialize` after the first could not be answered. */
  forgetBeginning(): void {
    this.#seed = undefined;
  }

  noteInitialized(): void {
    this.#initialized = true;
  }

  /** Notes that a request of the client succeeded. */
  noteSuccess({ method, uri, level }: ClientCall): void {
    this.#subscriptions.succeeded(method, uri);
    this.#logLevel.succeeded(method, level);
  }

  /** Returns the frames that introduce the session to a new worker. */
  frames(): string[] {
    if (!this.#seed) return [];
    const frames = [...this.memory.frames(), encodeMessage({ ...this.#seed, id: INITIALIZE_ID })];
    if (!this.#initialized) return frames;
    return [
      ...frames,
      encodeMessage({ method: 'notifications/initialized' }),
      ...this.#logLevel.frames(LEVEL_ID),
      ...this.#subscriptions.frames(SUBSCRIBE_ID),
      ...this.losses.frames(),
    ];
  }

  /** Classifies an answer to one of the frames above; `undefined` for an answer to the client. */
  answered(id: RequestId): OwnAnswer | undefined {
    if (id === INITIALIZE_ID) return 'introduction';
    return id === LEVEL_ID || (typeof id === 'string' && id.startsWith(SUBSCRIBE_ID)) ? 'nobody' : undefined;
  }
}

/** Limits of the worker: subscriptions per session, and length of a URI. */
const MAX_SUBSCRIPTIONS = 1_024;
const MAX_URI = 8_192;

/** Resource subscriptions of a session. */
class HeldSubscriptions {
  readonly #uris = new Set<string>();

  /** Notes that a request of the client succeeded. */
  succeeded(method: string, uri: string | undefined): void {
    if (uri === undefined || uri.length > MAX_URI) return;
    if (method === 'resources/unsubscribe') this.#uris.delete(uri);
    else if (method === 'resources/subscribe' && this.#uris.size < MAX_SUBSCRIPTIONS) this.#uris.add(uri);
  }

  /** Returns the requests to a new worker. The host drops their answers. */
  frames(idPrefix: string): string[] {
    return [...this.#uris].map((uri, i) =>
      encodeMessage({
        id: `${idPrefix}${i}`,
        method: 'resources/subscribe',
        params: { uri, _meta: { [RESUMED_META]: true } },
      }),
    );
  }
}

/** Longer than any known name. Clients may send any tool name, and all losses share one frame. */
const MAX_NAME_CHARS = 256;

/** Keeps calls that the host answered in place of a worker, until a worker counts them. */
export class HeldLosses {
  #calls: LostCall[] = [];

  note(call: LostCall): void {
    if (this.#calls.length >= MAX_LOST_CALLS) return;
    const { method, tool, toolId } = call;
    this.#calls.push({ ...call, method: named(method), tool: tool && named(tool), toolId: toolId && named(toolId) });
  }

  /** Returns the report of the losses and forgets them. */
  frames(): string[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls.length === 0 ? [] : [encodeMessage({ method: LOST_NOTIFICATION, params: { calls } })];
  }
}

/** Copies a shortened name, because a substring keeps the whole string in memory. */
function named(name: string): string {
  return name.length <= MAX_NAME_CHARS ? name : Buffer.from(shortened(name, MAX_NAME_CHARS)).toString();
}

/** More than a worker keeps per session: its lists and a hundred conversations. */
const MAX_KEPT = 128;
const MAX_KEPT_BYTES = 1024 * 1024;

/**
 * Stores values that workers keep with the host for their successors: quotas, permissions, client lists. The host does
 * not interpret them. The latest value counts, however its worker ended.
 */
export class HeldMemory {
  readonly #kept = new Map<string, { value: unknown; bytes: number; at: number }>();
  #bytes = 0;

  /** `bytes`: size of the frame that carried the value. */
  keep(key: string, value: unknown, bytes: number): void {
    if (bytes > MAX_KEPT_BYTES) return;
    this.#forget(key);
    if (value === undefined) return;
    this.#kept.set(key, { value, bytes, at: performance.now() });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT && this.#bytes <= MAX_KEPT_BYTES) break;
      this.#forget(oldest);
    }
  }

  /**
   * Returns the values for a new worker, oldest first. Sends ages instead of times, because processes share no
   * monotonic clock.
   */
  frames(): string[] {
    if (this.#kept.size === 0) return [];
    const now = performance.now();
    const kept = [...this.#kept].map(([key, { value, at }]) => [key, value, (now - at) / 1_000]);
    return [encodeMessage({ method: KEPT_NOTIFICATION, params: { kept } })];
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

const METHOD = 'logging/setLevel';

/** Log level that the client has set. */
class HeldLogLevel {
  #level: string | undefined;

  /** Notes that a request of the client succeeded. */
  succeeded(method: string, level: string | undefined): void {
    if (method === METHOD) this.#level = level;
  }

  /** Returns the request to a new worker. The host drops its answer. */
  frames(id: string): string[] {
    return this.#level === undefined ? [] : [encodeMessage({ id, method: METHOD, params: { level: this.#level } })];
  }
}
