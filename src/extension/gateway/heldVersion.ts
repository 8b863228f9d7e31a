import { Observable } from '../observable.ts';

/** State of the gateway as the attached editor knows it. */
export interface GatewaySeen {
  sessions: number;
  /** Mode of a session that begins now. */
  mode: string | undefined;
}

/** During a takeover the new worker has no session for a moment. */
const IDLE_MS = 10_000;
/** A busy machine takes long to start the server, and the editor then learns of its session a moment later. */
const STARTING_MS = 60_000;

/**
 * Holds the configuration hash that the server definition carries. The editor stops a running server whose definition
 * changes, and cancels its calls; the gateway itself applies a changed configuration without that. The hash therefore
 * stays the same while a session exists, unless the session would need another mode.
 */
export class HeldVersion {
  readonly hash: Observable<string | undefined>;
  #written: string | undefined;
  /** Mode of the existing sessions. */
  #mode: string | undefined;
  /** True from the start of the server until its session is known. */
  #isStarting = false;
  /** True if no client has had a session for a while. */
  #isIdle = false;
  /** True if the mode has changed but the changed file has not been seen yet. */
  #isOverdue = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(hash: string | undefined) {
    this.#written = hash;
    this.hash = new Observable(hash);
  }

  /** Sets the hash of the file as it is now; undefined if there is no configuration. */
  write(hash: string | undefined): void {
    this.#written = hash;
    const isBoundary = hash === undefined || this.hash.value === undefined;
    if (this.#isIdle || this.#isOverdue || isBoundary) this.#follow();
  }

  /**
   * Holds the hash of the definition with which the editor starts the server now. A change between this moment and the
   * first report of the session would stop the server again.
   */
  starting(hash: string): void {
    this.#isStarting = true;
    this.#busy();
    this.hash.set(hash);
  }

  see(gateway: GatewaySeen | undefined): void {
    if (!gateway) return;
    const { sessions, mode } = gateway;
    const isOther = this.#mode !== undefined && mode !== this.#mode;
    this.#mode = mode ?? this.#mode;
    // Either watcher may see the file first.
    if (isOther && this.#written === this.hash.value) this.#isOverdue = true;
    else if (isOther) this.#follow();
    if (sessions === 0) {
      const end = (): void => {
        this.#isStarting = false;
        this.#isIdle = true;
        this.#follow();
      };
      this.#timer ??= setTimeout(end, this.#isStarting ? STARTING_MS : IDLE_MS);
      return;
    }
    this.#isStarting = false;
    this.#busy();
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  #busy(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isIdle = false;
  }

  #follow(): void {
    this.#isOverdue = false;
    this.hash.set(this.#written);
  }
}
