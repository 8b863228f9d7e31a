/** What a secret looks like, by the name it stands under and by its own shape. */

const SECRET_WORDS = new Set(
  'token tokens apikey secret secrets password passwd passphrase pwd pat bearer authorization credential credentials jwt dsn'.split(
    ' ',
  ),
);
/** These are secret only with a value that is no plain word: `auth: oauth` is none. */
const WEAK_WORDS = new Set('auth key keys session cookie pass signature'.split(' '));
/** `TOKEN_FILE`, `AUTH_TYPE`, `KEY_ID`: they speak of a secret and are none. */
const HARMLESS_ENDINGS = new Set(
  'path file dir folder url uri endpoint host name type method mode enabled limit ttl expiry count size header provider id region version'.split(
    ' ',
  ),
);

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function isStrong(word: string): boolean {
  return SECRET_WORDS.has(word) || /(token|secret|password|apikey)$/.test(word);
}

export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  if (HARMLESS_ENDINGS.has(words.at(-1) ?? '')) return false;
  return words.some((word) => isStrong(word) || WEAK_WORDS.has(word));
}

/** Whether what stands under a name is its secret, and not a switch, a word or a path. */
export function looksLikeSecret(name: string, value: string): boolean {
  if (!isSecretName(name)) return false;
  if (/^\s*$|^(true|false|yes|no|on|off|null|none|undefined)$/i.test(value) || isPath(value)) return false;
  const strong = wordsOf(name).some(isStrong);
  if (/^\d{1,6}$/.test(value)) return /pass|pwd|pin|secret/i.test(name);
  return strong || !/^[a-z]+(-[a-z]+)*$/i.test(value);
}

function isPath(value: string): boolean {
  if (!/^(~|\.{1,2})?[\\/]|^[A-Za-z]:[\\/]|^\$\{(workspaceFolder|userHome)\}/.test(value)) return false;
  const segments = value.split(/[\\/]/);
  return segments.every((part) => !(part.length >= 20 && /\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part)));
}

/** The password in `scheme://user:password@host`. */
export const URL_PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)([^\s/@]+|\$\{[^}]*\})@/gi;
/** One parameter of a URL. */
export const URL_QUERY = /([?&])([\w.-]+)=([^&#\s]+)/g;

/** Shapes of well-known tokens; where there are two groups, the second is the secret. */
export const SECRET_PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|glsa_\w{20,})/g,
  /\b(?:sk|rk|pk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}/g,
  /\b(?:xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,})/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}/g,
  /\b(?:npm|hf|gsk|ntn|lin_api|lin_oauth|figd|shpat|shpss|dop_v1|pplx|tvly|sbp|sntrys|whsec|r8|ctx7sk|secret|fc|key|pat|PMAK|dapi|ATATT3x|SG\.)[-_.]?(?=[\w.-]*\d)[A-Za-z0-9_.-]{20,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(\b(?:bearer|basic)\s+)([\w.~+/=-]{8,})/gi,
  /(\b(?:password|pwd|accountkey|sharedaccesskey)=)([^;\s&]+)/gi,
  // Long and mixed as no word is; a commit, a UUID or a path is told apart by its neighbours.
  /(?<![\w./@#:+=-])(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])(?![0-9a-f]{8}-[0-9a-f]{4}-)[A-Za-z0-9_+=]{32,}(?![\w./@:-])/g,
];
/** A segment of a URL's path that is no word: some hosted servers know their user by it. */
export const URL_SEGMENT =
  /(?<=^https?:\/\/[^?#]*\/)(?=[\w=-]*\d)(?=[\w=-]*[A-Za-z])(?![0-9a-f]{8}-[0-9a-f]{4}-)[\w=-]{32,}(?=[/?#]|$)/g;
