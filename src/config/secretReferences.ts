import type { InputConfig } from './declaration/gatewayBlocks.ts';
import type { ServerConfig } from './gatewayConfig.ts';

/** Store of secrets and inputs: `NAME` for a secret, `input:ID` for an input of this workspace. */
export interface SecretSource {
  get(name: string): Promise<string | undefined>;
}

/** Error for a secret that is not set, in one sentence. */
export class SecretMissingError extends Error {
  override readonly name = 'SecretMissingError';
  /** `NAME`, or `input:ID`. */
  readonly secret: string;
  readonly input: InputConfig | undefined;

  constructor(message: string, secret: string, input?: InputConfig) {
    super(message);
    this.secret = secret;
    this.input = input;
  }
}

export const INPUT_PREFIX = 'input:';
export const SECRET_NAME = /^[A-Za-z0-9_.-]{1,100}$/;

/**
 * Marks a reference in a text. A configuration holds references, never values, which are looked up at each start. The
 * marks are NUL characters, which no text of a configuration and no environment variable can contain.
 */
const MARKED = /\0([^\0]+)\0/g;

export function markReference(name: string): string {
  return `\0${name}\0`;
}

/** Returns a text with its references as the user wrote them: `${secret:NAME}`. */
export function writtenForm(text: string): string {
  return text.replace(MARKED, (_, name: string) => `\${${name.startsWith(INPUT_PREFIX) ? name : `secret:${name}`}}`);
}

/** Returns the names of all references in the configurations: `NAME`, or `input:ID`. */
export function referencesIn(servers: readonly ServerConfig[]): string[] {
  const found = new Set<string>();
  JSON.stringify(servers, (_key, value: unknown) => {
    if (typeof value === 'string') for (const [, name] of value.matchAll(MARKED)) found.add(name as string);
    return value;
  });
  return [...found];
}

/**
 * Returns a configuration with its references replaced, for the start of a server only. `onSecret` receives every value
 * to mask; an input without `password` is not masked, because it may be a word like `production`.
 */
export async function followReferences(
  config: ServerConfig,
  source: SecretSource,
  onSecret: (value: string) => void = () => undefined,
): Promise<ServerConfig> {
  const secretOf = async (name: string): Promise<string> => {
    const input = config.inputs?.find(({ id }) => name === INPUT_PREFIX + id);
    const value = await secretValue(name, source, input);
    if (input === undefined || input.password) onSecret(value);
    return value;
  };
  const follow = (text: string): Promise<string> => followIn(text, secretOf);
  if (config.type === 'static') return config;
  if (config.type === 'records') {
    const { url, tokens } = config;
    if (url === undefined) return config;
    return { ...config, url: await follow(url), tokens: await Promise.all(tokens.map(follow)) };
  }
  if (config.type !== 'stdio') {
    const { clientSecret } = config.auth ?? {};
    const auth =
      clientSecret === undefined ? {} : { auth: { ...config.auth, clientSecret: await follow(clientSecret) } };
    return { ...config, url: await follow(config.url), headers: await mapValues(config.headers, follow), ...auth };
  }
  const args = await Promise.all(config.args.map(follow));
  return { ...config, args, env: await mapValues(config.env, follow) };
}

async function followIn(text: string, secretOf: (name: string) => Promise<string>): Promise<string> {
  const names = [...text.matchAll(MARKED)].map(([, name]) => name as string);
  const values = new Map<string, string>();
  for (const name of names) values.set(name, await secretOf(name));
  return text.replace(MARKED, (_, name: string) => values.get(name) as string);
}

async function secretValue(name: string, source: SecretSource, input: InputConfig | undefined): Promise<string> {
  const value = await source.get(name);
  if (value !== undefined) return value;
  if (!name.startsWith(INPUT_PREFIX))
    throw new SecretMissingError(`It needs the secret "${name}", which is not set.`, name);
  const id = name.slice(INPUT_PREFIX.length);
  // VS Code pre-fills its question with the default. Waygate uses it without asking.
  if (input?.default !== undefined && !input.password) return input.default;
  const what = input?.description ? ` (${input.description})` : '';
  throw new SecretMissingError(`It needs the input "${id}"${what}, which is not set.`, name, input);
}

async function mapValues(
  record: Readonly<Record<string, string>>,
  map: (value: string) => Promise<string>,
): Promise<Record<string, string>> {
  return Object.fromEntries(
    await Promise.all(Object.entries(record).map(async ([key, value]) => [key, await map(value)])),
  );
}
