import { GatewayError } from '../ops/gatewayError.ts';
import { sortedEntries } from './pythonForm.ts';

/** The selectors of `tool_view` (000 §4.2): what they take out of an artifact's text. */

const DEFAULT_HEAD_CHARS = 500;
const FORMS = [
  '{"type": "head", "chars": 500}',
  '{"type": "lines", "start": 0, "end": 50}',
  '{"type": "rows", "start": 0, "end": 50}',
  '{"type": "json_keys", "keys": ["name"]}',
];

export function select(text: string, selector: Readonly<Record<string, unknown>>): string {
  switch (selector['type']) {
    case 'head':
      return Array.from(text)
        .slice(0, wholeNumber(selector, 'chars', DEFAULT_HEAD_CHARS))
        .join('');
    case 'lines':
    case 'rows': {
      const lines = text.split(/\r?\n/);
      return lines.slice(wholeNumber(selector, 'start', 0), wholeNumber(selector, 'end', lines.length)).join('\n');
    }
    case 'json_keys':
      return jsonKeys(text, selector);
    default:
      throw viewFailed(`The selector type ${JSON.stringify(selector['type'] ?? null)} is not known.`);
  }
}

export function viewFailed(what: string): GatewayError {
  return new GatewayError('VIEW_FAILED', `${what} Use one of: ${FORMS.join(', ')}.`);
}

function jsonKeys(text: string, selector: Readonly<Record<string, unknown>>): string {
  const keys = selector['keys'] ?? [];
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string')) {
    throw viewFailed('"keys" must be a list of strings.');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return '';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
  const chosen = Object.entries(value).filter(([key]) => keys.includes(key));
  return JSON.stringify(sortDeep(Object.fromEntries(chosen)), null, 2);
}

function sortDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(sortedEntries(value).map(([key, item]) => [key, sortDeep(item)]));
}

function wholeNumber(selector: Readonly<Record<string, unknown>>, name: string, fallback: number): number {
  const value = selector[name] ?? fallback;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw viewFailed(`"${name}" must be a whole number.`);
  return value;
}
