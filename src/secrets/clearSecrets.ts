import { findAssignments } from './assignments.ts';
import { findShapes } from './findShapes.ts';
import { isOpaque, isSecretValue, secretName } from './names.ts';

/** Secret that stands in clear in a setting. */
export interface ClearSecret {
  readonly start: number;
  readonly end: number;
  readonly value: string;
  /** Name that the secret has within the text, such as the parameter of a URL. */
  readonly label?: string;
}

const REFERENCE = /\$\{[^}]{0,200}\}/g;
/** `Bearer x`: the scheme stays readable. */
const SCHEME = /^(?:bearer|basic|token|apikey|api-key)\s+(?=\S)/i;
const PASSWORD = /:\/\/[^\s:/@"'<>]*:$/;
/** Random piece of a text, unlike any word. The signs beside a piece show a commit, a UUID, a package or a path. */
const OPAQUE_PIECE = /(?<![\w./@#:+=-])[A-Za-z0-9_+=]{32,}(?![\w./@:-])/g;
const MIN_OPAQUE_CHARS = 32;
/** Segment of a URL's path: some hosted servers identify their user by a random segment. */
const URL_SEGMENT = /(?<=\/)[\w=-]{32,}(?=\/|$)/g;
const QUERY_PARAMETER = /[?&]([\w.-]+)=([^&#\s]+)/g;
/** Begin of PNG, JPEG, GIF and WebP pictures in base64. */
const PICTURE = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)/;
const UUID_BEGIN = /^[0-9a-f]{8}-[0-9a-f]{4}-/i;

/**
 * Returns the secrets in the value of a setting: the whole value under a secret name, and secrets within any value.
 * References such as `${env:NAME}` are no secrets. The import and the warnings about `waygate.json` both use this
 * function.
 */
export function clearSecrets(name: string, text: string): ClearSecret[] {
  const known = secretName(name);
  const references = [...text.matchAll(REFERENCE)].map(({ index, 0: whole }) => ({
    start: index,
    end: index + whole.length,
  }));
  if (known && references.length === 0 && isSecretValue(known, text, 'setting')) {
    const start = SCHEME.exec(text)?.[0].length ?? 0;
    return isSecretValue(known, text.slice(start), 'setting') ? [secretAt(text, start, text.length)] : [];
  }
  const found = within(text).filter(
    ({ start, end }) => !references.some((reference) => start < reference.end && reference.start < end),
  );
  const apart: ClearSecret[] = [];
  for (const secret of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const before = apart.at(-1);
    if (!before || secret.start >= before.end) apart.push(secret);
    else if (secret.end > before.end) apart[apart.length - 1] = secretAt(text, before.start, secret.end, before.label);
  }
  return apart;
}

function secretAt(text: string, start: number, end: number, label?: string): ClearSecret {
  return { start, end, value: text.slice(start, end), ...(label !== undefined && { label }) };
}

function within(text: string): ClearSecret[] {
  const found: ClearSecret[] = [];
  for (const { start, end, label } of [...findShapes(text), ...findAssignments(text)]) {
    const isPassword = PASSWORD.test(text.slice(Math.max(0, start - 100), start));
    found.push(secretAt(text, start, end, label ?? (isPassword ? 'password' : undefined)));
  }
  for (const match of text.matchAll(QUERY_PARAMETER)) {
    const [whole, label, value] = match as unknown as [string, string, string];
    const parameter = secretName(label);
    const end = match.index + whole.length;
    if (parameter && isSecretValue(parameter, value, 'setting'))
      found.push(secretAt(text, end - value.length, end, label));
  }
  const path = /^https?:\/\/[^?#]*/.exec(text)?.[0];
  const pieces = path === undefined ? text.matchAll(OPAQUE_PIECE) : path.matchAll(URL_SEGMENT);
  for (const { 0: value, index } of pieces) {
    if (!isOpaque(value, MIN_OPAQUE_CHARS) || UUID_BEGIN.test(value) || PICTURE.test(value)) continue;
    found.push(secretAt(text, index, index + value.length));
  }
  return found;
}

/** Returns the secrets among the arguments of a command, by the index of the argument. */
export function clearArguments(args: readonly string[]): { index: number; name: string; secrets: ClearSecret[] }[] {
  return args.flatMap((argument, index) => {
    const flag = flagOf(args[index - 1]);
    const isValue = flag !== undefined && !argument.startsWith('-') && secretName(flag) !== undefined;
    const name = isValue ? flag : '';
    const secrets = isValue ? clearSecrets(flag, argument) : clearArgument(argument);
    return secrets.length > 0 ? [{ index, name, secrets }] : [];
  });
}

function flagOf(argument: string | undefined): string | undefined {
  const name = argument === undefined ? undefined : /^-{1,2}([\w-]+)$/.exec(argument)?.[1];
  return name?.startsWith('no-') ? undefined : name;
}

/** `--env=NAME=value` nests no deeper than this. */
const MAX_ASSIGNMENTS = 3;

/** `--api-key=x`, `NAME=x` and `Header: x` carry the name of their value. */
function clearArgument(argument: string, depth = 0): ClearSecret[] {
  const assigned =
    /^-{0,2}([A-Za-z_][\w.-]*)=(.+)$/s.exec(argument) ?? /^([A-Za-z][\w-]*):\s*(?!\/\/)(.+)$/s.exec(argument);
  if (!assigned || depth === MAX_ASSIGNMENTS) return clearSecrets('', argument);
  const [, name, value] = assigned as unknown as [string, string, string];
  const shift = argument.length - value.length;
  // A token may hold "=" itself.
  const whole = clearSecrets('', argument);
  if (whole.some(({ start }) => start < shift)) return whole;
  const secrets = secretName(name) ? clearSecrets(name, value) : clearArgument(value, depth + 1);
  if (secrets.length === 0) return whole;
  return secrets.map((secret) => ({
    ...secret,
    start: secret.start + shift,
    end: secret.end + shift,
    label: secret.label ?? name,
  }));
}
