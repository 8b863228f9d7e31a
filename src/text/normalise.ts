import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { visibleJson } from './visibleText.ts';

/**
 * Rules that correct input with only one possible meaning (O10.1). The result reports every applied rule.
 * `docs/answers.md` lists them in a table.
 */
export const NORMALISATION_RULES = {
  field_alias: {
    reads: 'another spelling of an argument (`topK`, `top-k`), or its usual other name (`q`, `limit`, `uri`, `params`)',
    as: 'the argument',
    where: 'arguments of the gateway’s own tools, unless two of them mean the same argument',
  },
  integer_text: {
    reads: 'a whole number as text (`" 7 "`, `"42.0"`)',
    as: 'the number',
    where: 'arguments of the gateway’s own tools and of a selector that are whole numbers',
  },
  too_many: {
    reads: 'a `top_k` above 50',
    as: '50',
    where: 'the tools that browse',
  },
  extra_argument: {
    reads: 'an argument that explains the call (`reason`, `explanation`, `thought`)',
    as: 'nothing',
    where: 'arguments of the gateway’s own tools that have none of this name',
  },
  token_alias: {
    reads:
      'another spelling of one of Waygate’s words (`toolBrowse`, `HEAD`, `claudeCode`), or its alias (`text`, `plain`, `structured`; `tools.execute`, `mcp_waygate_tool_execute`)',
    as: 'the word',
    where:
      'names of the gateway’s tools, `render`, types of selectors; commands, modes and clients of the command line',
  },
  path_style: {
    reads:
      'a path in another style (`github/issues`, `/github/issues/`, `\\github\\issues`, `github.issues`, `/GitHub`)',
    as: 'the path',
    where: '`path` of `tool_browse`, `resource_browse`, `prompt_browse`, if it can mean only one existing path',
  },
  file_uri: {
    reads:
      'a `file://` URI instead of a path, and a path or another form of the URI instead of the address of a resource',
    as: 'the path; the address under which the resource is listed',
    where: 'options of the command line; `resource_id` of `resource_read`, if one listed resource is that file',
  },
  tool_id: {
    reads: 'an id with a stray blank, in another case, or without its hash',
    as: 'the id',
    where: '`tool_id`, `resource_id`, `prompt_id` and the handle `schema:<id>`, if it can mean only one of them',
  },
} as const satisfies Readonly<Record<string, { reads: string; as: string; where: string }>>;

export type NormalisationRule = keyof typeof NORMALISATION_RULES;

export interface Normalisation {
  rule: NormalisationRule;
  /** Original input and its correction. */
  from: string;
  to: string;
}

/** Callback that receives each applied rule. */
export type ReportNormalisation = (applied: Normalisation) => void;

/** Parses a whole number: `" 7 "` and `"42.0"` are numbers, `"-1"` and `"7.5"` are undefined. */
export function humanInteger(text: string): number | undefined {
  if (text.length > 32 || !/^\s*\d+(?:\.0+)?\s*$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Reduces a text to letters and digits in lower case: `topK`, `top-k` and `Top_K` are equal. */
export function asciiToken(text: string): string {
  return text.length > 128 ? '' : text.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}

/**
 * Returns the one of `known` that `text` can mean, by its letters or an alias. Returns a known text unchanged, and
 * undefined for an ambiguous one.
 */
export function meantToken(
  text: string,
  known: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): string | undefined {
  if (known.includes(text)) return text;
  const token = asciiToken(text);
  if (token === '') return undefined;
  const alias = Object.hasOwn(aliases, token) ? aliases[token] : undefined;
  if (alias !== undefined && known.includes(alias)) return alias;
  const meant = known.filter((name) => asciiToken(name) === token);
  return meant.length === 1 ? meant[0] : undefined;
}

/**
 * Returns the gateway tool that a name means, also with a client's prefix (`mcp__waygate__tool_execute`) and in the
 * plural (`tools.execute`).
 */
export function meantTool(given: string, names: readonly string[]): string | undefined {
  if (names.includes(given)) return given;
  const bare = asciiToken(given).replace(/^(?:mcp)?waygate/, '');
  const noun = names.map((name) => name.split('_')[0] as string).find((one) => bare.startsWith(`${one}s`));
  const singular = noun === undefined ? bare : noun + bare.slice(noun.length + 1);
  return meantToken(given, names) ?? meantToken(singular, names);
}

/**
 * Returns a path on this machine, from a `file://` URI or relative to `root`; undefined where a URI names no local
 * file.
 */
export function localPath(given: string, root: string): string | undefined {
  if (!/^file:/i.test(given)) return resolve(root, given);
  try {
    return resolve(fileURLToPath(given));
  } catch {
    return undefined;
  }
}

/** `relative` for people and models, `absolute` for data (O9.4). */
export type PathStyle = 'relative' | 'absolute';

/** Renders a path, with forward slashes where it is relative. Paths outside of the root stay absolute. */
export function renderPath(path: string, root: string, style: PathStyle): string {
  if (style === 'absolute') return resolve(root, path);
  const inside = relative(root, resolve(root, path));
  if (inside === '') return '.';
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return resolve(root, path);
  return inside.split(sep).join('/');
}

export type RenderMode = 'porcelain' | 'json';

const RENDER_MODES: readonly RenderMode[] = ['porcelain', 'json'];
const RENDER_ALIASES = { text: 'porcelain', plain: 'porcelain', plaintext: 'porcelain', structured: 'json' };

export function meantRenderMode(text: string): RenderMode | undefined {
  return meantToken(text, RENDER_MODES, RENDER_ALIASES) as RenderMode | undefined;
}

/** Renders the note about an applied rule: `note: "topK" was read as "top_k" (field_alias)`. */
export function normalisationNote({ rule, from, to }: Normalisation): string {
  if (rule === 'extra_argument') return `note: ${visibleJson(from)} was ignored (${rule})`;
  return `note: ${visibleJson(from)} was read as ${visibleJson(to)} (${rule})`;
}
