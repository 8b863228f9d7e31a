import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedProvider } from '../../../src/records/embedded/embeddedProvider.ts';
import type { StoredGrant } from '../../../src/records/embedded/grants/grantFile.ts';
import { writeGrants } from '../../../src/records/embedded/grants/grantFile.ts';
import type { EngineOptions } from '../../../src/records/embedded/recordEngine.ts';
import { atEnd } from '../../support/lifetime.ts';
import { temporaryFolder } from '../../support/workspace.ts';

export type Body = Record<string, unknown> & {
  data?: Row[];
  groups?: { key: unknown; count: number; value?: unknown }[];
  value?: unknown;
  error?: Record<string, unknown>;
  meta?: Record<string, unknown>;
};
export type Row = Record<string, unknown> & { data: Record<string, unknown> };

/** State of one workspace with its records, in folders of its own. */
export interface RecordWorld {
  readonly root: string;
  readonly options: EngineOptions;
  readonly home: string;
  write(path: string, text: string): string;
  grant(grants: readonly StoredGrant[]): void;
  /** Opens another provider on the same state. */
  open(): EmbeddedProvider;
  provider: EmbeddedProvider;
  /** Answers a read, given as its address. */
  get(target: string): Promise<{ status: number; body: Body }>;
}

export function recordWorld(): RecordWorld {
  const root = temporaryFolder('waygate-records-');
  const stateFolder = join(root, 'state', 'workspaces', 'w1');
  const home = join(root, 'home');
  for (const folder of [stateFolder, home]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const options = { stateFolder, stateRoot: join(root, 'state'), workspace: 'w1', home };
  const open = (): EmbeddedProvider => {
    const provider = new EmbeddedProvider(options);
    atEnd(() => provider.dispose());
    return provider;
  };
  const world: RecordWorld = {
    root,
    options,
    home,
    write: (path, text) => {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    },
    grant: (grants) => writeGrants(stateFolder, grants),
    open,
    provider: open(),
    get: async (target) => {
      const url = new URL(target, 'http://records.invalid');
      const query = [...url.searchParams] as [string, string][];
      const { status, body } = await world.provider.get({ path: url.pathname, query });
      return { status, body: body as Body };
    },
  };
  return world;
}

export const STATE = 'state/workspaces/w1';

export const ALL_OF = (connection: string, source: StoredGrant['source']): StoredGrant => ({
  id: `grt_${connection}`,
  connection,
  source,
  streams: 'all',
  created: '2026-01-01T00:00:00.000Z',
});

export const jsonLines = (values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
