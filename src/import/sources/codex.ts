import { isRecord } from '../../lib/isRecord.ts';
import type { RawServer } from '../readEntry.ts';
import { looksLikeReference, MEANT_LITERALLY, type Translator } from '../references.ts';
import { type ClientSource, parseTomlTable, readServers } from '../sourceFile.ts';
import { inWorkspace, movable, placesOf } from '../surroundings.ts';

/** Codex: tables `[mcp_servers.NAME]`, with separate lists of environment variables. */
export const codex: ClientSource = {
  id: 'codex',
  title: 'Codex',

  places: (at) =>
    placesOf('Codex', {
      workspace: inWorkspace(at, '.codex', 'config.toml'),
      user: movable(at, 'CODEX_HOME', ['.codex'], 'config.toml'),
    }),

  parse(text, scope) {
    const table = parseTomlTable(text).mcp_servers;
    return { ...readServers(table, { path: ['mcp_servers'], references: asWritten, scope, normalise }), inputs: [] };
  },
};

/** Codex resolves no references; `normalise` wrote all that are in the texts. */
const asWritten: Translator = (text) => ({ text, notes: [] });

function normalise(raw: RawServer): { raw: RawServer; notes?: readonly string[] } {
  const { enabled, env_vars, http_headers, env_http_headers, bearer_token_env_var, tools, ...given } = raw;
  const { default_tools_approval_mode: mode, ...others } = given;
  const modes = [mode, ...Object.values(record(tools)).map((tool) => record(tool).approval_mode)];
  // Codex asks nothing in the modes `auto` and `approve`.
  const isFree = modes.every((one) => one === undefined || one === 'auto' || one === 'approve');
  const rest = isFree ? others : { ...others, 'approval mode': modes.find((one) => one !== undefined) };
  const env = { ...fromEnvironment(namesIn(env_vars)), ...record(rest.env) };
  const headers = {
    ...record(http_headers),
    ...fromEnvironment(Object.entries(record(env_http_headers)).map(([header, name]) => [header, String(name)])),
    ...(typeof bearer_token_env_var === 'string' && { Authorization: `Bearer \${env:${bearer_token_env_var}}` }),
  };
  const literal = looksLikeReference(JSON.stringify([rest, http_headers]));
  return {
    raw: {
      ...rest,
      ...(Object.keys(env).length > 0 && { env }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(enabled === false && { disabled: true }),
    },
    ...(literal && { notes: [MEANT_LITERALLY] }),
  };
}

/** Reads `env_vars`, a list of names or of tables with a `name`. */
function namesIn(list: unknown): [string, string][] {
  if (!Array.isArray(list)) return [];
  return list
    .map((item: unknown) => (isRecord(item) ? item.name : item))
    .filter((name): name is string => typeof name === 'string')
    .map((name) => [name, name]);
}

function fromEnvironment(names: readonly [string, string][]): Record<string, string> {
  return Object.fromEntries(names.map(([key, variable]) => [key, `\${env:${variable}}`]));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
