/** Duration and result size of a tool's last calls, for dry runs. */
export interface Expectation {
  calls: number;
  /** Median and slowest of the remembered calls. */
  duration_ms: { median: number; max: number };
  result_bytes: { median: number; max: number };
}

const REMEMBERED_CALLS = 20;
const REMEMBERED_TOOLS = 1_000;

interface Call {
  durationMs: number;
  bytes: number;
}

export class CallHistory {
  readonly #tools = new Map<string, Call[]>();

  add(toolId: string, call: Call): void {
    const calls = this.#tools.get(toolId) ?? [];
    calls.push(call);
    if (calls.length > REMEMBERED_CALLS) calls.shift();
    this.#tools.delete(toolId);
    this.#tools.set(toolId, calls);
    const [oldest] = this.#tools.keys();
    if (this.#tools.size > REMEMBERED_TOOLS && oldest !== undefined) this.#tools.delete(oldest);
  }

  expectation(toolId: string): Expectation | undefined {
    const calls = this.#tools.get(toolId);
    if (!calls) return undefined;
    return {
      calls: calls.length,
      duration_ms: spread(calls.map((call) => call.durationMs)),
      result_bytes: spread(calls.map((call) => call.bytes)),
    };
  }
}

function spread(values: readonly number[]): { median: number; max: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] as number;
  return { median: Math.round(median), max: Math.round(sorted[sorted.length - 1] as number) };
}

/** Estimates the bytes of a result's texts and binaries without serialising it. */
export function resultBytes(result: Readonly<Record<string, unknown>>): number {
  let bytes = 0;
  for (const part of Array.isArray(result.content) ? result.content : []) {
    const { text, data, resource } = (part ?? {}) as Record<string, unknown>;
    const inside = (resource ?? {}) as Record<string, unknown>;
    for (const body of [text, data, inside.text, inside.blob]) if (typeof body === 'string') bytes += body.length;
  }
  return bytes;
}
