import { rootOf } from '../../config/state/stateFolder.ts';
import type { RecordGrant, RecordOutcome, RecordSourceRow, RecordSources } from '../../control/recordsContract.ts';
import { EmbeddedProvider, engineOptions } from '../../records/embedded/embeddedProvider.ts';
import type { ConnectionStatus } from '../../records/embedded/engineStatus.ts';
import {
  addGrant,
  removeGrant,
  type SourceChoice,
  sourceChoices,
  streamsOf,
} from '../../records/embedded/grants/changeGrants.ts';
import { GrantRefused, sourceOf } from '../../records/embedded/grants/newGrant.ts';
import type { EngineOptions } from '../../records/embedded/recordEngine.ts';
import { RecordStoreError } from '../../records/embedded/store/sqlite.ts';
import { renderConversation } from '../../records/session/conversation.ts';
import { packContext } from '../../records/session/packedContext.ts';
import { readSession, SessionError } from '../../records/session/sessionFile.ts';

/** Tokens of a session that is packed for a question in the editor. */
const PACKED_TOKENS = 8_000;

/** Record sources and recorded sessions for the user, who grants and revokes here; agents read them elsewhere. */
export class RecordDesk {
  readonly #options: EngineOptions;
  readonly #workspace: string;

  constructor({ workspace, stateFolder }: { workspace: string; stateFolder: string }) {
    this.#workspace = workspace;
    this.#options = engineOptions(stateFolder, rootOf(stateFolder));
  }

  async sources(): Promise<RecordSources> {
    const { choices, damaged } = sourceChoices(this.#options);
    // Only a load knows what could not be read; what was loaded before costs it nothing.
    const found = await this.#ask((provider) => provider.refresh());
    const { connections } = 'reason' in found ? { connections: [] } : found;
    const problem = damaged ?? ('reason' in found ? found.reason : undefined);
    return {
      sources: choices.map((choice) => rowOf(choice, connections)),
      ...(problem !== undefined && { problem }),
    };
  }

  async streams(subject: string): Promise<{ streams: readonly string[] } | { reason: string }> {
    return refused(async () => {
      const streams = await streamsOf(this.#options, sourceOf(subject, this.#workspace));
      return { streams: streams.map(({ name }) => name) };
    });
  }

  /** Grants a source, and loads it so that its rows show what there is. */
  async grant({ subject, streams, expires }: RecordGrant): Promise<RecordOutcome> {
    return refused(async () => {
      await addGrant(this.#options, { subject, streams, expires }, this.#workspace);
      const loaded = await this.#ask((provider) => provider.refresh());
      return 'reason' in loaded ? loaded : {};
    });
  }

  async revoke(connection: string): Promise<RecordOutcome> {
    return refused(async () => {
      removeGrant(this.#options, connection, this.#workspace);
      const purged = await this.#ask((provider) => provider.purge());
      return 'reason' in purged ? purged : {};
    });
  }

  async session(file: string, question?: string): Promise<{ text: string } | { reason: string }> {
    return refused(async () => {
      const session = await readSession(file);
      if (question === undefined) return { text: await renderConversation(session) };
      return { text: (await packContext(session, question, PACKED_TOKENS)).text };
    });
  }

  /** Asks the records once. Their thread ends with the answer, because the user looks rarely. */
  async #ask<T>(use: (provider: EmbeddedProvider) => Promise<T>): Promise<T | { reason: string }> {
    const provider = new EmbeddedProvider(this.#options);
    try {
      return await refused(() => use(provider));
    } finally {
      await provider.dispose();
    }
  }
}

/** Returns errors that the user should read as a reason. Others are faults, and pass. */
async function refused<T>(act: () => Promise<T>): Promise<T | { reason: string }> {
  try {
    return await act();
  } catch (error) {
    const isForTheUser =
      error instanceof GrantRefused || error instanceof SessionError || error instanceof RecordStoreError;
    if (isForTheUser) return { reason: error.message };
    throw error;
  }
}

function rowOf({ connection, source, grant }: SourceChoice, loaded: readonly ConnectionStatus[]): RecordSourceRow {
  const { streams = [], malformed = 0, problem } = loaded.find((one) => one.connection === connection) ?? {};
  const { since, until, expires } = grant ?? {};
  return {
    connection,
    kind: source.kind,
    ...(source.kind === 'folder' && { path: source.path }),
    isGranted: grant !== undefined,
    streams: grant === undefined ? [] : streams,
    ...(grant && grant.streams !== 'all' && { limits: grant.streams }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(expires !== undefined && { expires }),
    malformed,
    ...(problem !== undefined && { problem }),
  };
}
