import type { ProbeResolution } from './requestDisposition.ts';

/**
 * Way to find out whether a lost call took effect: a tool of the same server that only reads, set by the user (O3.10).
 */
export interface Probe {
  tool: string;
  /** Arguments of the probe. `{"$arg": "/pointer"}` stands for a value of the lost call's arguments. */
  arguments: Readonly<Record<string, unknown>>;
  /** Place of the effect in the structured content. */
  effect: {
    /** JSON pointer (RFC 6901). */
    at: string;
    /** Value after the effect. Without it, any value but null and false proves the effect. */
    equals?: string | number | boolean;
  };
}

/** Returns the arguments for a probe; undefined when the call lacks a value that the probe needs. */
export function probeArguments(probe: Probe, callArguments: unknown): Record<string, unknown> | undefined {
  try {
    return fill(probe.arguments, callArguments) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof MissingValueError) return undefined;
    throw error;
  }
}

/**
 * Judges the result of a probe. A failed probe, or one without structured content, resolves nothing: absence of an
 * answer is not absence of an effect.
 */
export function judgeProbe(probe: Probe, result: { isError?: unknown; structuredContent?: unknown }): ProbeResolution {
  const { isError, structuredContent } = result;
  if (isError === true || typeof structuredContent !== 'object' || structuredContent === null) return 'unresolved';
  const found = valueAt(structuredContent, probe.effect.at);
  const { equals } = probe.effect;
  if (equals === undefined) {
    return found === undefined || found === null || found === false ? 'safe_to_replay' : 'already_completed';
  }
  // A missing value means a result of another form than the user assumed.
  if (found === undefined) return 'unresolved';
  return found === equals ? 'already_completed' : 'safe_to_replay';
}

/** Returns the result of a call that took effect but lost its answer (O3.11). */
export function completedByProbe(tool: string, probe: Probe): Record<string, unknown> {
  const text = `The server was lost during this call, but ${probe.tool} shows that the call has taken effect. The answer of ${tool} itself is lost; do not repeat the call.`;
  return { content: [{ type: 'text', text }], _meta: { 'waygate/outcome': 'completed_by_probe' } };
}

class MissingValueError extends Error {}

function fill(template: unknown, callArguments: unknown): unknown {
  if (Array.isArray(template)) return template.map((item) => fill(item, callArguments));
  if (typeof template !== 'object' || template === null) return template;
  const { $arg: pointer } = template as { $arg?: unknown };
  if (typeof pointer === 'string' && Object.keys(template).length === 1) {
    const value = valueAt(callArguments, pointer);
    if (value === undefined) throw new MissingValueError();
    return value;
  }
  return Object.fromEntries(Object.entries(template).map(([key, item]) => [key, fill(item, callArguments)]));
}

function valueAt(data: unknown, pointer: string): unknown {
  if (pointer === '') return data;
  if (!pointer.startsWith('/')) return undefined;
  let value = data;
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
