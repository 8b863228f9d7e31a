import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Length limit of a socket path: `sun_path` holds 104 bytes on macOS and 108 on Linux, including the closing NUL. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Returns a fresh address for a worker: a named pipe on Windows, else a socket in the state folder, or in a private
 * temporary folder where the state folder's path is too long.
 */
export function newSocketAddress(stateFolder: string): { path: string; folder: string | undefined } {
  const name = randomBytes(8).toString('hex');
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\waygate-${name}`, folder: undefined };
  for (const folder of [stateFolder, shortFolder(tmpdir()), shortFolder('/tmp')]) {
    const path = join(folder, `${name}.sock`);
    if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return { path, folder };
  }
  throw new Error(
    `No folder has a path short enough for a socket: ${stateFolder}, ${tmpdir()}; set TMPDIR to a short one.`,
  );
}

function shortFolder(parent: string): string {
  return join(parent, `waygate-${userInfo().uid}`);
}

/** Connects, or rejects without an answer in time. */
export function connectLocal(path: string, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer on ${path} within ${timeoutMs} ms`));
    }, timeoutMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
