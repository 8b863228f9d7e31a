import { createHash } from 'node:crypto';

/** Characters that every client accepts in a name; model APIs, which get the names of tools, refuse the dot (G5.6). */
const UNFIT = { tool: /[^A-Za-z0-9_-]/g, prompt: /[^A-Za-z0-9_.-]/g };
const MAX_NAME = 64;
/** Names that every client accepts for a prompt. */
export const PROMPT_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const HASH_CHARS = 8;

interface Named {
  /** Unique and permanent id. */
  id: string;
  /** Preferred name, before it is made acceptable to every client. */
  name: string;
}

/**
 * Returns names for strict clients, by id: the preferred name if it fits and is unique, otherwise a name with a hash of
 * the id. The order does not matter.
 */
export function advertisedNames(
  all: readonly Named[],
  reserved: ReadonlySet<string> = new Set(),
  kind: keyof typeof UNFIT = 'tool',
): ReadonlyMap<string, string> {
  const fitted = all.map(({ id, name }) => ({ id, name: name.replace(UNFIT[kind], '_') }));
  const counts = new Map<string, number>();
  for (const { name } of fitted) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    fitted.map(({ id, name }) => {
      const fits = name.length > 0 && name.length <= MAX_NAME && counts.get(name) === 1 && !reserved.has(name);
      return [id, fits ? name : hashed(name, id)];
    }),
  );
}

function hashed(name: string, id: string): string {
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_CHARS);
  return `${name.slice(0, MAX_NAME - HASH_CHARS - 1)}-${hash}`;
}
