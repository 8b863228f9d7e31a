/** Values as they come out of YAML, templates and other programs' files: a number or a truth in quotes. */
const TRUTHS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ...['true', 'yes', 'on', '1'].map((word): [string, boolean] => [word, true]),
  ...['false', 'no', 'off', '0'].map((word): [string, boolean] => [word, false]),
]);

export function spelledTruth(value: unknown): boolean | undefined {
  return TRUTHS.get(typeof value === 'string' ? value.trim().toLowerCase() : value);
}

export function spelledNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\s*\d{1,15}(\.\d{1,9})?\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
