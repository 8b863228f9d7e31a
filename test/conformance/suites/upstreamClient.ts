/**
 * Program that the official suites' client scenarios run: a connection of Waygate to a server, with the sign-ins and
 * token files of a worker, and a user who consents to everything. It signs in only when the connection asks for it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpServerConfig } from '../../../src/config/gatewayConfig.ts';
import { FileTokens } from '../../../src/config/state/fileTokens.ts';
import { UpstreamRequestError } from '../../../src/mcp/wire/upstreamClient.ts';
import { ServerConnection } from '../../../src/upstream/connection/serverConnection.ts';
import { SignIns } from '../../../src/upstream/connection/signIns.ts';
import { HttpLink } from '../../../src/upstream/transports/httpLink.ts';

const { toolCalls = [], ...context } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
} & Record<string, string>;
/** URL at which the suite expects the client's metadata document. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json';
/** Limit of sign-ins, as a user would stop eventually. */
const MAX_SIGN_INS = 3;

type ListedTool = { name: string; inputSchema?: unknown };

/** Calls that the scenarios expect, with their arguments. */
const CALLS: Record<string, (tools: readonly ListedTool[]) => Record<string, unknown>> = {
  add_numbers: () => ({ a: 5, b: 3 }),
  'test-tool': () => ({}),
  test_reconnection: () => ({}),
  test_client_elicitation_defaults: () => ({}),
  test_mrtr_echo_state: () => ({}),
  test_mrtr_unrelated: () => ({}),
  test_mrtr_no_state: () => ({}),
  test_mrtr_no_result_type: () => ({}),
  valid_tool: () => ({}),
  // Sends the listed schema back unchanged.
  json_schema_echo: (tools) => ({
    schema: tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema,
  }),
};

const URL_OF_SUITE = process.argv.at(-1) as string;
const folder = mkdtempSync(join(tmpdir(), 'waygate-upstream-'));
const signIns = new SignIns(new FileTokens(folder));
const config: HttpServerConfig = {
  name: 'suite',
  type: 'http',
  url: URL_OF_SUITE,
  headers: {},
  auth: await authOf(),
  disabled: false,
  keepAlive: true,
  location: { file: 'waygate.json', line: 1, column: 1 },
};
const connection = new ServerConnection(
  config,
  {
    openLink: async (given, events) =>
      new HttpLink(given as HttpServerConfig, events, signIns.sessionFor(given as HttpServerConfig)),
    mayTry: (given) => signIns.mayTry(given),
  },
  { onChange: () => undefined, scrubSecrets: (text) => text, log: (line) => process.stderr.write(`${line}\n`) },
);
// Answers elicitations for the user with the server's proposed values.
connection.setRequestHandler(
  'elicitation/create',
  async ({ requestedSchema }) => ({ action: 'accept', content: defaultsOf(requestedSchema) }),
  { elicitation: { form: { applyDefaults: true } } },
);

let signedIn = 0;
try {
  await connection.start();
  while (connection.state === 'needs_sign_in' && signedIn < MAX_SIGN_INS) await signIn();
  if (connection.state !== 'ready') throw new Error(`${connection.state}: ${connection.reason}`);
  const tools = connection.tools as ListedTool[];
  for (const { name } of tools) {
    // A client must not offer tools with invalid headers, so what is listed is called.
    const args = name.startsWith('invalid_') ? () => ({}) : CALLS[name];
    if (args) await call(name, args(tools));
  }
  for (const { name, arguments: args } of toolCalls) await call(name, args);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  signIns.stop();
  await connection.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** Returns the settings that a user would have configured. */
async function authOf(): Promise<NonNullable<HttpServerConfig['auth']>> {
  const { client_id: clientId, client_secret: clientSecret } = context;
  if (clientId === undefined) return { clientId: CLIENT_DOCUMENT };
  if (clientSecret === undefined) return { clientId };
  // A client secret goes to the issuer alone that the user configures, with whom the client was registered.
  return { clientId, clientSecret, issuer: context.issuer ?? (await registeredIssuer()) };
}

/** Older suites do not say where they registered the client. Their servers do. */
async function registeredIssuer(): Promise<string> {
  const { origin, pathname } = new URL(URL_OF_SUITE);
  const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: servers } = (await answer.json()) as { authorization_servers: [string] };
  return servers[0];
}

async function signIn(): Promise<void> {
  signedIn += 1;
  const url = await signIns.begin(connection);
  await browse(url);
  const reason = await signIns.ended(config.name);
  if (reason !== undefined) throw new Error(reason);
}

async function browse(url: string): Promise<void> {
  const response = await fetch(url);
  process.stderr.write(`the browser ends with ${response.status}: ${(await response.text()).slice(0, 200)}\n`);
}

async function call(tool: string, args: Record<string, unknown>): Promise<void> {
  try {
    await connection.call(tool, args, { timeoutMs: 20_000 });
  } catch (error) {
    const wantsSignIn = error instanceof UpstreamRequestError && error.failure === 'unauthorized';
    if (!wantsSignIn || signedIn >= MAX_SIGN_INS) throw error;
    await signIn();
    await call(tool, args);
  }
}

function defaultsOf(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { default?: unknown }> };
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])),
  );
}
