import { globMatches } from '../lib/glob.ts';

/** Letters of other scripts that look like a Latin one (a subset of Unicode TR39). Diacritics are removed before. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'аɑαАΑᎪꓮᴀ',
  b: 'ЬьƄВΒᏼᏴꓐʙ',
  c: 'сϲСϹᏟⲥⲤꓚ',
  d: 'ԁᎠɗꓓᴅ',
  e: 'еҽЕΕᎬəәⲈꓰᴇ',
  f: 'ϝϜƒꞙꓝꜰ',
  g: 'ɡցԌɢᏀꓖ',
  h: 'һհНΗᎻʜꓧ',
  i: 'іιıΙІӀӏɩᎥꓲɪ',
  j: 'јϳЈᎫꓙᴊ',
  k: 'кκКΚᏦĸⲔꓗᴋ',
  l: 'ᏞʟןꓡⳐ',
  m: 'мМΜᎷⲘꓟᴍ',
  n: 'ոռпΝɴⲚꓠ',
  o: 'оοօОΟՕᴏסهⲟⲞꓳσ',
  p: 'рρРΡᏢⲣⲢꓑᴘ',
  q: 'ԛգզԚꞯ',
  r: 'гᴦʀᏒꓣ',
  s: 'ѕЅՏᏚꜱƽꓢ',
  t: 'тτТΤᎢⲦꓔᴛ',
  u: 'υսʋᴜꓴ',
  v: 'νѵᴠѴᏙꓦ',
  w: 'ѡաԝᴡᎳωԜꓪ',
  x: 'хχХΧҳⲬꓫ',
  y: 'уγүУΥҮყʏⲨꓬ',
  z: 'ᴢΖᏃʐꓜⲌ',
};
const LATIN = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([letter, others]) => [...others].map((one) => [one, letter])),
);
const FOREIGN = new RegExp(`[${[...LATIN.keys()].join('')}]`, 'gu');

/** White letters in black circles and squares, which Unicode does not decompose. */
const FRAMED = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}]/gu;

/** Replaces letters of other scripts by the Latin ones that they look like, in lower case. */
export function withLatinLetters(text: string): string {
  return text
    .replace(FOREIGN, (letter) => LATIN.get(letter) as string)
    .replace(FRAMED, (letter) => String.fromCharCode(97 + (((letter.codePointAt(0) as number) - 0x1f150) % 32)));
}

/** Scripts whose letters nobody takes for a Latin one. */
const APART = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;
/** Stands for a letter that may look like any other. No name contains it after the folding. */
const ANY = '\uffff';

/** Returns a text as a hasty reader sees it: without case, hidden characters, diacritics and foreign look-alikes. */
export function folded(text: string): string {
  const bare = text
    .normalize('NFKC')
    .normalize('NFD')
    .replace(/[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');
  return withLatinLetters(bare)
    .toLowerCase()
    .replace(/\p{Pc}/gu, '_')
    .replace(/\p{Pd}/gu, '-')
    .replace(/\p{Zs}+/gu, ' ')
    .trim();
}

/** Returns the form that look-alike names share. */
export function skeleton(name: string): string {
  return folded(name).replace(/[i1|]/g, 'l').replace(/0/g, 'o').replaceAll('rn', 'm').replaceAll('vv', 'w');
}

/**
 * Whether a name or one that looks like it matches a glob, for rules that forbid. A foreign letter beside Latin ones
 * counts as any letter, because no table of look-alikes is complete.
 */
export function matchesLookAlike(glob: string, name: string): boolean {
  if (globMatches(glob, name) || globMatches(folded(glob), folded(name))) return true;
  const isMixed = /[a-z]/.test(folded(name));
  const wild = (text: string): string =>
    isMixed ? text.replace(/\P{ASCII}/gu, (letter) => (APART.test(letter) ? letter : ANY)) : text;
  if (globMatches(folded(glob), wild(folded(name)), ANY)) return true;
  // A class of characters would lose its meaning.
  return !glob.includes('[') && globMatches(skeleton(glob), wild(skeleton(name)), ANY);
}

/** Scripts of names: Latin with digits, or one other. Japanese and Korean use several scripts as one. */
const SCRIPTS = [
  ...['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Hebrew', 'Armenian', 'Georgian', 'Devanagari', 'Bengali', 'Tamil'],
  ...[
    'Telugu',
    'Thai',
    'Khmer',
    'Ethiopic',
    'Gujarati',
    'Gurmukhi',
    'Kannada',
    'Malayalam',
    'Sinhala',
    'Lao',
    'Myanmar',
  ],
]
  .map((script) => `\\p{scx=${script}}`)
  .concat('\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}\\p{scx=Bopomofo}');

/** Returns a plain name for one that another program allows, such as `io.github.owner/server`. */
export function plainName(name: string): string {
  const composed = name.normalize('NFC');
  if (isPlainName(composed)) return composed;
  const kept = (allowed: RegExp): string =>
    composed
      .replace(allowed, '-')
      .replace(/^[ ._-]+/, '')
      .slice(0, 64)
      .replace(/[ ._-]+$/, '');
  const names = [/[^\p{L}\p{N} ._-]+/gu, /[^A-Za-z0-9 ._-]+/g].map(kept);
  return names.find(isPlainName) ?? 'server';
}

/** Whether a name has only visible characters of one script, so that it looks like no other. */
export function isPlainName(name: string): boolean {
  const composed = name.normalize('NFC');
  return (
    /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]{0,62}[\p{L}\p{N}._-])?$/u.test(composed) &&
    // Most names are Latin, and a start does not make the other patterns.
    SCRIPTS.some((letters) => new RegExp(`^[${letters}\\p{N} ._-]+$`, 'u').test(composed))
  );
}
