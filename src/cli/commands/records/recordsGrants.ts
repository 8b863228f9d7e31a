import { EmbeddedProvider } from '../../../records/embedded/embeddedProvider.ts';
import type { EngineStatus } from '../../../records/embedded/engineStatus.ts';
import { addGrant, removeGrant, sourceChoices } from '../../../records/embedded/grants/changeGrants.ts';
import { readGrants, type StoredGrant } from '../../../records/embedded/grants/grantFile.ts';
import type { EngineOptions } from '../../../records/embedded/recordEngine.ts';
import { count } from '../../../text/porcelain.ts';
import type { RecordsGrantsCommand } from '../../commands.ts';
import { print } from '../../print.ts';
import { UsageError } from '../../usageError.ts';
import { embeddedOptions } from './defaultProvider.ts';

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

async function grant(command: RecordsGrantsCommand, options: EngineOptions): Promise<number> {
  const { subject, json, workspace } = command;
  if (subject === '') throw new UsageError('waygate records grant needs a source: history, agents, or a folder.');
  const made = await addGrant(options, command, workspace);
  print(json, made, `Granted ${grantWords(made)}.\nUndo: waygate records revoke ${made.connection}\n`);
  return 0;
}

async function revoke({ subject, json, workspace }: RecordsGrantsCommand, options: EngineOptions): Promise<number> {
  if (subject === '') throw new UsageError('waygate records revoke needs a connection; see waygate records sources.');
  const { connection } = removeGrant(options, subject, workspace);
  await withProvider(options, (provider) => provider.purge());
  const text = `Revoked ${connection}, and removed its records. The files that they came from are unchanged.\n`;
  print(json, { revoked: connection }, text);
  return 0;
}

function sources({ json }: RecordsGrantsCommand, options: EngineOptions): number {
  const { choices, damaged } = sourceChoices(options);
  const rows = choices.map(({ connection, source, grant: given, agents }) => ({
    connection,
    granted: given !== undefined,
    what:
      source.kind === 'folder'
        ? source.path
        : (agents?.map(({ agent, logs }) => `${agent} ${count(logs, 'log')}`).join(', ') ??
          'what this gateway did in this workspace'),
  }));
  const lines = rows.map(
    ({ connection, granted, what }) => `${connection}  ${granted ? 'granted' : 'not granted'}  ${what}\n`,
  );
  const next = 'Grant one: waygate records grant history | agents | FOLDER [--stream NAME[=FIELD,…]] [--since 30d]\n';
  const agents = choices.flatMap((choice) => choice.agents ?? []);
  print(
    json,
    { sources: rows, agents, damaged },
    `${damaged === undefined ? '' : `${damaged}\n`}${lines.join('')}${next}`,
  );
  return 0;
}

async function status({ json }: RecordsGrantsCommand, options: EngineOptions): Promise<number> {
  const { grants, damaged } = readGrants(options.stateFolder);
  const state = await withProvider(options, (provider) => provider.refresh());
  const lines = [
    ...(damaged === undefined ? [] : [damaged]),
    ...grants.map((one) => `${one.connection}: ${grantWords(one)}`),
    ...state.connections.flatMap(connectionLines),
    `${state.inMemory ? 'In memory' : state.file}: ${count(Math.ceil(state.bytes / 1024), 'KiB', 'KiB')}${state.rebuilt === undefined ? '' : `, made anew because ${state.rebuilt}`}`,
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

async function withProvider<T>(options: EngineOptions, use: (provider: EmbeddedProvider) => Promise<T>): Promise<T> {
  const provider = new EmbeddedProvider(options);
  try {
    return await use(provider);
  } finally {
    await provider.dispose();
  }
}
