/** Connections that an error lists (R5.3). More would not help a model choose, and `schema` lists all. */
export const MAX_CANDIDATES = 12;

export const DISCOVERY_HINT = 'Call schema for the full list of connections, then repeat the call with connection_id.';

/** Bounds the candidates of an ambiguity error, and adds their number. */
export function boundAmbiguity(error: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { available_connections: candidates } = error;
  if (!Array.isArray(candidates) || candidates.length <= MAX_CANDIDATES) return error;
  return { ...error, ...candidateList(candidates) };
}

/** Returns the members of an error that lists connections. */
export function candidateList(candidates: readonly unknown[]): Record<string, unknown> {
  const omitted = candidates.length - MAX_CANDIDATES;
  return {
    available_connections: candidates.slice(0, MAX_CANDIDATES),
    available_connection_count: candidates.length,
    ...(omitted > 0 && {
      available_connections_truncated: true,
      available_connections_omitted: omitted,
      discovery_hint: DISCOVERY_HINT,
    }),
  };
}
