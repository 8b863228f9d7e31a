/** Hits of a search that names no limit. */
export const DEFAULT_LIMIT = 25;
