/** Operations of the configuration: its blocks and servers, and the import of VS Code's mcp.json. */
import { clientConfigText, type Launch } from '../../../src/cli/commands/clientConfig.ts';
import type { Settings } from '../../../src/config/declaration/document.ts';
import type { LoadedConfig } from '../../../src/config/fileReader.ts';
import { parseConfig } from '../../../src/config/loadConfig.ts';
import { isHttp, type ServerEntry } from '../../../src/import/serverEntry.ts';
import { UnreadableSource } from '../../../src/import/sourceFile.ts';
import { vscode } from '../../../src/import/sources/vscode.ts';
import { isExposed } from '../../../src/upstream/listing/exposedTools.ts';
import type { OperationTable } from '../conformance.ts';

/** Program in the cases, as a client starts it. */
const THEIR_NAME = 'contextweaver-gateway';
const THEIR_LAUNCH: Launch = { command: 'uvx', args: ['contextweaver', 'mcp', 'serve', '--config', 'GW'] };

/**
 * Returns an entry in the cases' form, which has no place for `cwd`, `envFile` and `disabled`. Waygate keeps these; the
 * other program drops them silently (test/import/sources.test.ts).
 */
function upstream(name: string, entry: ServerEntry): Record<string, unknown> {
  if (isHttp(entry)) {
    // Without a type the cases' program reads `http`, as Waygate does.
    const { type = 'http', url, headers } = entry;
    return { type, url, namespace: name, ...(headers && { headers }) };
  }
  const { command, args, env } = entry;
  return { type: 'stdio', command, namespace: name, ...(args && { args }), ...(env && { env }) };
}

/** Returns the client's file with only the gateway, in the form of the original file. */
function replacement(input: object): unknown {
  if ('servers' in input) {
    const file = JSON.parse(clientConfigText('vscode', THEIR_LAUNCH, THEIR_NAME)) as object;
    return { $schema: 'https://aka.ms/vscode-mcp-schema', ...file };
  }
  return JSON.parse(clientConfigText('cursor', THEIR_LAUNCH, THEIR_NAME));
}

function importVsCode(input: unknown): unknown {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  try {
    const { servers, flaws } = vscode.parse(text, { workspace: '/w', env: {}, platform: 'linux' });
    if (servers.length === 0) return { error: 'CONFIG_ERROR' };
    return {
      upstreams: Object.fromEntries(servers.map(({ name, entry }) => [name, upstream(name, entry)])),
      skipped: flaws.map(({ name }) => name),
      warnings: flaws.length,
      replacement: replacement(typeof input === 'object' && input !== null ? input : {}),
    };
  } catch (error) {
    if (error instanceof UnreadableSource) return { error: 'CONFIG_ERROR' };
    throw error;
  }
}

type Json = Record<string, unknown>;

const WRONG = { error: 'CONFIG_ERROR' };
const read = (config: object, env: NodeJS.ProcessEnv = {}): LoadedConfig =>
  parseConfig(JSON.stringify(config), '/w/waygate.json', '/w', env);
const isWrong = ({ problems }: LoadedConfig): boolean => problems.some(({ severity }) => severity === 'error');

/** Renames the keys of a block from the cases' program. Unknown keys stay, and are unknown here too. */
function renamed(input: Json, names: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [names[key] ?? key, value]));
}

/** Reads a block with Waygate. If it is silent, the defaults are those of the cases' program. */
function block(name: string, input: unknown, names: Readonly<Record<string, string>>, theirDefaults: Json): unknown {
  const config = read({ [name]: renamed(input as Json, names) });
  if (isWrong(config)) return WRONG;
  const values = (config.blocks.get(name as 'startup')?.value ?? {}) as Json;
  const entries = Object.entries(names).map(([theirs, ours]) => [
    theirs,
    theirs in (input as Json) ? values[ours] : theirDefaults[theirs],
  ]);
  return { ok: Object.fromEntries(entries) };
}

const STARTUP = {
  mode: 'mode',
  upstream_timeout_seconds: 'timeoutSeconds',
  min_healthy_upstreams: 'minHealthyServers',
  fail_on_empty_catalog: 'failOnEmptyCatalog',
};
const LIVE_REFRESH = {
  enabled: 'enabled',
  debounce_seconds: 'debounceSeconds',
  max_refreshes_per_minute: 'maxRefreshesPerMinute',
};
/** The cases' `redact_secrets` concerns stored results. */
const ARTIFACTS = {
  ttl_seconds: 'ttlSeconds',
  max_bytes: 'maxBytes',
  max_artifacts: 'maxArtifacts',
  redact_secrets: 'maskOnDisk',
};

/** Returns a server in the cases' form: its name is the namespace, and its time limit comes from `timeouts`. */
function upstreamConfig(input: unknown): unknown {
  const { env, spec } = input as { env: NodeJS.ProcessEnv; spec: Json };
  const { namespace, timeout, include_tools: include, exclude_tools: exclude, ...entry } = spec;
  const name = typeof namespace === 'string' && namespace !== '' ? namespace : 'upstream';
  const tools = { ...(include === undefined ? {} : { include }), ...(exclude === undefined ? {} : { exclude }) };
  const config = read(
    {
      servers: { [name]: { ...entry, ...(Object.keys(tools).length > 0 && { tools }) } },
      ...(timeout !== undefined && { timeouts: { servers: { [name]: timeout } } }),
    },
    env,
  );
  const [server] = config.servers;
  if (
    isWrong(config) ||
    !server ||
    server.type === 'static' ||
    (namespace !== undefined && typeof namespace !== 'string')
  )
    return WRONG;
  const seconds = timeout === undefined ? THEIR_TIMEOUT_SECONDS : timeoutsOf(config)[name];
  return {
    ok: {
      type: server.type,
      command: server.type === 'stdio' ? server.command : null,
      args: server.type === 'stdio' ? server.args : [],
      env: server.type === 'stdio' ? server.env : {},
      url: server.type === 'stdio' ? null : server.url,
      headers: 'headers' in server ? server.headers : {},
      namespace: namespace ?? '',
      required: server.required ?? true,
      include_tools: server.tools?.include ?? [],
      exclude_tools: server.tools?.exclude ?? [],
      timeout: seconds,
    },
  };
}

const timeoutsOf = ({ blocks }: LoadedConfig) =>
  (blocks.get('timeouts')?.value as Settings['timeouts'] | undefined)?.servers ?? {};
const THEIR_TIMEOUT_SECONDS = 30;

function upstreamFilter(input: unknown): unknown {
  const { name, include_tools: include, exclude_tools: exclude } = input as Record<string, string[]> & { name: string };
  const { servers } = read({ servers: { one: { command: 'x', tools: { include, exclude } } } });
  return { exposed: isExposed(name, servers[0]?.tools) };
}

export const configOperations: OperationTable = {
  upstream_filters: { 'include/exclude': { run: upstreamFilter } },
  upstream_config: { 'upstreams.<name>': { run: upstreamConfig } },
  startup_policy: {
    'startup block': {
      run: (input) =>
        block('startup', input, STARTUP, {
          mode: 'degraded',
          upstream_timeout_seconds: 10,
          min_healthy_upstreams: 1,
          fail_on_empty_catalog: true,
        }),
    },
  },
  live_refresh_config: {
    'live_refresh block': {
      run: (input) =>
        block('liveRefresh', input, LIVE_REFRESH, {
          enabled: false,
          debounce_seconds: 2,
          max_refreshes_per_minute: 6,
        }),
    },
  },
  artifact_config: {
    'artifacts block': {
      run: (input) =>
        block('artifacts', input, ARTIFACTS, {
          ttl_seconds: null,
          max_bytes: null,
          max_artifacts: null,
          redact_secrets: false,
        }),
    },
  },
  vscode_import: { 'import VS Code mcp.json': { run: importVsCode } },
};
