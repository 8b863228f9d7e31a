import type { SupervisionState } from '../../supervision/health.ts';

/** Tells those who wait for it that a start has come to its end, either way. */
export class StartOutcomes {
  readonly #waiting = new Set<() => void>();
  #ended = false;

  /** A start has come to its end; those who wait are told when its supervisor has drawn its conclusions. */
  ended(): void {
    this.#ended = true;
  }

  supervised(supervision: SupervisionState): void {
    if (supervision === 'starting' && !this.#ended) return;
    this.#ended = false;
    for (const settle of this.#waiting) settle();
    this.#waiting.clear();
  }

  /** Resolves when the next start has come to its end. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
