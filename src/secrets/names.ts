/** Names of secrets, and values under such names that are no secrets. */

/** Replaces a secret in a text. */
export const SECRET_MASK = '[REDACTED-SECRET]';

/**
 * Weight of a name. The value of a `strong` name is a secret; the value of a `key` name (`OPENAI_KEY`) or a `weak` name
 * (`auth`, `sig`) only if it is random.
 */
export type NameWeight = 'strong' | 'key' | 'weak';

export interface SecretName {
  readonly weight: NameWeight;
  /** Passwords may be numbers and sentences. */
  readonly password: boolean;
  /** `tokens`: a number under it is a count. */
  readonly countable: boolean;
}

/** Rule for a form of name. `shapes.ts` has the forms of values. */
export interface NameShape {
  readonly weight: NameWeight;
  readonly matches: (words: readonly string[]) => boolean;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const last = (all: readonly string[]): string => all.at(-1) ?? '';

const STRONG_WORDS = words(
  'token tokens secret secrets password passwords passwd passphrase passcode pwd pw pat jwt dsn apikey apikeys authkey bearer authorization credential credentials authtoken',
);
/** `DBPASS`, `clientsecret`, `rootpw`, `accesskey`: written in one word. */
const STRONG_END =
  /(?:token|secret|password|passwd|passphrase|pwd|jwt|dsn|\wpw|(?:api|access|secret|private|auth|account|encryption|signing|master|license)key)$/;
const PASS_END = /(?:^|[a-z0-9])pass$/;
const OTHER_PASS = /(?:by|com|tres|over|under|sur|en|band|low|high)pass$/;
const STRONG_KEYS = words(
  'api access secret private encryption decryption account signing auth authentication master license subscription shared client service functions webhook hmac',
);
/** Keys that name an entry and open nothing. */
const PLAIN_KEYS = words(
  'public primary foreign sort partition cache issue project idempotency range row object map lookup unique index natural composite host message group order dedupe publishable site translation i18n react list hot shortcut arrow',
);
const WEAK_WORDS = words('auth key keys session sessionid cookie signature sig sas sid otp phpsessid jsessionid');
/** `TOKEN_FILE`, `AUTH_TYPE`, `KEY_ID`: attributes of a secret. */
const ATTRIBUTES = words(
  'path file filename dir folder url uri urls endpoint host name names type types method methods mode modes enabled disabled required optional supported limit limits ttl expiry expires expiration created updated at in on count size length min max header headers provider id ids region version field fields label placeholder prompt policy rule rules ref refs reference manager store storage status state regex pattern format scope scopes usage budget used left remaining audience issuer algorithm alg arn kind source sources lifetime seconds minutes hours ms bytes hint help description title error errors message env variable var',
);
/** `next_page_token`, `max_tokens`, `eos_token`: a place in a list, a count, a symbol. */
const OTHER_TOKENS = words(
  'page next continuation cancellation cursor max min total prompt completion input output pad eos bos unk cls sep unexpected design lexer num n cached reasoning',
);

/** Rows in order: the first that matches decides. */
export const NAME_SHAPES: readonly NameShape[] = [
  /** `AWS_ACCESS_KEY_ID`, `accessKeyId`. */
  {
    weight: 'strong',
    matches: (all) => /access ?key ?id$|secret id$/.test(all.join(' ')),
  },
  /** `API_KEY`, `apiKey`. */
  {
    weight: 'strong',
    matches: (all) => last(all) === 'key' && STRONG_KEYS.has(all.at(-2) ?? ''),
  },
  /** `token`, `SECRET`. */
  {
    weight: 'strong',
    matches: (all) => all.some((word) => STRONG_WORDS.has(word) || STRONG_END.test(word)),
  },
  /** `DBPASS`, `smtppass`. */
  {
    weight: 'strong',
    matches: (all) => last(all) !== 'pass' && PASS_END.test(last(all)) && !OTHER_PASS.test(last(all)),
  },
  /** `DB_PASS`, `smtpPass`. */
  {
    weight: 'strong',
    matches: (all) => last(all) === 'pass' && all.length > 1,
  },
  /** `pass`. */
  {
    weight: 'key',
    matches: (all) => last(all) === 'pass',
  },
  /** `OPENAI_KEY`, `stripeKey`. */
  {
    weight: 'key',
    matches: (all) => all.length > 1 && last(all) === 'key' && !PLAIN_KEYS.has(all.at(-2) ?? ''),
  },
  /** `auth`, `sig`. */
  {
    weight: 'weak',
    matches: (all) =>
      all.some((word) => WEAK_WORDS.has(word)) && !(/^keys?$/.test(last(all)) && PLAIN_KEYS.has(all.at(-2) ?? '')),
  },
];

/** Cheap test before a name is split. */
const MAY_BE_SECRET = /tok|sec|pass|pw|key|cred|auth|dsn|jwt|pat|sig|sess|cookie|sas|sid|otp|bearer/i;

/** The mask of an earlier pass is no name. */
const MASK_IN_NAME = SECRET_MASK.slice(1, -1);

/** Returns the weight of a name, or undefined for a name that holds no secret. */
export function secretName(written: string): SecretName | undefined {
  const name = written.replaceAll(MASK_IN_NAME, '');
  if (!MAY_BE_SECRET.test(name)) return undefined;
  const all = wordsOf(name);
  const shape = NAME_SHAPES.find(({ matches }) => matches(all));
  if (!shape) return undefined;
  if (shape !== NAME_SHAPES[0] && ATTRIBUTES.has(last(all)) && !/session id$/.test(all.join(' '))) return undefined;
  const countable = all.some((word) => word === 'tokens');
  if (/^tokens?$/.test(last(all)) && OTHER_TOKENS.has(all.at(-2) ?? '')) return undefined;
  return { weight: shape.weight, password: /pass|pwd|pw$|pin|secret/i.test(name), countable };
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/\d+$/, ''))
    .filter((word) => word !== '');
}

/**
 * Surroundings of a value: alone (a setting), in quotes, under a name in capitals (an environment), or bare in a text
 * that may be prose or source code.
 */
export type ValueStyle = 'setting' | 'quoted' | 'environment' | 'bare';

const SWITCH = /^(?:true|false|yes|no|on|off|null|nil|none|undefined|nan|\[object object\])$/i;
const REFERENCE =
  /^(?:\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|\$?\$\{[^}]*\}|\$\([^)]*\)|\{\{.*\}\}|%[A-Za-z_]\w*%|\{[A-Za-z_][\w.]*\}|<[^>]*>|!(?:secret|ref|env|vault|sub|reference)\b.*|(?:op|vault|keychain|secret):\/\/.*|@Microsoft\.KeyVault\(.*\))$/s;
const PLACEHOLDER =
  /^(?:[*•x.…_#-]+|(?:your|example|placeholder|change[-_ ]?(?:me|this|it))[a-z]*(?:[-_ ][a-z]+)*|(?:my|the|some|insert|enter|replace|put|add|sample|dummy|todo)(?:[-_ ][a-z]+)+|.*\[REDACTED-SECRET\].*|redacted|hidden|masked|removed)$/is;
const URL_VALUE = /^https?:\/\/[^\s@]*$/i;
const WORD = /^[A-Za-z]+(?:[-_][A-Za-z]+)*$/;

/**
 * Decides whether the value under a secret name is a secret, and not a switch, a reference, a placeholder, a path or
 * code.
 */
export function isSecretValue(name: SecretName, value: string, style: ValueStyle): boolean {
  const trimmed = value.trim();
  if (trimmed === '' || SWITCH.test(trimmed) || REFERENCE.test(trimmed) || PLACEHOLDER.test(trimmed)) return false;
  if (isRootedPath(trimmed) || (style !== 'setting' && style !== 'quoted' && isRelativePath(trimmed))) return false;
  if (style !== 'setting' && trimmed.length < MIN_CHARS) return false;
  if (/^\d+$/.test(trimmed)) return isSecretNumber(name, trimmed, style);
  if (style === 'setting') return name.weight === 'strong' || !/^[a-z]+(?:-[a-z]+)*$/i.test(trimmed);
  if (name.weight !== 'strong') return isOpaque(trimmed, minimumOf(name));
  if (URL_VALUE.test(trimmed) || isDate(trimmed)) return false;
  if (style === 'quoted') return isQuotedSecret(name, trimmed);
  if (style === 'environment') return !isMember(trimmed) && !NOT_SECRET.has(trimmed.toLowerCase());
  return !isCode(trimmed);
}

function minimumOf({ weight, password }: SecretName): number {
  if (weight === 'weak') return MIN_WEAK_CHARS;
  return password ? MIN_CHARS : MIN_KEY_CHARS;
}

const MIN_CHARS = 6;
const MIN_KEY_CHARS = 8;
const MIN_WEAK_CHARS = 16;

function isSecretNumber({ weight, password, countable }: SecretName, digits: string, style: ValueStyle): boolean {
  if (weight !== 'strong' && style !== 'setting') return false;
  if (password) return true;
  return weight === 'strong' && !countable && (style !== 'setting' || digits.length > 6);
}

/** Returns whether a text is one random piece, and neither a UUID nor the hash of a commit or a file. */
export function isOpaque(value: string, minimum: number): boolean {
  if (value.length < minimum || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (!/^[\w+/=%.~:-]+$/.test(value) || UUID.test(value) || HASH.test(value) || isDate(value)) return false;
  if (/^[A-Z][A-Z0-9]+-\d+$/.test(value)) return false;
  if (/\.[a-z]{2,5}$/i.test(value)) return false;
  return /[A-Za-z0-9+/]{6}/.test(value) && !/^(?:[a-z]+[-_./:])+\d*$/i.test(value);
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Hashes with the length of MD5 are missing here, because many API keys have that length. */
const HASH = /^(?:sha\d+[:-])?(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

function isDate(value: string): boolean {
  return /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/.test(value);
}

/** Several words without a digit are a label: `"password": "Enter your password"`. */
function isQuotedSecret(name: SecretName, value: string): boolean {
  if (NOT_SECRET.has(value.toLowerCase())) return false;
  if (/\s/.test(value) && !/\d/.test(value)) return name.password && !SECRET_TALK.test(value);
  return !(WORD.test(value) && SECRET_TALK.test(value));
}

const SECRET_TALK = /pass(?:word|phrase|code)|token|secret|credential|api[ _-]?key|required|invalid|must|please|enter/i;

/** Types, states and words of a language. */
const NOT_SECRET = words(
  'string number integer boolean object unknown never buffer uint8array bytes optional required missing invalid expired expected unexpected undefined unset default hidden enabled disabled provided present absent incorrect revoked unauthorized forbidden failed denied include omit same-origin bearer basic digest negotiate oauth oauth2 await return function lambda static readonly public private protected securestring nullable varchar option symbol bigint double method prompt header cookie session always verify changed rotated updated created deleted cleared stored identifier pattern yield yield*',
);

function isCode(value: string): boolean {
  if (NOT_SECRET.has(value.toLowerCase())) return true;
  if (value.endsWith(':') || value.startsWith('--')) return true;
  if (isMember(value)) return true;
  // A variable named after its purpose.
  return WORD.test(value) && SECRET_TALK.test(value);
}

/** `process.env.TOKEN`, `self.password`. */
function isMember(value: string): boolean {
  return /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+[?!]?$/.test(value) && value.split('.').every(isIdentifier);
}

/** Identifiers consist of words, with a digit at the end at most. */
function isIdentifier(part: string): boolean {
  return /^[A-Za-z_$]{1,40}\d{0,2}[?!]?$/.test(part);
}

/** Segments of a path are words, unlike segments of base64. */
function isRootedPath(value: string): boolean {
  if (!/^(?:~|\.{1,2})?[\\/]|^[A-Za-z]:[\\/]|^\$\{(?:workspaceFolder|userHome)\}/.test(value) || value.endsWith('=')) {
    return false;
  }
  return value
    .split(/[\\/]/)
    .every((part) => !(part.length >= 20 && /\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part)));
}

function isRelativePath(value: string): boolean {
  const segments = value.split('/');
  return segments.length > 1 && segments.every((part) => /^[a-z.][a-z_.-]*\d?$/i.test(part));
}
