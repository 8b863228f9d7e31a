import { compareCodePoints } from '../catalog/codePointOrder.ts';

/**
 * Values as the specification's first implementation prints them: the forms that its cases pin (001). Iterative, since
 * a server may nest deeper than a stack is high.
 */

/** `str(value)`: `True`, `None`, `[1, 'a']`. Undefined when that would take more than `limit` characters. */
export function pythonText(value: unknown, limit = Number.POSITIVE_INFINITY): string | undefined {
  let text = '';
  for (const piece of typeof value === 'string' ? [value] : pieces(value, PYTHON_TEXT)) {
    text += piece;
    if (text.length > limit) return undefined;
  }
  return text;
}

/** `json.dumps(value, sort_keys=True, ensure_ascii=False)`: a blank behind each comma and colon. */
export function pythonJson(value: unknown): string {
  let text = '';
  for (const piece of pieces(value, PYTHON_JSON)) text += piece;
  return text;
}

/** By code point: UTF-16 order differs beyond the basic plane. */
export function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
}

interface Form {
  entries(value: object): [string, unknown][];
  scalar(value: unknown): string;
}

const PYTHON_TEXT: Form = { entries: Object.entries, scalar: representation };
const PYTHON_JSON: Form = { entries: sortedEntries, scalar: (value) => JSON.stringify(value) ?? 'null' };

type Step = { text: string } | { value: unknown };

function* pieces(root: unknown, form: Form): Generator<string> {
  const work: Step[] = [{ value: root }];
  for (let step = work.pop(); step !== undefined; step = work.pop()) {
    if ('text' in step) yield step.text;
    else if (typeof step.value !== 'object' || step.value === null) yield form.scalar(step.value);
    else pushContainer(step.value, form, work);
  }
}

/** What is in the container goes on the stack in reverse, so that it comes off in order. */
function pushContainer(value: object, form: Form, work: Step[]): void {
  const isArray = Array.isArray(value);
  const entries = isArray ? value.map((item): [undefined, unknown] => [undefined, item]) : form.entries(value);
  work.push({ text: isArray ? ']' : '}' });
  for (let i = entries.length - 1; i >= 0; i--) {
    const [key, item] = entries[i] as [string | undefined, unknown];
    const lead = (i > 0 ? ', ' : '') + (key === undefined ? '' : `${form.scalar(key)}: `);
    work.push({ value: item }, { text: lead });
  }
  work.push({ text: isArray ? '[' : '{' });
}

function representation(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value !== 'string') return String(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}
