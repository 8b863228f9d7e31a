import { knownSecrets } from '../../secrets/mask.ts';

/** Bounds of the memory: more tools than anyone calls in a day, and longer than their ids. */
const MAX_TEXTS = 1_000;
const MAX_CHARS = 300;

/**
 * Skips texts that were already scanned for secrets, since names of tools, servers and methods occur in every event.
 * The memory is cleared when a new secret is known, and a text with a secret is never remembered.
 */
export function cachedScrub(scrub: (text: string) => string): (text: string) => string {
  const clean = new Set<string>();
  let version = knownSecrets.version;
  return (text) => {
    if (version !== knownSecrets.version) clean.clear();
    version = knownSecrets.version;
    if (clean.has(text)) return text;
    const scrubbed = scrub(text);
    if (scrubbed === text && text.length <= MAX_CHARS) {
      if (clean.size >= MAX_TEXTS) clean.clear();
      clean.add(text);
    }
    return scrubbed;
  };
}
