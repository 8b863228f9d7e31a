import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOMS = globSync('src/*/').map((room) => room.replaceAll('\\', '/').split('/')[1] as string);

const PRONOUN =
  /^(What|Who|Whoever|Whatever|Whose|It|Its|They|Those|These|That|One|Both|Of|By|Where|So|Such|None|Nobody|Nothing|Neither)\b/;
const BANNED = [
  // `tell` in quotes is a value of the configuration.
  /\b(told|tells|telling)\b|(?<!['`])\btell\b(?!['`])|\b(told|tell)(?=[A-Z])/i,
  /\blost words?\b|\blast words\b/i,
  /\b(lets?|letting) go\b/i,
  /\b(comes?|came|coming) back to\b/i,
  /(?<!there )\b(is|are|was|were) none\b/i,
  /\bas good as none\b/i,
];
/** Citations of design documents that are not in the repository, of issues, and of sections without a document. */
const ABSENT =
  /(?<![\d.,_])00[0-4](?= §|[,)]|'s\b| and \d| adds\b| pins?\b)|\(facts\b|\bfacts:|\bissue [A-Z]\.\d|\([A-F]\.\d|(?<!(?:RFC \d+|Core|Registration) )§\d/;

const markdown = globSync('{*.md,{docs,skills}/**/*.md}');
const isThere = (name: string): boolean => markdown.some((file) => `/${file}`.endsWith(`/${name}`));
const rules = new Set(
  globSync('docs/specification/*.md').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^(?:- \*\*|## )([GMORT]\d+(?:\.\d+)?)\b/gm)].map(
      ([, rule]) => rule as string,
    ),
  ),
);

/** Returns the matches of a pattern in the named files, as `file: match`. */
function found(files: readonly string[], matches: (text: string, file: string) => Iterable<string>): string[] {
  return files.flatMap((file) => [...matches(readFileSync(file, 'utf8'), file)].map((match) => `${file}: ${match}`));
}

function* comments(text: string): Generator<string> {
  for (const [comment] of text.matchAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm)) yield comment;
}

const sources = globSync('{src,test,scripts,webview}/**/*.{ts,mjs,css}').filter(
  (file) => file !== 'test/language.test.ts',
);

describe('a comment', () => {
  it('cites no document that is not in the repository', () => {
    const cited = found([...sources, ...markdown], (text, file) => {
      if (file.endsWith('.md')) return ABSENT.exec(text) ?? [];
      const titles = Array.from(text.matchAll(/\b(?:it|describe)\(.*/g), String);
      return [...comments(text), ...titles].flatMap((part) => [
        ...(ABSENT.exec(part) ?? []),
        ...Array.from(part.matchAll(/\w[\w./-]*\.md\b/g), ([name]) => name).filter((name) => !isThere(name)),
      ]);
    });
    expect(cited).toEqual([]);
  });

  it('cites rules that exist', () => {
    const cited = found([...sources, ...markdown], (text, file) => {
      const read = file.endsWith('.md') ? [text] : comments(text);
      return Array.from(read).flatMap((part) =>
        Array.from(
          part.matchAll(/(?<![\w.])([GMORT]\d{1,2}\.\d{1,2})\b|(?<=\()([GMORT]\d{1,2})(?=[,)])/g),
          ([rule]) => rule,
        ),
      );
    });
    expect(cited.length).toBeGreaterThan(200);
    expect(cited.filter((one) => !rules.has(one.split(': ')[1] as string))).toEqual([]);
  });
});

/** Lists of English words, which are data. */
const VOCABULARY = ['src/ranking/intent.ts', 'src/trust/scan/englishPhrases.ts'];

describe.each(ROOMS)('the room %s', (room) => {
  const files = globSync(`src/${room}/**/*.ts`);

  it('begins doc comments with a verb or the name of the thing', () => {
    const begins = found(files, (text) =>
      Array.from(text.matchAll(/\/\*\*\s*(?:\*\s*)?(.*)/g), ([, first]) => first as string).filter((one) =>
        PRONOUN.test(one),
      ),
    );
    expect(begins).toEqual([]);
  });

  it('uses the words of the trade', () => {
    expect(files.length).toBeGreaterThan(0);
    const prose = files.filter((file) => !VOCABULARY.includes(file));
    expect(found(prose, (text) => BANNED.flatMap((word) => word.exec(text)?.[0] ?? []))).toEqual([]);
  });
});

it('test titles use the words of the trade', () => {
  const tests = globSync('test/**/*.test.ts').filter((file) => !file.includes('fixtures'));
  const title = /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*(['"`])(.*?)\1/g;
  const titles = found(tests, (text) => Array.from(text.matchAll(title), ([, , words]) => words as string));
  expect(titles.length).toBeGreaterThan(1_000);
  expect(titles.filter((one) => /\b(?:told|tells?|telling)\b/i.test(one))).toEqual([]);
});
