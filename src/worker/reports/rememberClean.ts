import { knownSecrets } from '../../secrets/mask.ts';

/** More than the tools that anybody calls in a day, and no longer than their ids are. */
const MAX_TEXTS = 1_000;
const MAX_CHARS = 300;

/**
 * The names of tools, servers and methods stand in the event of every call: what was found to hold no secret is not
 * searched again before there is another secret to look for. A text that does hold one is not remembered.
 */
export function rememberClean(scrub: (text: string) => string): (text: string) => string {
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
