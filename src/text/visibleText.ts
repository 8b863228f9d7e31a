import { once } from '../lib/once.ts';

/**
 * Shows every hidden character of a text to the model and the person alike. Text hidden from the person is how a result
 * smuggles instructions (M2.12). Hidden characters appear as escapes such as `\u200b`; the artifact keeps the bytes.
 *
 * Escaped: control characters other than tab and line break (ANSI sequences begin with one; a lone carriage return
 * overwrites its line), bidirectional controls, zero-width and other invisible format characters, TAG characters,
 * variation selectors, fillers that print nothing, lone surrogates.
 *
 * Kept where they do visible work: joiners inside an emoji sequence and between letters of the scripts that need them,
 * one emoji or ideographic variation selector behind its base, the tags of the three sub-national flags in common use.
 */
export function visibleText(text: string): string {
  return replaceHidden(text, escapeHidden);
}

/** Removes the hidden characters of a text, and control characters with a space (G2.11). */
export function withoutHidden(text: string): string {
  return replaceHidden(text, (hidden) => (/\p{Cc}/u.test(hidden) ? ' ' : ''));
}

/** Makes every text of data visible, keys included. Nesting must be bounded. */
export function visibleData<T>(data: T, shown: (text: string) => string = visibleText): T {
  const visible = (value: unknown): unknown => {
    if (typeof value === 'string') return shown(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(visible);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [shown(key), visible(member)]));
  };
  return visible(data) as T;
}

/** Serialises data to JSON whose hidden characters are escapes of JSON: visible, and the same data when parsed. */
export function visibleJson(data: unknown, space?: number): string {
  const json = JSON.stringify(data, null, space) ?? 'null';
  return replaceHidden(json, (hidden) =>
    [...Array(hidden.length).keys()].map((at) => unicodeEscape(hidden.charCodeAt(at))).join(''),
  );
}

function replaceHidden(text: string, shown: (hidden: string) => string): string {
  if (PLAIN.test(text) || !hiddenIn().test(text)) return text;
  return text.replace(hiddenOrLegitimate(), (found, hidden?: string) => (hidden === undefined ? found : shown(hidden)));
}

/** Scripts and marks of most text. Without the flag `u` the test is many times as fast. */
const PLAIN =
  /^[\t\n -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u060b\u2010-\u2027\u2030-\u205f\u2070-\u2fff\u3000-\u3163\u3165-\ud7ff]*$/;

/**
 * Controls but tab and line feed, every character that Unicode lets a font leave out, line separators, fillers,
 * interlinear annotation, format controls of hieroglyphs, noncharacters.
 */
const HIDDEN_CLASS =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ufff9-\\ufffb\\u{13430}-\\u{1343f}' +
  '\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}';

// Most texts are plain, so these classes, which take a millisecond to read, are made for the first that is not.
const hiddenIn = once(() => new RegExp(`[${HIDDEN_CLASS}\\p{Cs}]`, 'u'));

/** Scripts whose spelling needs the zero-width joiner and non-joiner. */
const JOINING = [
  'Arabic',
  'Syriac',
  'Mongolian',
  'Nko',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Khmer',
  'Myanmar',
  'Tibetan',
]
  .map((script) => `\\p{Script=${script}}`)
  .join('');

const PICTURE = '\\p{Extended_Pictographic}[\\ufe0e\\ufe0f]?\\p{Emoji_Modifier}?';

/** Legitimate uses, longest first. A hidden character outside of these matches alone and is escaped. */
const LEGITIMATE = [
  '\\r(?=\\n)',
  '\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}',
  `${PICTURE}(?:\\u200d${PICTURE}){0,8}`,
  '[0-9#*]\\ufe0f(?=\\u20e3)',
  // A hidden neighbour is escaped itself, so it joins nothing.
  `(?<=(?![${HIDDEN_CLASS}])[${JOINING}])[\\u200c\\u200d](?=(?![${HIDDEN_CLASS}])[${JOINING}])`,
  '\\p{Ideographic}[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]',
];

const hiddenOrLegitimate = once(
  () => new RegExp(`${LEGITIMATE.map((form) => `(?:${form})`).join('|')}|([${HIDDEN_CLASS}\\p{Cs}])`, 'gu'),
);

function escapeHidden(hidden: string): string {
  const point = hidden.codePointAt(0) as number;
  return point > 0xffff ? `\\u{${point.toString(16)}}` : unicodeEscape(point);
}

function unicodeEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
