import { randomUUID } from 'node:crypto';
import { encodeMessage, type JsonRpcMessage, type RequestId } from '../../link/frames.ts';
import { negotiateVersion } from '../../mcp/mcpVersions.ts';
import type { ClientCall } from './clientCall.ts';
import { HeldLogLevel } from './heldLogLevel.ts';
import { HeldLosses } from './heldLosses.ts';
import { HeldMemory } from './heldMemory.ts';
import { HeldSubscriptions } from './heldSubscriptions.ts';
import { HeldTasks } from './heldTasks.ts';

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
  readonly tasks = new HeldTasks();
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
      ...this.tasks.frames(),
      ...this.losses.frames(),
    ];
  }

  /** Whether the worker answers what it was told by `frames`. */
  answered(id: RequestId): OwnAnswer | undefined {
    if (id === INITIALIZE_ID) return 'introduction';
    return id === LEVEL_ID || (typeof id === 'string' && id.startsWith(SUBSCRIBE_ID)) ? 'nobody' : undefined;
  }
}
