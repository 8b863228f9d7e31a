/**
 * Time for a start after a successful one, since nothing is downloaded again. Of 269 real servers the slowest needed
 * 6.6 s; a server that once needed longer gets more (O5.6).
 */
const AGAIN_MS = 15_000;
const TIMES_ITS_SLOWEST = 4;

export interface StartPatienceOptions {
  /** What a first start is given, and no start more. */
  firstMs: () => number;
  againMs?: number | undefined;
}

/** How long a start of a server may take before it is given up, and how long before it is told that it takes long. */
export class StartPatience {
  readonly #firstMs: () => number;
  readonly #againMs: number;
  #slowestMs: number | undefined;

  constructor({ firstMs, againMs = AGAIN_MS }: StartPatienceOptions) {
    this.#firstMs = firstMs;
    this.#againMs = againMs;
  }

  get limitMs(): number {
    const firstMs = this.#firstMs();
    if (this.#slowestMs === undefined) return firstMs;
    return Math.min(firstMs, Math.max(this.#againMs, wholeSeconds(TIMES_ITS_SLOWEST * this.#slowestMs)));
  }

  /** From here on a person wants to know that it has not come yet. */
  get slowAfterMs(): number {
    return Math.min(this.#againMs, this.#firstMs() / 2);
  }

  started(tookMs: number): void {
    this.#slowestMs = Math.max(this.#slowestMs ?? 0, tookMs);
  }

  /** It was given up: what kept it may be a download after all, so the next start has as long as the first. */
  ranOut(): void {
    this.#slowestMs = undefined;
  }
}

/** A person reads it. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000;
}
