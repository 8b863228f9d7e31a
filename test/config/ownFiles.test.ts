import { chmodSync, chownSync, readdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileSecrets } from '../../src/config/state/fileSecrets.ts';
import { FileTokens } from '../../src/config/state/fileTokens.ts';
import { readPrivateJson, writePrivateJson } from '../../src/config/state/privateFile.ts';
import { acquireStartLock } from '../../src/host/attach/startLock.ts';
import { publishRendezvous, readRendezvous } from '../../src/link/rendezvous.ts';
import { UseMemory } from '../../src/ranking/useMemory.ts';
import { ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { textContent } from '../../src/results/envelope/partContent.ts';
import { PinStore } from '../../src/trust/pins/pinStore.ts';
import { TrustLog } from '../../src/trust/trustLog.ts';
import { CatalogSnapshots } from '../../src/upstream/listing/catalogSnapshots.ts';
import { NOTHING_LISTED } from '../../src/upstream/listing/serverCatalog.ts';
import { stdioConfig } from '../support/connection.ts';
import { temporaryFolder } from '../support/workspace.ts';

const ignore = (): void => undefined;
const pins = (folder: string): PinStore =>
  new PinStore({ folder, now: () => new Date(0), lock: () => ignore } as ConstructorParameters<typeof PinStore>[0]);

const trustLog = (folder: string): TrustLog => new TrustLog({ folder, lock: () => ignore, now: () => new Date(0) });

const ARTIFACT = {
  kind: 'text',
  source: 't',
  content: textContent('x'),
  mediaType: 'text/plain',
  label: 'x',
  owner: 'workspace',
};
let handle = '';

/** Files of the state folder: writes each by its own writer, and reads it by its own reader. */
const FILES: Record<string, { write: (folder: string) => unknown; read: (folder: string) => unknown }> = {
  'worker.json': {
    write: (folder) =>
      publishRendezvous(folder, { link: 1, pid: 7, socket: 's', token: 't', version: 'v', build: 'b', startedAt: 1 }),
    read: (folder) => readRendezvous(folder)?.token,
  },
  'secrets.json': {
    write: (folder) => new FileSecrets(folder, folder).set('a', 'b'),
    read: (folder) => new FileSecrets(folder, folder).get('a'),
  },
  'tokens/a.json': {
    write: (folder) => new FileTokens(folder).set('a', 'b'),
    read: (folder) => new FileTokens(folder).get('a'),
  },
  'lastWorker.json': {
    write: (folder) => writePrivateJson(join(folder, 'lastWorker.json'), { a: 1 }),
    read: (folder) => readPrivateJson(join(folder, 'lastWorker.json')),
  },
  'uses.json': {
    write: (folder) => {
      const memory = new UseMemory(folder, ignore);
      memory.record('read', 'a:b:c#12345678');
      memory.flush();
    },
    read: (folder) => new UseMemory(folder, ignore).history.entries[0],
  },
  'a snapshot': {
    write: (folder) => new CatalogSnapshots(folder, ignore).write(stdioConfig({ name: 'a' }), NOTHING_LISTED),
    read: (folder) => new CatalogSnapshots(folder, ignore).read(stdioConfig({ name: 'a' })),
  },
  'trust.jsonl': {
    write: (folder) => trustLog(folder).add({ actor: 'person-cli', what: 'tool', subject: 'a' }),
    read: (folder) => {
      try {
        return trustLog(folder).entries()[0];
      } catch {
        // A log that another user may have written is an error, and gets no entry.
        expect(() => trustLog(folder).add({ actor: 'person-cli', what: 'tool', subject: 'b' })).toThrow();
        return undefined;
      }
    },
  },
  'start.lock': {
    write: (folder) => writeFileSync(join(folder, 'start.lock'), String(process.pid), { mode: 0o600 }),
    // A lock of a living process holds. Another one is abandoned after a second.
    read: (folder) => {
      utimesSync(join(folder, 'start.lock'), Date.now() / 1_000 - 5, Date.now() / 1_000 - 5);
      return acquireStartLock(folder) === undefined ? 'held' : undefined;
    },
  },
  'an artifact': {
    write: async (folder) => {
      handle = (await new ArtifactStore({ folder }).store(ARTIFACT)).handle;
    },
    read: async (folder) => {
      const reader = await new ArtifactStore({ folder }).open(handle);
      await reader?.close();
      return reader?.info.label;
    },
  },
  'the pins': {
    write: (folder) => pins(folder).update((book) => ({ ...book })),
    read: (folder) => pins(folder).read(),
  },
};

describe.skipIf(process.platform === 'win32').each(Object.keys(FILES))('%s in the state folder', (name) => {
  const { write, read } = FILES[name] as (typeof FILES)[string];

  it('is believed if no other user can have written it', async () => {
    const folder = temporaryFolder('wg-');
    await write(folder);
    expect(await read(folder)).toBeDefined();
    const file = fileIn(folder);
    for (const mode of [0o666, 0o602, 0o620]) {
      chmodSync(file, mode);
      expect(await read(folder), mode.toString(8)).toBeUndefined();
    }
    chmodSync(file, 0o600);
    renameSync(file, `${file}.elsewhere`);
    symlinkSync(`${file}.elsewhere`, file);
    expect(await read(folder), 'a link').toBeUndefined();
    if (process.getuid?.() !== 0) return;
    renameSync(`${file}.elsewhere`, file);
    chownSync(file, 65_534, 65_534);
    expect(await read(folder), 'another user').toBeUndefined();
  });
});

describe('secrets that are not believed', () => {
  it.skipIf(process.platform === 'win32')('are not overwritten by a new one', () => {
    const folder = temporaryFolder('wg-');
    const secrets = new FileSecrets(folder, folder);
    secrets.set('a', 'b');
    chmodSync(secrets.file, 0o664);
    expect(() => secrets.set('c', 'd')).toThrow(/secrets\.json is not used: other users may write it; make it yours/);
    chmodSync(secrets.file, 0o600);
    expect(secrets.names()).toEqual(['a']);
  });
});

/** Returns the path of the one file in a folder. */
function fileIn(folder: string): string {
  const [file] = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  if (!file) throw new Error(`no file in ${folder}`);
  return join(file.parentPath, file.name);
}
