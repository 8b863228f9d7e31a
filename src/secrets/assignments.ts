import { isSecretValue, SECRET_MASK, type SecretName, secretName, type ValueStyle } from './names.ts';
import type { FoundSecret } from './shapes.ts';

const MAX_NAME_CHARS = 100;
/** Judges a value by its beginning; a secret extends to the end of its run. */
const MAX_JUDGED_CHARS = 1_024;
const MAX_BLANKS = 40;
/** A parameter of a URL is no code, so its value need not be random; shorter values are words. */
const MIN_PARAMETER_CHARS = 8;

const SEPARATOR = /[:=]/g;
/** Ends a bare value. The backslash ends a line that is escaped in JSON. */
const BARE_SIGNS = '[^\\s"\'`,;&<>()[\\]{}\\\\]';
const BARE = new RegExp(`${BARE_SIGNS}{1,${MAX_JUDGED_CHARS}}`, 'y');
const REST = new RegExp(`${BARE_SIGNS}*`, 'y');
const CONNECTION_VALUE = new RegExp(`[^\\s"'\`;]{1,${MAX_JUDGED_CHARS}}(?=;)`, 'y');
/** A value that fills its line and is neither a call nor a list of parameters. */
const LINE_VALUE = new RegExp(
  `(?![\\w$.]*[([])(?![^\\s&]{0,200}&\\w{1,40}=)(?![<{[(])[^\\s"'\`;\\\\]{1,${MAX_JUDGED_CHARS}}(?<![,;(){}>\\]])(?=\\r?\\n|$)`,
  'y',
);
const OPENING = /(?:[bfru]{1,2}(?=["']))?(\\?["'`])/iy;
const SCHEME =
  /(?:Bearer|Basic|Token|Digest|Negotiate|NTLM|Api-?Key|Bot|OAuth|Key|SSWS|GenieKey|Splunk|Signature)[ \t]{1,8}(?=\S)/iy;
const YAML_BLOCK = /[|>][+-]?\d?[ \t]*\r?\n[ \t]{1,40}/y;
const BLANKS = new RegExp(`[ \\t]{0,${MAX_BLANKS}}`, 'y');
const FLAG = new RegExp(`(?<![\\w-])--?([A-Za-z][\\w-]{1,${MAX_NAME_CHARS}})[ \\t]{1,4}(?=[^\\s-])`, 'g');
const ELEMENT = new RegExp(`<([A-Za-z][\\w:.-]{1,${MAX_NAME_CHARS}})>(?=[^<\\s])`, 'g');
/** `{"name": "DB_PASSWORD", "value": "…"}`, and the same in YAML and XML. */
const PAIR_NAME = /(?:name|key)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([\w.-]{2,100})["']?[\s,]{1,40}["']?$/i;
const PAIR_CHARS = 200;

/** Values that stand under a secret name: `NAME=value`, `"name": "value"`, `--name value`, `<name>value</name>`. */
export function* findAssignments(text: string): Generator<FoundSecret> {
  yield* findBySeparator(text);
  yield* findBy(text, FLAG, ({ style, value }) => style === 'quoted' || /[^A-Za-z]/.test(value));
  yield* findBy(text, ELEMENT, () => true);
}

function* findBySeparator(text: string): Generator<FoundSecret> {
  SEPARATOR.lastIndex = 0;
  let next = 0;
  for (const { index } of text.matchAll(SEPARATOR)) {
    if (index < next) continue;
    const found = assignedAt(text, index);
    if (!found) continue;
    next = found.end;
    yield found;
  }
}

function* findBy(text: string, pattern: RegExp, accepts: (value: Value) => boolean): Generator<FoundSecret> {
  for (const match of text.matchAll(pattern)) {
    const label = match[1] as string;
    const name = secretName(label);
    const value = name && valueAt(text, match.index + match[0].length);
    if (!name || !value || !accepts(value) || !isSecretValue(name, value.value, value.style)) continue;
    const end = wholeEnd(text, value);
    yield { from: match.index, to: Math.max(end, value.to), start: value.start, end, label };
  }
}

function assignedAt(text: string, at: number): FoundSecret | undefined {
  if (isComparison(text, at)) return undefined;
  const named = nameBefore(text, at);
  if (!named) return undefined;
  const { name, label, from, inQuery } = named;
  let after = at + 1;
  // `:=`, `=>` and `= >` of Go, Ruby and PHP.
  if (text[after] === '=' || (text[at] === '=' && text[after] === '>')) after += 1;
  const isTight = !/\s/.test(text[after] ?? '');
  BLANKS.lastIndex = after;
  BLANKS.exec(text);
  after = BLANKS.lastIndex;
  YAML_BLOCK.lastIndex = after;
  if (text[at] === ':' && YAML_BLOCK.test(text)) after = YAML_BLOCK.lastIndex;
  const run =
    text[at] === '=' && isConnectionString(text, from) ? CONNECTION_VALUE : isLineBegin(text, from) ? LINE_VALUE : BARE;
  const value = valueAt(text, after, run);
  if (!value) return undefined;
  const style = value.style === 'bare' && /^[A-Z][A-Z0-9_]*$/.test(label) ? 'environment' : value.style;
  const isSecret =
    isSecretValue(name, value.value, style) ||
    (inQuery && value.value.length >= MIN_PARAMETER_CHARS && isSecretValue(name, value.value, 'setting'));
  if (!isSecret) return undefined;
  const isTagged = value.scheme || inQuery || (text[at] === '=' && isTight);
  if (value.style === 'bare' && name.weight === 'strong' && !isTagged && isProse(text, value)) return undefined;
  if (value.style === 'bare' && isCall(text, value)) return undefined;
  const end = wholeEnd(text, value);
  return { from, to: Math.max(end, value.to), start: value.start, end, label };
}

/** Recognises `==`, `!=`, `<=`, `=~`, `::` and `://`, which assign nothing. */
function isComparison(text: string, at: number): boolean {
  const [before, after] = [text[at - 1] ?? '', text[at + 1] ?? ''];
  if (text[at] === '=') return /[=!<>~]/.test(before) || /[=~]/.test(after);
  return before === ':' || after === ':' || (after === '/' && text[at + 2] === '/');
}

interface NamedAt {
  name: SecretName;
  label: string;
  from: number;
  inQuery: boolean;
}

function nameBefore(text: string, at: number): NamedAt | undefined {
  let end = at;
  if (/[:?+|]/.test(text[end - 1] ?? '')) end -= 1;
  end -= blanksBefore(text, end);
  const isQuoted = /["'`\]]/.test(text[end - 1] ?? '');
  while (end > 0 && /["'`\]\\?!]/.test(text[end - 1] as string) && at - end < MAX_BLANKS + 4) end -= 1;
  let from = end;
  while (from > 0 && end - from < MAX_NAME_CHARS && /[\w.$-]/.test(text[from - 1] as string)) from -= 1;
  if (from === end) return undefined;
  // `${secret:NAME}` is a reference.
  if (text[from - 1] === '{' && text[from - 2] === '$') return undefined;
  const label = text.slice(from, end).replace(/^[-.$]+/, '');
  if (text[at] === ':' && isPlace(text, at, from, label)) return undefined;
  const inQuery = /[?&]/.test(text[from - 1] ?? '');
  if (/^value$/i.test(label)) return pairBefore(text, from);
  // `API Key: …`: the word before belongs to the name.
  const words = !isQuoted && /^key$/i.test(label) ? `${wordBefore(text, from)} ${label}` : label;
  const name = secretName(words);
  return name && { name, label, from, inQuery };
}

/** `token.ts:15:23` and `https://example.com/token:refresh`. */
function isPlace(text: string, at: number, from: number, label: string): boolean {
  if (/[\s"'\\]/.test(text[at + 1] ?? '')) return false;
  return (
    text[from - 1] === '/' ||
    /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|cs|c|cc|cpp|h|php|json|ya?ml|toml|md|txt)$/i.test(label)
  );
}

function blanksBefore(text: string, end: number): number {
  let count = 0;
  while (count < MAX_BLANKS && /[ \t]/.test(text[end - 1 - count] ?? '')) count += 1;
  return count;
}

function wordBefore(text: string, at: number): string {
  return /([A-Za-z]{2,20})[ \t]$/.exec(text.slice(Math.max(0, at - 24), at))?.[1] ?? '';
}

function pairBefore(text: string, at: number): NamedAt | undefined {
  const start = Math.max(0, at - PAIR_CHARS);
  const match = PAIR_NAME.exec(text.slice(start, at));
  const label = match?.[1];
  const name = label === undefined ? undefined : secretName(label);
  return match && label !== undefined && name ? { name, label, from: start + match.index, inQuery: false } : undefined;
}

interface Value {
  value: string;
  style: ValueStyle;
  start: number;
  end: number;
  /** End including what belongs to the value, such as its quote. */
  to: number;
  scheme: boolean;
}

function valueAt(text: string, at: number, pattern = BARE): Value | undefined {
  OPENING.lastIndex = at;
  const quote = OPENING.exec(text)?.[1];
  const first = quote === undefined ? at : OPENING.lastIndex;
  SCHEME.lastIndex = first;
  const scheme = SCHEME.test(text);
  const start = scheme ? SCHEME.lastIndex : first;
  const end = quote === undefined ? undefined : closingQuote(text, start, quote);
  if (end !== undefined) {
    return end === start
      ? undefined
      : { value: text.slice(start, end), style: 'quoted', start, end, to: end + 1, scheme };
  }
  const run = runAt(pattern, text, start) ?? runAt(BARE, text, start);
  const value = run && withoutStop(run);
  if (!value) return undefined;
  const bareEnd = start + value.length;
  return { value, style: quote === undefined ? 'bare' : 'quoted', start, end: bareEnd, to: bareEnd, scheme };
}

/** Removes a full stop, which belongs to the sentence. A colon shows that the value is itself a name. */
function withoutStop(run: string): string {
  let end = run.length;
  while (end > 0 && /[.:!?]/.test(run[end - 1] as string)) end -= 1;
  return run.includes(':', end) ? run : run.slice(0, end);
}

/** Returns the end of the run: judging the value did not read that far. */
function wholeEnd(text: string, { style, value, end }: Value): number {
  return style === 'bare' && value.length === MAX_JUDGED_CHARS ? end + (runAt(REST, text, end)?.length ?? 0) : end;
}

function runAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Position of the quote that ends a value in its line; a backslash hides the sign behind it. */
function closingQuote(text: string, start: number, quote: string): number | undefined {
  const limit = Math.min(text.length, start + MAX_JUDGED_CHARS);
  for (let at = start; at < limit; at += 1) {
    const sign = text[at];
    if (sign === '\n' || sign === '\r') return undefined;
    if (text.startsWith(quote, at)) return at;
    if (sign === '\\') at += 1;
  }
  return undefined;
}

/** `NAME=value` and `name: value` that begin their line. */
function isLineBegin(text: string, from: number): boolean {
  return /(?:^|\n)[ \t+-]{0,20}(?:(?:export|set|env|declare -x)[ \t]+)?$/i.test(
    text.slice(Math.max(0, from - 40), from),
  );
}

/** `Server=h;Password=a&b;`: only a semicolon ends the value. */
function isConnectionString(text: string, from: number): boolean {
  const before = text.slice(Math.max(0, from - 2), from);
  return /;[ ]?$/.test(before);
}

/** A word that other words follow, or that stands as a type: `password: must be longer`, `token: Buffer | null`. */
function isProse(text: string, { value, end }: Value): boolean {
  if (!/^[A-Za-z]+(?:[-_'][A-Za-z]+)*$/.test(value)) return false;
  const after = text.slice(end, end + 24);
  if (/^[ \t]*(?:[|=)<({}?[]|\|\|)/.test(after)) return true;
  if (/^[.!?]?[ \t]+(?:[A-Za-z]|\[REDACTED)/.test(after)) return true;
  return /^[A-Z][a-z]/.test(value) && /^[,;]/.test(after);
}

/** `password=getpass(…)`, `token = tokens[0]`. */
function isCall(text: string, { value, end }: Value): boolean {
  return /^[A-Za-z_$][\w$.]*$/.test(value) && /^[([]/.test(text[end] ?? '') && !text.startsWith(SECRET_MASK, end);
}
