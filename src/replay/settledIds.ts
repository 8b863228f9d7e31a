/** What became of a call whose reply may still come. */
interface Settled {
  answered: boolean;
  /** Who has it; 0 for nobody. */
  generation: number;
}

/** Late replies come soon or never. */
const MAX_REMEMBERED = 1_024;

/** The ids of calls that are over, the latest of them: tells a late reply from one that nobody asked for. */
export class SettledIds {
  readonly #settled = new Map<string, Settled>();

  add(id: string, settled: Settled): void {
    this.#settled.delete(id);
    this.#settled.set(id, settled);
    if (this.#settled.size > MAX_REMEMBERED) this.#settled.delete(this.#settled.keys().next().value as string);
  }

  verdictOf(id: string): 'duplicate' | 'late' | 'unknown' {
    const settled = this.#settled.get(id);
    if (settled === undefined) return 'unknown';
    return settled.answered ? 'duplicate' : 'late';
  }

  /** Whether a reply to an earlier call with this id may still come from a generation that lives. */
  isOutstanding(id: string, isLive: (generation: number) => boolean): boolean {
    const settled = this.#settled.get(id);
    return settled?.answered === false && isLive(settled.generation);
  }
}
