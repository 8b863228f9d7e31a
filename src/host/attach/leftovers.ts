import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../lib/isAlive.ts';
import { writerOf } from '../../lib/writeWhole.ts';
import { connectLocal } from '../../link/localSocket.ts';
import { ChildJournal } from '../../upstream/process/childJournal.ts';

const SOCKET = /^[0-9a-f]{16}\.sock$/;
const CONNECT_TIMEOUT_MS = 500;

/** Deletes leftovers of killed workers from a state folder: half-written files, and sockets without a listener. */
export async function sweepLeftovers(folder: string): Promise<void> {
  const names = readdirSync(folder);
  for (const name of names) {
    const writer = writerOf(name);
    if (writer !== undefined && !isAlive(writer)) rmSync(join(folder, name), { force: true });
  }
  const sockets = names.filter((name) => SOCKET.test(name)).map((name) => join(folder, name));
  await Promise.all(
    sockets.map(async (path) => {
      try {
        (await connectLocal(path, CONNECT_TIMEOUT_MS)).on('error', () => undefined).destroy();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') rmSync(path, { force: true });
      }
    }),
  );
}

/** Ends the servers of dead workers and deletes their other leftovers. */
export async function endLeftovers(folder: string): Promise<void> {
  const journal = new ChildJournal(folder);
  await journal.close();
  await sweepLeftovers(folder);
}
