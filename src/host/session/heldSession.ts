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

/** No client's own id. */
const INITIALIZE_ID = `waygate:${randomUUID()}`;
const SUBSCRIBE_ID = `${INITIALIZE_ID}:subscribe:`;
const LEVEL_ID = `${INITIALIZE_ID}:level`;

/** Whose answer a frame of a worker is, where the host itself has asked. */
export type OwnAnswer = 'introduction' | 'nobody';

/** What a client has negotiated and set in its session, as each worker is told of it. */
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

  /** The client's `initialize`; returns the version that holds from now on. */
  begin(message: JsonRpcMessage): string {
    const protocolVersion = negotiateVersion(message.params?.protocolVersion);
    this.#seed = { ...message, params: { ...message.params, protocolVersion } };
    return protocolVersion;
  }

  /** It could not be answered: the client may ask again. */
  forgetBeginning(): void {
    this.#seed = undefined;
  }

  noteInitialized(): void {
    this.#initialized = true;
  }

  /** A request of the client has been answered, and not with an error. */
  noteSuccess({ method, uri, level }: ClientCall): void {
    this.#subscriptions.succeeded(method, uri);
    this.#logLevel.succeeded(method, level);
  }

  /** All that a new worker has to be told. */
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

  /** Whether the worker answers what it was told by `frames`. */
  answered(id: RequestId): OwnAnswer | undefined {
    if (id === INITIALIZE_ID) return 'introduction';
    return id === LEVEL_ID || (typeof id === 'string' && id.startsWith(SUBSCRIBE_ID)) ? 'nobody' : undefined;
  }
}

/** As many as a worker takes of one session, and no longer than an address is. */
const MAX_SUBSCRIPTIONS = 1_024;
const MAX_URI = 8_192;

/** What a session is subscribed to: part of what a new worker has to be told of it. */
class HeldSubscriptions {
  readonly #uris = new Set<string>();

  /** A request of the client has been answered, and not with an error. */
  succeeded(method: string, uri: string | undefined): void {
    if (uri === undefined || uri.length > MAX_URI) return;
    if (method === 'resources/unsubscribe') this.#uris.delete(uri);
    else if (method === 'resources/subscribe' && this.#uris.size < MAX_SUBSCRIPTIONS) this.#uris.add(uri);
  }

  /** The requests to a new worker, whose answers are for nobody. */
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

/** No name that is known anywhere is longer: a client may call anything a tool, and all losses together are one frame. */
const MAX_NAME_CHARS = 256;

/** What the host has answered in place of a worker, until there is one to count it. */
export class HeldLosses {
  #calls: LostCall[] = [];

  note(call: LostCall): void {
    if (this.#calls.length >= MAX_LOST_CALLS) return;
    const { method, tool, toolId } = call;
    this.#calls.push({ ...call, method: named(method), tool: tool && named(tool), toolId: toolId && named(toolId) });
  }

  /** Told once. */
  frames(): string[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls.length === 0 ? [] : [encodeMessage({ method: LOST_NOTIFICATION, params: { calls } })];
  }
}

/** A copy: the part of a text keeps the whole of it in memory. */
function named(name: string): string {
  return name.length <= MAX_NAME_CHARS ? name : Buffer.from(shortened(name, MAX_NAME_CHARS)).toString();
}

/** Some more than a worker keeps of one session: its lists, and a hundred conversations. */
const MAX_KEPT = 128;
const MAX_KEPT_BYTES = 1024 * 1024;

/**
 * What workers have kept with the host of a session: quotas, what was allowed for it, what its client has listed. Nothing
 * of it is understood here. The latest word counts, however the worker that said it ended.
 */
export class HeldMemory {
  readonly #kept = new Map<string, { value: unknown; bytes: number; at: number }>();
  #bytes = 0;

  /** `bytes`: what the worker has needed to say it. */
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

  /** What a new worker is told, the oldest first. Ages, since clocks of processes have nothing in common. */
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

/** What a session wants to hear of what servers log: part of what a new worker has to be told of it. */
class HeldLogLevel {
  #level: string | undefined;

  /** A request of the client has been answered, and not with an error. */
  succeeded(method: string, level: string | undefined): void {
    if (method === METHOD) this.#level = level;
  }

  /** The request to a new worker, whose answer is for nobody. */
  frames(id: string): string[] {
    return this.#level === undefined ? [] : [encodeMessage({ id, method: METHOD, params: { level: this.#level } })];
  }
}
