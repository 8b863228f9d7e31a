import { homedir } from 'node:os';
import { basename } from 'node:path';
import { ensureWorkspaceState, stateRoot } from '../../../config/state/stateFolder.ts';
import { type GatewayTarget, stateVariant } from '../../../host/attach/startWorker.ts';
import { EmbeddedProvider } from '../../../records/embedded/embeddedProvider.ts';
import type { EngineStatus } from '../../../records/embedded/engineStatus.ts';
import { grantFile, readGrants, type StoredGrant, writeGrants } from '../../../records/embedded/grants/grantFile.ts';
import { connectionOf, newGrant, sourceOf } from '../../../records/embedded/grants/newGrant.ts';
import type { EngineOptions } from '../../../records/embedded/recordEngine.ts';
import { AGENT_FORMATS, agentLogs } from '../../../records/embedded/sources/agents/agentLogs.ts';
import { grantedSource } from '../../../records/embedded/sources/grantedSources.ts';
import { count } from '../../../text/porcelain.ts';
import type { Printed } from '../../commands.ts';
import { print } from '../../print.ts';
import { UsageError } from '../../usageError.ts';

export const RECORDS_ACTIONS = ['grant', 'revoke', 'sources', 'status'] as const;

export interface RecordsGrantsCommand extends GatewayTarget, Printed {
  action: (typeof RECORDS_ACTIONS)[number];
  /** `history`, `agents`, a folder, or with `revoke` the id of a connection. */
  subject: string;
  /** Values of `--stream`: `name`, or `name=field,field`. */
  streams: readonly string[];
  since: string | undefined;
  until: string | undefined;
  expires: string | undefined;
}

/** Options of these actions, in the form of `parseArgs`. */
export const RECORDS_GRANT_OPTIONS = {
  stream: { type: 'string', multiple: true },
  since: { type: 'string' },
  until: { type: 'string' },
  expires: { type: 'string' },
} as const;

/** Grants and revokes what the embedded records may show in this workspace, and shows what there is (`waygate records`). */
export async function recordsGrants(command: RecordsGrantsCommand): Promise<number> {
  const options = embeddedOptions(command);
  switch (command.action) {
    case 'grant':
      return grant(command, options);
    case 'revoke':
      return revoke(command, options);
    case 'sources':
      return sources(command, options);
    case 'status':
      return status(command, options);
  }
}

/** Places of the embedded records of a gateway. */
export function embeddedOptions(target: GatewayTarget): EngineOptions {
  const root = stateRoot();
  const stateFolder = ensureWorkspaceState(target.workspace, root, stateVariant(target));
  return { stateFolder, stateRoot: root, workspace: basename(stateFolder), home: homedir() };
}

async function grant(command: RecordsGrantsCommand, options: EngineOptions): Promise<number> {
  const { subject, json, workspace } = command;
  if (subject === '') throw new UsageError('waygate records grant needs a source: history, agents, or a folder.');
  const source = sourceOf(subject, workspace);
  const ofAll = { id: '', connection: connectionOf(source), source, streams: 'all', created: '' } as const;
  const known = command.streams.length === 0 ? [] : await grantedSource(ofAll, options, () => undefined).streams();
  const made = newGrant(command, source, known, new Date());
  const kept = usable(options).filter(({ connection }) => connection !== made.connection);
  writeGrants(options.stateFolder, [...kept, made]);
  print(json, made, `Granted ${grantWords(made)}.\nUndo: waygate records revoke ${made.connection}\n`);
  return 0;
}

async function revoke({ subject, json, workspace }: RecordsGrantsCommand, options: EngineOptions): Promise<number> {
  const grants = usable(options);
  const named = grants.find(({ connection }) => connection === subject) ?? grants.find(isFolder(subject, workspace));
  if (!named) {
    const ids = grants.map(({ connection }) => connection).join(', ') || 'nothing';
    throw new UsageError(`waygate records revoke needs a connection that is granted: ${ids}.`);
  }
  writeGrants(
    options.stateFolder,
    grants.filter((one) => one !== named),
  );
  await withProvider(options, (provider) => provider.purge());
  const text = `Revoked ${named.connection}, and removed its records. The files that they came from are unchanged.\n`;
  print(json, { revoked: named.connection }, text);
  return 0;
}

function sources({ json }: RecordsGrantsCommand, options: EngineOptions): number {
  const { grants, damaged } = readGrants(options.stateFolder);
  const granted = (id: string): boolean => grants.some(({ connection }) => connection === id);
  const logs = agentLogs(options.home);
  const agents = AGENT_FORMATS.map(({ agent, folder }) => ({
    agent,
    folder,
    logs: logs.filter(({ format }) => format.agent === agent).length,
  }));
  const rows = [
    { connection: 'history', granted: granted('history'), what: 'what this gateway did in this workspace' },
    {
      connection: 'agents',
      granted: granted('agents'),
      what: agents.map(({ agent, logs: found }) => `${agent} ${count(found, 'log')}`).join(', '),
    },
    ...grants.flatMap(({ connection, source }) =>
      source.kind === 'folder' ? [{ connection, granted: true, what: source.path }] : [],
    ),
  ];
  const lines = rows.map(
    ({ connection, granted: is, what }) => `${connection}  ${is ? 'granted' : 'not granted'}  ${what}\n`,
  );
  const next = 'Grant one: waygate records grant history | agents | FOLDER [--stream NAME[=FIELD,…]] [--since 30d]\n';
  print(
    json,
    { sources: rows, agents, damaged },
    `${damaged === undefined ? '' : `${damaged}\n`}${lines.join('')}${next}`,
  );
  return 0;
}

async function status({ json }: RecordsGrantsCommand, options: EngineOptions): Promise<number> {
  const { grants, damaged } = readGrants(options.stateFolder);
  const state = await withProvider(options, (provider) => provider.status());
  const lines = [
    ...(damaged === undefined ? [] : [damaged]),
    ...grants.map((one) => `${one.connection}: ${grantWords(one)}`),
    ...state.connections.flatMap(connectionLines),
    `${state.file}: ${count(Math.ceil(state.bytes / 1024), 'KiB', 'KiB')}${state.rebuilt === undefined ? '' : `, made anew because ${state.rebuilt}`}`,
  ];
  print(json, { grants, damaged, ...state }, `${lines.join('\n')}\n`);
  return damaged === undefined ? 0 : 1;
}

function connectionLines({ connection, streams, malformed, problem }: EngineStatus['connections'][number]): string[] {
  const records = streams.map(({ name, records: total }) => `${name} ${total}`).join(', ');
  return [
    `  ${connection} holds ${records}`,
    ...(malformed > 0 ? [`  ${connection}: ${count(malformed, 'line')} could not be read`] : []),
    ...(problem === undefined ? [] : [`  ${connection}: ${problem}`]),
  ];
}

function grantWords({ source, streams, since, until, expires }: StoredGrant): string {
  const what = source.kind === 'folder' ? source.path : source.kind;
  const parts =
    streams === 'all'
      ? 'all streams'
      : streams.map(({ name, fields }) => (fields === 'all' ? name : `${name} (${fields.join(', ')})`)).join('; ');
  const limits = [
    ...(since === undefined ? [] : [`from ${since}`]),
    ...(until === undefined ? [] : [`before ${until}`]),
    ...(expires === undefined ? [] : [`until the grant ends on ${expires}`]),
  ];
  return [`${what}: ${parts}`, ...limits].join(', ');
}

/** Returns the grants to change. Damaged ones are not overwritten, since nobody knows what they allowed. */
function usable({ stateFolder }: EngineOptions): readonly StoredGrant[] {
  const { grants, damaged } = readGrants(stateFolder);
  if (damaged !== undefined) throw new Error(`${grantFile(stateFolder)} is damaged; remove it, and grant again.`);
  return grants;
}

function isFolder(subject: string, from: string): (grant: StoredGrant) => boolean {
  return ({ source }) => {
    if (subject === '' || source.kind !== 'folder') return false;
    try {
      return connectionOf(sourceOf(subject, from)) === connectionOf(source);
    } catch {
      return false;
    }
  };
}

async function withProvider<T>(options: EngineOptions, use: (provider: EmbeddedProvider) => Promise<T>): Promise<T> {
  const provider = new EmbeddedProvider(options);
  try {
    return await use(provider);
  } finally {
    await provider.dispose();
  }
}
