/** How long what a server tells of a task is heard: its token outlives the request that began it. */
export interface TaskTerms {
  /** What the client asks of the task (`task` in the request): how long it is to be kept. */
  request: Readonly<Record<string, unknown>>;
  /** Aborted when nobody wants to hear of it any more. */
  over: AbortSignal;
}

export type ProgressParams = Readonly<Record<string, unknown>>;
type Hear = (params: ProgressParams) => void;

const PREFIX = 'waygate-task-';
/** Of more tasks than that the oldest go unheard. */
const MAX_HEARD = 1_024;

/**
 * The progress of tasks. The token of the request that began one stays good until the task ends (2025-11-25, Tasks);
 * the SDK would keep its own for ever.
 */
export class TaskProgress {
  readonly #heard = new Map<string, Hear>();
  #next = 1;

  /** The token for a request that is to begin a task. */
  open(hear: Hear, over: AbortSignal): string {
    const token = `${PREFIX}${this.#next++}`;
    if (over.aborted) return token;
    this.#heard.set(token, hear);
    over.addEventListener('abort', () => this.#heard.delete(token), { once: true });
    for (const oldest of this.#heard.keys()) {
      if (this.#heard.size <= MAX_HEARD) break;
      this.#heard.delete(oldest);
    }
    return token;
  }

  has(token: unknown): boolean {
    return typeof token === 'string' && this.#heard.has(token);
  }

  /** Whether it was the progress of a task. */
  tell(params: ProgressParams): boolean {
    const { progressToken } = params;
    if (typeof progressToken !== 'string' || !progressToken.startsWith(PREFIX)) return false;
    this.#heard.get(progressToken)?.(params);
    return true;
  }
}
