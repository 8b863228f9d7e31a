import { Observable } from '../observable.ts';

/** State of the gateway as the attached editor knows it. */
export interface GatewaySeen {
  sessions: number;
  /** How a session that begins now sees the servers. */
  mode: string | undefined;
}

/** A worker that takes over has no session for a moment, and neither has an editor that looks at it. */
const IDLE_MS = 10_000;

/**
 * Which configuration's hash the definition carries. The editor stops a running server whose definition changes, and
 * with it the calls in flight; the gateway itself goes over to a changed configuration without that. So the hash stays
 * the one that sessions have begun with for as long as there is one, but where it would have to be a session of another
 * mode.
 */
export class HeldVersion {
  readonly hash: Observable<string | undefined>;
  #written: string | undefined;
  /** The mode of the sessions that there are. */
  #mode: string | undefined;
  /** No client has had a session for a while. */
  #isIdle = false;
  /** The mode is another, and the file in which that stands has not been seen yet. */
  #isOverdue = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(hash: string | undefined) {
    this.#written = hash;
    this.hash = new Observable(hash);
  }

  /** The hash of what is written now; undefined where nothing is. */
  write(hash: string | undefined): void {
    this.#written = hash;
    const isBoundary = hash === undefined || this.hash.value === undefined;
    if (this.#isIdle || this.#isOverdue || isBoundary) this.#follow();
  }

  see(gateway: GatewaySeen | undefined): void {
    if (!gateway) return;
    const { sessions, mode } = gateway;
    const isOther = this.#mode !== undefined && mode !== this.#mode;
    this.#mode = mode ?? this.#mode;
    // Either watcher may be the first to see the file.
    if (isOther && this.#written === this.hash.value) this.#isOverdue = true;
    else if (isOther) this.#follow();
    if (sessions === 0) {
      this.#timer ??= setTimeout(() => {
        this.#isIdle = true;
        this.#follow();
      }, IDLE_MS);
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isIdle = false;
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  #follow(): void {
    this.#isOverdue = false;
    this.hash.set(this.#written);
  }
}
