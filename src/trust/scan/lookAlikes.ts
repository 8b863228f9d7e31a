/** Letters of other scripts that look like a Latin letter: the part of Unicode's confusables that names are made of. */
const FOREIGN: Readonly<Record<string, string>> = {
  a: 'аαɑ',
  b: 'вьβ',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еєεҽ',
  f: 'ƒ',
  g: 'ɡԍ',
  h: 'һн',
  i: 'іιɩӏı',
  j: 'јϳ',
  k: 'кκ',
  l: 'ⅼǀ',
  m: 'мϻ',
  n: 'ոп',
  o: 'оοσօ',
  p: 'рρ',
  q: 'ԛգ',
  r: 'гᴦ',
  s: 'ѕꜱ',
  t: 'тτ',
  u: 'υսʋ',
  v: 'ѵν',
  w: 'ԝѡω',
  x: 'хχ',
  y: 'уүγ',
  z: 'ᴢ',
};

const LATIN = new Map(
  Object.entries(FOREIGN).flatMap(([latin, others]) =>
    [...others].flatMap((one) => [[one, latin] as const, [one.toUpperCase(), latin] as const]),
  ),
);
const FOREIGN_LETTER = new RegExp(`[${[...LATIN.keys()].filter((one) => one > '\u007f').join('')}]`, 'gu');

/** Replaces letters of other scripts by the Latin letters that they look like, in lower case. */
export function foldLookAlikes(text: string): string {
  return text.replace(FOREIGN_LETTER, (letter) => LATIN.get(letter) as string);
}

/** Returns whether a word joins Latin letters with letters of another script that look Latin. */
export function mixesLookAlikes(name: string): boolean {
  return name.split(/[^\p{L}]+/u).some((word) => {
    const others = word.replace(/\p{Script=Latin}/gu, '');
    return others !== '' && others.length < word.length && foldLookAlikes(others) !== others;
  });
}

/** Reduces a name to its looks: names with the same looks are easily confused. */
export function looksOf(name: string): string {
  return foldLookAlikes(name.normalize('NFKC').replace(/[\p{Cf}\p{M}]/gu, ''))
    .toLowerCase()
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
    .replace(/[i1|!]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('5', 's');
}
