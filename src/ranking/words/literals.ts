/**
 * Values inside a query (`anna@example.org`, `s3://logs`, "Q3 report"). Values are arguments, so their words count
 * less, but their form is a hint: an address suggests a place, a leading + a phone number.
 */
export interface LiteralWords {
  text: string;
  weight: number;
}

/** Word suggested by the form of a value. */
export interface LiteralHint {
  word: string;
  weight: number;
}

export interface Literals {
  /** Query without its values. */
  rest: string;
  values: readonly LiteralWords[];
  hints: readonly LiteralHint[];
}

interface LiteralRule {
  pattern: RegExp;
  weight: number;
  hints: readonly LiteralHint[];
}

/**
 * Applied in this order: each rule sees only the text that earlier rules left. Every pattern is linear on 500
 * characters.
 */
const RULES: readonly LiteralRule[] = [
  { pattern: /\b(?:s3|gs|r2):\/\/[^\s"']+/gi, weight: 0.2, hints: [{ word: 'bucket', weight: 0.6 }] },
  {
    pattern: /\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis):\/\/[^\s"']+/gi,
    weight: 0.3,
    hints: [
      { word: 'connect', weight: 0.5 },
      { word: 'database', weight: 0.5 },
    ],
  },
  { pattern: /\bhttps?:\/\/[^\s"']+/gi, weight: 0.3, hints: [{ word: 'url', weight: 0.5 }] },
  { pattern: /[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}/g, weight: 0.2, hints: [{ word: 'email', weight: 0.4 }] },
  {
    pattern: /-?\d{1,3}\.\d{2,}\s?,\s?-?\d{1,3}\.\d{2,}/g,
    weight: 0,
    hints: [
      { word: 'coordinates', weight: 1 },
      { word: 'latitude', weight: 0.8 },
      { word: 'location', weight: 0.5 },
    ],
  },
  { pattern: /\b\d{1,3}(?:\.\d{1,3}){3}\b/g, weight: 0, hints: [{ word: 'ip', weight: 0.6 }] },
  { pattern: /\+\d[\d ()-]{6,18}\d/g, weight: 0, hints: [{ word: 'phone', weight: 0.5 }] },
  {
    pattern: /\bselect\s.{1,200}?\sfrom\s+\w+/gi,
    weight: 0.4,
    hints: [
      { word: 'sql', weight: 0.8 },
      { word: 'query', weight: 0.6 },
    ],
  },
  {
    pattern: /(?:~|\.{1,2})?(?:\/[\w.-]{1,80}){2,}\/?/g,
    weight: 0.3,
    hints: [
      { word: 'file', weight: 0.4 },
      { word: 'path', weight: 0.3 },
    ],
  },
  { pattern: /"[^"]{1,200}"|“[^”]{1,200}”|`[^`]{1,200}`/g, weight: 0.5, hints: [] },
  { pattern: /(?<=^|\s)'[^']{1,200}'(?=$|[\s.,!?])/g, weight: 0.5, hints: [] },
  { pattern: /\b[A-Z]{2,10}-\d{1,7}\b/g, weight: 0.3, hints: [{ word: 'issue', weight: 0.4 }] },
  { pattern: /\b[0-9a-f]{8}-[0-9a-f-]{20,27}\b/gi, weight: 0, hints: [] },
  { pattern: /(?<=^|\s)[#$€£]?\d[\d.,:/]*(?=$|[\s%.,!?])/g, weight: 0.4, hints: [] },
];

/** File extensions by the kind of content. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  xlsx: ['excel', 'spreadsheet'],
  xls: ['excel', 'spreadsheet'],
  csv: ['csv'],
  docx: ['word', 'document'],
  pptx: ['presentation', 'slide'],
  pdf: ['pdf', 'document'],
  png: ['image'],
  jpg: ['image'],
  jpeg: ['image'],
  svg: ['image'],
  gif: ['image'],
  mp4: ['video'],
  mov: ['video'],
  mp3: ['audio'],
  wav: ['audio'],
  md: ['markdown', 'file'],
  txt: ['text', 'file'],
  json: ['json', 'file'],
  yaml: ['yaml', 'file'],
  yml: ['yaml', 'file'],
  ts: ['file', 'code'],
  js: ['file', 'code'],
  py: ['file', 'code'],
  go: ['file', 'code'],
  tf: ['terraform'],
  zip: ['archive', 'zip'],
  sql: ['sql'],
};

const FILE_NAME = /(?<=^|[\s(])([\w-]{1,60})\.([a-z0-9]{2,4})(?=$|[\s,.;:!?)])/gi;

export function readLiterals(query: string): Literals {
  const values: LiteralWords[] = [];
  const hints: LiteralHint[] = [];
  let rest = query;
  for (const rule of RULES) {
    rest = rest.replace(rule.pattern, (value) => {
      if (rule.weight > 0) values.push({ text: value, weight: rule.weight });
      hints.push(...rule.hints);
      return ' ';
    });
  }
  rest = rest.replace(FILE_NAME, (whole, stem: string, ending: string) => {
    const kinds = Object.hasOwn(ENDINGS, ending.toLowerCase()) ? ENDINGS[ending.toLowerCase()] : undefined;
    if (kinds === undefined) return whole;
    values.push({ text: stem, weight: 0.5 }, { text: ending, weight: 0.7 });
    for (const word of kinds) hints.push({ word, weight: 0.6 });
    return ' ';
  });
  return { rest, values, hints };
}
