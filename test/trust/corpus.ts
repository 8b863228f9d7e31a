import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SECRET_SHAPES } from '../../src/secrets/shapes.ts';

/** Tool as a server lists it, or a text that a server sends. */
export type Subject = {
  tool?: { name: string; [member: string]: unknown };
  surface?: 'instructions' | 'prompt' | 'elicitation' | 'sampling' | 'result';
  text?: string;
  /** Tools of other servers. */
  others?: readonly { server: string; name: string }[];
};

/** `near` entries come close to an attack of their kind and are harmless. */
export type CorpusEntry = Subject & { id: string; kind: string; language: string };

export type Half = 'development' | 'held-out';

/** Puts an entry into a half by a hash, so that nobody chooses. Rules are written with the development half alone. */
export function halfOf({ id, ...entry }: CorpusEntry): Half {
  const digest = createHash('sha256')
    .update(`${id}\n${JSON.stringify(entry.tool ?? entry.text)}`)
    .digest();
  return (digest[0] as number) % 2 === 0 ? 'development' : 'held-out';
}

/**
 * Reads the attacks and the harmless texts; a reviewer wrote the second pair without the patterns. Credentials are
 * completed here from the examples of the table of secrets, so that no scanner of this repository finds one.
 */
export function readCorpus(): Record<
  'attacks' | 'negatives' | 'reviewerAttacks' | 'reviewerNegatives',
  readonly CorpusEntry[]
> {
  const text = readFileSync(new URL('corpus.json', import.meta.url), 'utf8');
  return JSON.parse(text.replace(/\{\{secret:([^}]+)\}\}/g, (_, issuer: string) => exampleOf(issuer)));
}

function exampleOf(issuer: string): string {
  const shape = SECRET_SHAPES.find((one) => one.issuer === issuer);
  if (!shape || !('prefixes' in shape)) throw new Error(`No token of ${issuer} is in the table of secrets.`);
  return `${shape.prefixes[0]}${shape.example}`;
}
