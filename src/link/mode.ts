/** Modes of a session (G5): three tools for everything, the whole list without schemas, or the servers as they are. */
export const MODES = ['gateway', 'transparent', 'passthrough'] as const;
export type Mode = (typeof MODES)[number];

export const DEFAULT_MODE: Mode = 'gateway';

/** Returns the mode of a workspace's file: it cannot choose passthrough if the user's own file sets another mode. */
export function workspaceMode(own: Mode | undefined, theirs: Mode): Mode {
  return theirs === 'passthrough' ? (own ?? theirs) : theirs;
}

export function isMode(value: unknown): value is Mode {
  return MODES.some((mode) => mode === value);
}
