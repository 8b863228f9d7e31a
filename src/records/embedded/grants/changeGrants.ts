import type { EngineOptions } from '../recordEngine.ts';
import { AGENT_FORMATS, agentLogs } from '../sources/agents/agentLogs.ts';
import { grantedSource } from '../sources/grantedSources.ts';
import type { StreamDeclaration } from '../store/declaration.ts';
import { type GrantSource, grantFile, readGrants, type StoredGrant, writeGrants } from './grantFile.ts';
import { connectionOf, GrantRefused, type GrantWish, newGrant, sourceOf } from './newGrant.ts';

/** Source that is granted or could be, for the user. */
export interface SourceChoice {
  readonly connection: string;
  readonly source: GrantSource;
  readonly grant: StoredGrant | undefined;
  /** Logs that were found, by agent. */
  readonly agents?: readonly { readonly agent: string; readonly folder: string; readonly logs: number }[];
}

/** Lists the history, the agents' logs and the granted folders. */
export function sourceChoices({ stateFolder, home }: EngineOptions): { choices: SourceChoice[]; damaged?: string } {
  const { grants, damaged } = readGrants(stateFolder);
  const grantOf = (id: string): StoredGrant | undefined => grants.find(({ connection }) => connection === id);
  const logs = agentLogs(home);
  const agents = AGENT_FORMATS.map(({ agent, folder }) => ({
    agent,
    folder,
    logs: logs.filter(({ format }) => format.agent === agent).length,
  }));
  const choices: SourceChoice[] = [
    { connection: 'history', source: { kind: 'history' }, grant: grantOf('history') },
    { connection: 'agents', source: { kind: 'agents' }, grant: grantOf('agents'), agents },
    ...grants.flatMap((grant) =>
      grant.source.kind === 'folder' ? [{ connection: grant.connection, source: grant.source, grant }] : [],
    ),
  ];
  return { choices, ...(damaged !== undefined && { damaged }) };
}

/** Returns the streams that a source has now. */
export async function streamsOf(options: EngineOptions, source: GrantSource): Promise<readonly StreamDeclaration[]> {
  const whole = { id: '', connection: connectionOf(source), source, streams: 'all', created: '' } as const;
  return grantedSource(whole, options, () => undefined).streams();
}

/** Grants a source, in place of an earlier grant of it. `from` is the folder that relative paths start at. */
export async function addGrant(options: EngineOptions, wish: GrantWish, from: string): Promise<StoredGrant> {
  const source = sourceOf(wish.subject, from);
  const known = wish.streams.length === 0 ? [] : await streamsOf(options, source);
  const made = newGrant(wish, source, known, new Date());
  const kept = usable(options).filter(({ connection }) => connection !== made.connection);
  writeGrants(options.stateFolder, [...kept, made]);
  return made;
}

/** Revokes the grant of a connection, or of the folder at a path. Its records are removed by the next `purge`. */
export function removeGrant(options: EngineOptions, subject: string, from: string): StoredGrant {
  const grants = usable(options);
  const named = grants.find(({ connection }) => connection === subject) ?? grants.find(isFolder(subject, from));
  if (!named) {
    const ids = grants.map(({ connection }) => connection).join(', ') || 'nothing';
    throw new GrantRefused(`${subject === '' ? 'A connection' : subject} is not granted; granted: ${ids}.`);
  }
  writeGrants(
    options.stateFolder,
    grants.filter((one) => one !== named),
  );
  return named;
}

/** Returns the grants to change. Damaged ones are not overwritten, since nobody knows what they allowed. */
function usable({ stateFolder }: EngineOptions): readonly StoredGrant[] {
  const { grants, damaged } = readGrants(stateFolder);
  if (damaged !== undefined)
    throw new GrantRefused(`${grantFile(stateFolder)} is damaged; remove it, and grant again.`);
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
