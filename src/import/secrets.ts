import {
  isSecretName,
  looksLikeSecret,
  SECRET_PATTERNS,
  URL_PASSWORD,
  URL_QUERY,
  URL_SEGMENT,
} from './secretShapes.ts';
import { type InputEntry, isHttp, type ServerEntry } from './serverEntry.ts';

/** A secret that stood in clear, and the reference that stands in its place. `value` is never shown. */
export interface FoundSecret {
  /** `env.GITHUB_TOKEN`, `args[2]`, `headers.Authorization`. */
  where: string;
  reference: string;
  value: string;
  /** What the person will be asked for; none when a variable of the environment holds it. */
  input: InputEntry | undefined;
  /** The variable of that name is set, but to something else than what stood in the file. */
  differs: boolean;
}

export interface ProtectedEntry {
  entry: ServerEntry;
  secrets: readonly FoundSecret[];
}

/** Puts a reference in the place of whatever looks like a secret. `server` is the name it will have. */
export function protectSecrets(server: string, entry: ServerEntry, env: NodeJS.ProcessEnv): ProtectedEntry {
  const vault = new Vault(server, env);
  if (isHttp(entry)) {
    const protectedEntry = {
      ...entry,
      url: vault.text('url', 'url', entry.url),
      ...(entry.headers && { headers: vault.record('headers', entry.headers) }),
    };
    return { entry: protectedEntry, secrets: vault.found };
  }
  const protectedEntry = {
    ...entry,
    command: vault.text('command', 'command', entry.command),
    ...(entry.args && { args: vault.args(entry.args) }),
    ...(entry.env && { env: vault.record('env', entry.env) }),
  };
  return { entry: protectedEntry, secrets: vault.found };
}

const REFERENCE = /(\$\{[^}]{0,200}\})/;
/** `Bearer x`: the scheme stays readable. */
const SCHEME = /^((?:bearer|basic|token|apikey|api-key)\s+)(.+)$/is;
/** Shorter values match by chance. */
const MIN_VALUE_TO_MATCH = 8;
/** `--env=NAME=value`: deeper than that nobody writes. */
const MAX_ASSIGNMENTS = 3;
/** Patterns look back and forth: on a text without end they would have no end either. */
const MAX_PIECE = 2_000;

/** A text in pieces that can be looked through quickly, cut where no secret goes on. */
function pieces(text: string): string[] {
  if (text.length <= MAX_PIECE) return [text];
  const found: string[] = [];
  for (let start = 0; start < text.length; ) {
    const piece = text.slice(start, start + MAX_PIECE);
    const last = start + MAX_PIECE >= text.length;
    const gap = last ? piece.length : Math.max(...['\n', ' ', '"', ','].map((sign) => piece.lastIndexOf(sign) + 1));
    const length = gap > 0 ? gap : piece.length;
    found.push(piece.slice(0, length));
    start += length;
  }
  return found;
}

class Vault {
  readonly found: FoundSecret[] = [];
  readonly #server: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(server: string, env: NodeJS.ProcessEnv) {
    this.#server = server;
    this.#env = env;
  }

  record<V>(where: string, record: Readonly<Record<string, V>>): Record<string, V> {
    return Object.fromEntries(
      Object.entries(record).map(([key, value]) => {
        if (typeof value === 'string') return [key, this.named(`${where}.${key}`, key, value) as V];
        // A password of digits alone, written without quotes.
        const digits = typeof value === 'number' ? this.named(`${where}.${key}`, key, String(value)) : undefined;
        return [key, digits === undefined || digits === String(value) ? value : (digits as V)];
      }),
    );
  }

  args(args: readonly string[]): string[] {
    return args.map((argument, index) => {
      const before = args[index - 1];
      const flag = before === undefined ? undefined : /^-{1,2}([\w-]+)$/.exec(before)?.[1];
      const where = `args[${index}]`;
      if (flag !== undefined && !argument.startsWith('-') && !/^no-/.test(flag) && isSecretName(flag)) {
        return this.named(where, flag, argument);
      }
      return this.argument(where, argument);
    });
  }

  /** `--api-key=x`, `NAME=x` and `Header: x` carry the name of what they hold. */
  argument(where: string, argument: string, depth = 0): string {
    const assigned =
      /^(-{0,2}[A-Za-z_][\w.-]*)(=)(.+)$/s.exec(argument) ?? /^([A-Za-z][\w-]*)(:\s*)(?!\/\/)(.+)$/s.exec(argument);
    if (!assigned || depth === MAX_ASSIGNMENTS) return this.text(where, 'token', argument);
    const [, name, sign, value] = assigned as unknown as [string, string, string, string];
    const key = name.replace(/^-+/, '');
    const kept = isSecretName(key) ? this.named(where, key, value) : this.argument(where, value, depth + 1);
    return `${name}${sign}${kept}`;
  }

  /** A text under a name that may say that it is secret. */
  named(where: string, key: string, text: string): string {
    if (!looksLikeSecret(key, text)) return this.text(where, key, text);
    const scheme = SCHEME.exec(text);
    const [prefix, secret] = scheme ? [scheme[1] as string, scheme[2] as string] : ['', text];
    if (REFERENCE.test(secret)) return prefix + this.text(where, key, secret);
    return prefix + this.reference(where, key, secret);
  }

  /** A text whose own shape may say that it holds a secret. */
  text(where: string, key: string, text: string): string {
    return pieces(text)
      .map((piece) => this.#piece(where, key, piece))
      .join('');
  }

  #piece(where: string, key: string, text: string): string {
    const parts = text.replace(
      URL_PASSWORD,
      (_, before: string, password: string) =>
        `${before}${REFERENCE.test(password) ? password : this.reference(where, 'password', password)}@`,
    );
    const queried = parts.replace(URL_QUERY, (whole, sign: string, name: string, value: string) =>
      !REFERENCE.test(value) && looksLikeSecret(name, value)
        ? `${sign}${name}=${this.reference(where, name, value)}`
        : whole,
    );
    return queried
      .replace(URL_SEGMENT, (segment) => this.reference(where, key, segment))
      .split(REFERENCE)
      .map((part) => (REFERENCE.test(part) ? part : this.#shapes(where, key, part)))
      .join('');
  }

  #shapes(where: string, key: string, text: string): string {
    return SECRET_PATTERNS.reduce(
      (rest, pattern) =>
        // What an earlier pattern has put in is left alone.
        rest
          .split(REFERENCE)
          .map((part) =>
            REFERENCE.test(part)
              ? part
              : part.replace(pattern, (whole, before?: unknown, secret?: unknown) =>
                  typeof secret === 'string' && typeof before === 'string'
                    ? before + this.reference(where, key, secret)
                    : this.reference(where, key, whole),
                ),
          )
          .join(''),
      text,
    );
  }

  reference(where: string, key: string, value: string): string {
    const same = this.found.find((one) => one.value === value);
    if (same) return same.reference;
    const variable = this.#variable(key, value);
    if (variable !== undefined) {
      const differs = this.#env[variable] !== value;
      return this.#keep({ where, reference: `\${env:${variable}}`, value, input: undefined, differs });
    }
    const id = this.#freeId(key);
    const description = `${key} of the MCP server ${this.#server}`;
    const input: InputEntry = { type: 'promptString', id, description, password: true };
    return this.#keep({ where, reference: `\${input:${id}}`, value, input, differs: false });
  }

  /** A variable that holds the value (best one of that name), else one of an obvious name. */
  #variable(key: string, value: string): string | undefined {
    const holders =
      value.length < MIN_VALUE_TO_MATCH
        ? []
        : Object.keys(this.#env)
            .filter((name) => this.#env[name] === value)
            .sort();
    const constant = (text: string): string =>
      text
        .replace(/[^A-Za-z0-9]+/g, '_')
        .replace(/^_|_$/g, '')
        .toUpperCase();
    const obvious = [key, constant(key), `${constant(this.#server)}_${constant(key)}`].filter(
      (name) => this.#env[name],
    );
    return obvious.find((name) => holders.includes(name)) ?? holders[0] ?? obvious.find(isTellingName);
  }

  #freeId(key: string): string {
    const server = slug(this.#server);
    const part = slug(key);
    const base = part.startsWith(`${server}-`) ? part : `${server}-${part}`;
    const taken = new Set(this.found.map(({ input }) => input?.id));
    for (let n = 1; ; n++) {
      const id = n === 1 ? base : `${base}-${n}`;
      if (!taken.has(id)) return id;
    }
  }

  #keep(secret: FoundSecret): string {
    this.found.push(secret);
    return secret.reference;
  }
}

/** `TOKEN` or `PASSWORD` alone may be anybody's. */
function isTellingName(name: string): boolean {
  return name.includes('_');
}

function slug(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'server'
  );
}
