/** Modes of a session (G5): three tools for everything, the whole list without schemas, or the servers as they are. */
export const FACES = ['gateway', 'transparent', 'passthrough'] as const;
export type Face = (typeof FACES)[number];

export const DEFAULT_FACE: Face = 'gateway';

export function isFace(value: unknown): value is Face {
  return FACES.some((face) => face === value);
}
