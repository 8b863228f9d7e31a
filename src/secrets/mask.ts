import { KnownSecrets } from './knownSecrets.ts';

/**
 * Credentials in text: those that this process was given to keep, and others by the shapes their issuers gave them.
 * Fifteen kinds; each is found in linear time: an unbounded run is only entered where it can begin, or its characters
 * exclude what begins the next attempt.
 */
export const SECRET_MASK = '[REDACTED-SECRET]';

/** One for the process: whoever scrubs a text in it finds what any of its servers was given. */
export const knownSecrets = new KnownSecrets(SECRET_MASK);

interface SecretKind {
  name: string;
  pattern: RegExp;
  /** Groups 1 and 2 stay, what is between them is masked. */
  keepsAround?: true;
}

/** Not inside a longer word: one attempt per run of word characters. */
const START = '(?<![A-Za-z0-9_-])';

const KINDS: readonly SecretKind[] = [
  {
    name: 'AWS key id',
    pattern: new RegExp(`${START}(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])`, 'g'),
  },
  { name: 'Google API key', pattern: new RegExp(`${START}AIza[A-Za-z0-9_-]{35}`, 'g') },
  { name: 'GitHub token', pattern: new RegExp(`${START}gh[pousr]_[A-Za-z0-9]{36,255}`, 'g') },
  { name: 'GitHub fine-grained token', pattern: new RegExp(`${START}github_pat_[A-Za-z0-9_]{22,255}`, 'g') },
  { name: 'Slack token', pattern: new RegExp(`${START}(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}`, 'g') },
  { name: 'Slack webhook', pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9_/-]{10,}/g },
  { name: 'Anthropic key', pattern: new RegExp(`${START}sk-ant-[A-Za-z0-9_-]{16,}`, 'g') },
  { name: 'OpenAI key', pattern: new RegExp(`${START}sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}`, 'g') },
  { name: 'Stripe live key', pattern: new RegExp(`${START}[rs]k_live_[A-Za-z0-9]{10,}`, 'g') },
  { name: 'SendGrid key', pattern: new RegExp(`${START}SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}`, 'g') },
  {
    name: 'JSON web token',
    pattern: new RegExp(`${START}eyJ[A-Za-z0-9_-]{4,}\\.[A-Za-z0-9_-]{4,}\\.[A-Za-z0-9_-]{4,}`, 'g'),
  },
  // Greedy up to the last "@" before a slash: passwords hold "@" too.
  { name: 'URL password', pattern: /(:\/\/[^\s:/@"']*:)[^\s/"']+(@)/g, keepsAround: true },
  { name: 'Bearer token', pattern: /(\bBearer[ \t]{1,8})[A-Za-z0-9._~+/=-]{10,}()/gi, keepsAround: true },
  {
    name: 'credential assignment',
    pattern:
      /((?:api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|secret[_-]?key|encryption[_-]?key|account[_-]?key|secret|token|password|passwd|passphrase|pwd|credentials?)\\?["']?[ \t]{0,4}(?::|=>?)[ \t]{0,4}(?:\\?["'])?)(?!Bearer[ \t])[^\s"',;&<>()[\]{}\\]{6,}()/gi,
    keepsAround: true,
  },
];

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** No private key is longer; one whose end was cut off is a key still. */
const MAX_PRIVATE_KEY_CHARS = 32 * 1024;

interface Secret {
  /** All that it was known by, its name included. */
  from: number;
  to: number;
  /** What must not be seen. */
  start: number;
  end: number;
}

export function scrubSecrets(text: string): string {
  const secrets = findSecrets(text);
  return secrets.length === 0 ? text : mask(text, secrets, text.length);
}

/** The same for a text that is cut into pieces, each by itself; they themselves where there is no secret in them. */
export function scrubPieces(pieces: readonly string[]): readonly string[] {
  const text = pieces.join('');
  const secrets = findSecrets(text);
  if (secrets.length === 0) return pieces;
  const hidden = withoutOverlaps(secrets);
  let next = 0;
  let end = 0;
  return pieces.map((piece) => {
    let at = end;
    end += piece.length;
    let masked = '';
    for (let one = hidden[next]; one && one.start < end && at < end; one = hidden[next]) {
      masked += text.slice(at, Math.max(at, one.start)) + SECRET_MASK;
      at = Math.min(one.end, end);
      // What is longer goes on in the next piece.
      if (one.end > end) break;
      next += 1;
    }
    return masked + text.slice(at, end);
  });
}

function withoutOverlaps(secrets: readonly Secret[]): { start: number; end: number }[] {
  const apart: { start: number; end: number }[] = [];
  for (const { start, end } of secrets) {
    const last = apart.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else apart.push({ start, end });
  }
  return apart;
}

/** Longer than any secret but a private key; a longer run is masked up to where it was cut. */
const HOLD_BACK_CHARS = 8 * 1024;

/** The same over a stream: what a secret that straddles two chunks may begin with waits for the next one. */
export function* scrubSecretChunks(chunks: Iterable<string>): Generator<string> {
  const heldBack = Math.max(HOLD_BACK_CHARS, knownSecrets.longest);
  let held = '';
  for (const chunk of chunks) {
    held += chunk;
    if (held.length <= 2 * Math.max(MAX_PRIVATE_KEY_CHARS, heldBack)) continue;
    const secrets = findSecrets(held);
    let cut = held.length - heldBack;
    for (const { from, to } of secrets) if (from < cut && cut < to) cut = from;
    yield mask(held, secrets, cut);
    held = held.slice(cut);
  }
  if (held) yield scrubSecrets(held);
}

/** In order of where they begin. */
function findSecrets(text: string): Secret[] {
  const secrets = findPrivateKeys(text);
  for (const { start, end } of knownSecrets.find(text)) secrets.push({ from: start, to: end, start, end });
  for (const { pattern, keepsAround } of KINDS) {
    for (const match of text.matchAll(pattern)) {
      const [from, to] = [match.index, match.index + match[0].length];
      const [before, after] = keepsAround ? [match[1]?.length ?? 0, match[2]?.length ?? 0] : [0, 0];
      secrets.push({ from, to, start: from + before, end: to - after });
    }
  }
  return secrets.sort((a, b) => a.start - b.start);
}

function findPrivateKeys(text: string): Secret[] {
  const keys: Secret[] = [];
  let from = 0;
  let noEnd = false;
  for (;;) {
    PEM_BEGIN.lastIndex = from;
    const begin = PEM_BEGIN.exec(text);
    if (!begin) return keys;
    PEM_END.lastIndex = begin.index;
    noEnd ||= PEM_END.exec(text) === null;
    const limit = Math.min(text.length, begin.index + MAX_PRIVATE_KEY_CHARS);
    from = noEnd || PEM_END.lastIndex > limit ? limit : PEM_END.lastIndex;
    keys.push({ from: begin.index, to: from, start: begin.index, end: from });
  }
}

/** `text` up to `until`; secrets that overlap become one. */
function mask(text: string, secrets: readonly Secret[], until: number): string {
  let masked = '';
  let at = 0;
  for (const { start, end } of secrets) {
    if (start >= until) break;
    if (start >= at) masked += text.slice(at, start) + SECRET_MASK;
    at = Math.max(at, end);
  }
  return at < until ? masked + text.slice(at, until) : masked;
}
