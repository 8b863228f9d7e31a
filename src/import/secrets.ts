import { type ClearSecret, clearArguments, clearSecrets } from '../secrets/clearSecrets.ts';
import { type AuthEntry, type InputEntry, isHttp, type ServerEntry } from './serverEntry.ts';

/** Secret found in clear text, with the reference that replaces it. `value` is never shown. */
export interface FoundSecret {
  /** `env.GITHUB_TOKEN`, `args[2]`, `headers.Authorization`. */
  where: string;
  reference: string;
  value: string;
  /** Question for the user; undefined if an environment variable holds the value. */
  input: InputEntry | undefined;
  /** True if the variable of that name has another value than the file had. */
  differs: boolean;
}

export interface ProtectedEntry {
  entry: ServerEntry;
  secrets: readonly FoundSecret[];
}

/** Replaces every secret with a reference. `server` is the name the server will have. */
export function protectSecrets(server: string, entry: ServerEntry, env: NodeJS.ProcessEnv): ProtectedEntry {
  const vault = new Vault(server, env);
  if (isHttp(entry)) {
    const protectedEntry = {
      ...entry,
      url: vault.text('url', 'url', entry.url),
      ...(entry.headers && { headers: vault.record('headers', entry.headers) }),
      ...(entry.auth && { auth: vault.auth(entry.auth) }),
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

/** Shorter values match by chance. */
const MIN_VALUE_TO_MATCH = 8;

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
        if (typeof value === 'string') return [key, this.text(`${where}.${key}`, key, value) as V];
        // A password may consist of digits only, without quotes.
        const digits = typeof value === 'number' ? this.text(`${where}.${key}`, key, String(value)) : undefined;
        return [key, digits === undefined || digits === String(value) ? value : (digits as V)];
      }),
    );
  }

  /** The secret of a client may be a reference alone. */
  auth(auth: AuthEntry): AuthEntry {
    const { clientSecret } = auth;
    if (clientSecret === undefined || /^\$\{[^}]+\}$/.test(clientSecret)) return auth;
    return { ...auth, clientSecret: this.reference('auth.clientSecret', 'client_secret', clientSecret) };
  }

  args(args: readonly string[]): string[] {
    const found = new Map(clearArguments(args).map((argument) => [argument.index, argument]));
    return args.map((argument, index) => {
      const { name = '', secrets = [] } = found.get(index) ?? {};
      return this.#replaced(`args[${index}]`, name || 'token', argument, secrets);
    });
  }

  text(where: string, key: string, text: string): string {
    return this.#replaced(where, key, text, clearSecrets(key, text));
  }

  #replaced(where: string, key: string, text: string, secrets: readonly ClearSecret[]): string {
    let replaced = '';
    let at = 0;
    for (const { start, end, value, label } of secrets) {
      replaced += text.slice(at, start) + this.reference(where, label ?? key, value);
      at = end;
    }
    return replaced + text.slice(at);
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

  /** Finds a variable that holds the value, preferably with an obvious name; else a variable with an obvious name. */
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
    return obvious.find((name) => holders.includes(name)) ?? holders[0] ?? obvious.find(isSpecificName);
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

/** Rejects `TOKEN` or `PASSWORD` alone, which may belong to anything. */
function isSpecificName(name: string): boolean {
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
