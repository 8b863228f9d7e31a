import { compareCodePoints } from '../../catalog/codePointOrder.ts';
import { count, groupDigits } from '../../text/porcelain.ts';
import type { ArtifactReader } from '../artifacts/artifactReader.ts';
import { MAX_JSON_BYTES } from './jsonLimit.ts';
import { fits, fittingPrefix, MAX_SELECTION_CHARS, type Selection } from './selection.ts';
import { viewFailed } from './viewFailed.ts';

/** Returns the named top-level keys as indented JSON; empty where the artifact is no JSON object (G11.3). */
export async function jsonKeys(reader: ArtifactReader, keys: readonly string[]): Promise<Selection> {
  if (!(await looksLikeJson(reader))) return { text: '' };
  let value: unknown;
  try {
    value = await parseJson(reader);
  } catch (error) {
    if (reader.info.size > MAX_JSON_BYTES) throw error;
    return { text: '' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { text: '' };
  const all = Object.entries(value);
  const chosen = all.filter(([key]) => keys.includes(key));
  const text = prettySorted(Object.fromEntries(chosen));
  if (fits(text, MAX_SELECTION_CHARS)) return { text };
  const [key = ''] = chosen.map(([name]) => name);
  return cutJson(text, { type: 'json_path', path: `$[${JSON.stringify(key)}][0:10]` });
}

export async function looksLikeJson(reader: ArtifactReader): Promise<boolean> {
  return /^\s*[{[]/.test((await reader.read(0, 1024)).toString('utf8').replace(/^\ufeff/, ''));
}

/** Parses JSON. Throws VIEW_FAILED. */
export async function parseJson(reader: ArtifactReader): Promise<unknown> {
  const { size } = reader.info;
  if (size > MAX_JSON_BYTES) {
    throw viewFailed(
      `This is ${count(size, 'byte')}; JSON beyond ${groupDigits(MAX_JSON_BYTES)} bytes is not parsed: use "grep" or "range".`,
    );
  }
  try {
    return JSON.parse((await reader.read(0, size)).toString('utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    throw viewFailed(`This is not JSON (${(error as Error).message.slice(0, 120)}); read it by "lines" or "grep".`);
  }
}

export function cutJson(text: string, next: Selection['next']): Selection {
  const shown = fittingPrefix(text, MAX_SELECTION_CHARS);
  return { text: shown, place: `the first ${groupDigits(shown.length)} of ${count(text.length, 'character')}`, next };
}

function prettySorted(value: unknown): string {
  try {
    return JSON.stringify(sortDeep(value), null, 2);
  } catch {
    throw viewFailed('This JSON nests too deep to be shown; read it by "range".');
  }
}

function sortDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortDeep);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortDeep(item)]));
}
