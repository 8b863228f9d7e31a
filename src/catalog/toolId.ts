import { CatalogError } from './catalogError.ts';

/** The four parts of a `tool_id` (G1.1). A missing part is null, as in the wire form of the conformance cases. */
export interface ToolIdParts {
  namespace: string;
  name: string;
  version: string | null;
  hash8: string | null;
}

// Without the `m` flag `$` is the very end in JavaScript: unlike in Python no trailing newline slips through.
const NAMESPACE = /^[a-z][a-z0-9_-]{0,63}$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const VERSION = /^[A-Za-z0-9._-]{1,32}$/;
const HASH8 = /^[0-9a-f]{8}$/;
const MAX_CHARS = 240;

export function isNamespace(text: string): boolean {
  return NAMESPACE.test(text);
}

export function isName(text: string): boolean {
  return NAME.test(text);
}

export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

/** Formats an id; rejects parts that would not parse back (G1.4). */
export function formatToolId(parts: ToolIdParts): string {
  checkParts(parts);
  const version = parts.version === null ? '' : `@${parts.version}`;
  const hash8 = parts.hash8 === null ? '' : `#${parts.hash8}`;
  return `${parts.namespace}:${parts.name}${version}${hash8}`;
}

/** Inverse of `formatToolId`. The length is checked before the grammar, so that the error names the cause. */
export function parseToolId(id: unknown): ToolIdParts {
  if (typeof id !== 'string') throw new CatalogError('not_a_string', `A tool_id is a string, not ${typeof id}.`);
  if (isTooLong(id)) {
    throw new CatalogError(
      'too_long',
      `tool_id "${shown(id)}" is longer than ${MAX_CHARS} characters; browse for its id.`,
    );
  }
  const colon = id.indexOf(':');
  if (colon < 0) {
    throw new CatalogError('missing_separator', `tool_id "${shown(id)}" has no ":" between namespace and name.`);
  }
  const [beforeHash, hash8] = splitLast(id.slice(colon + 1), '#');
  const [name, version] = splitLast(beforeHash, '@');
  const parts = { namespace: id.slice(0, colon), name, version, hash8 };
  checkParts(parts);
  return parts;
}

/** Counts characters, not UTF-16 units; only a text that may be too long is counted. */
function isTooLong(id: string): boolean {
  return id.length > 2 * MAX_CHARS || (id.length > MAX_CHARS && [...id].length > MAX_CHARS);
}

export function isToolId(text: string): boolean {
  try {
    parseToolId(text);
    return true;
  } catch {
    return false;
  }
}

function splitLast(text: string, separator: string): [string, string | null] {
  const at = text.lastIndexOf(separator);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

function checkParts({ namespace, name, version, hash8 }: ToolIdParts): void {
  if (!NAMESPACE.test(namespace)) {
    throw new CatalogError(
      'namespace_grammar',
      `Namespace "${shown(namespace)}" must be a lower-case letter and then at most 63 of a-z, 0-9, "_", "-".`,
    );
  }
  if (!NAME.test(name)) {
    throw new CatalogError(
      'name_grammar',
      `Name "${shown(name)}" must be a letter or "_" and then at most 127 of A-Z, a-z, 0-9, "_", ".", "-".`,
    );
  }
  if (version !== null && !VERSION.test(version)) {
    throw new CatalogError(
      'version_grammar',
      `Version "${shown(version)}" must be 1 to 32 of A-Z, a-z, 0-9, ".", "_", "-".`,
    );
  }
  if (hash8 !== null && !HASH8.test(hash8)) {
    throw new CatalogError('hash8_grammar', `Hash "${shown(hash8)}" must be 8 lower-case hexadecimal digits.`);
  }
  if (version === null && hash8 === null) {
    throw new CatalogError('hash8_required', `"${shown(`${namespace}:${name}`)}" needs a version or a hash.`);
  }
}

/** Caller's text, short enough for a message. */
function shown(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
