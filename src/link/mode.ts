/** Modes of a session (G5): three tools for everything, the whole list without schemas, or the servers as they are. */
export const MODES = ['gateway', 'transparent', 'passthrough'] as const;
export type Mode = (typeof MODES)[number];

export const DEFAULT_MODE: Mode = 'gateway';

export function isMode(value: unknown): value is Mode {
  return MODES.some((mode) => mode === value);
}
