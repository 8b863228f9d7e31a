import { readSync } from 'node:fs';
import type { Socket } from 'node:net';

const CHUNK_BYTES = 64 * 1024;

/**
 * Node closes a socket as soon as it could not write to it, and throws away what the other end had said before it went.
 * `act` comes before that.
 */
export function onWriteFailure(socket: Socket, act: () => void): void {
  const close = socket._destroy.bind(socket);
  socket._destroy = (error, done) => {
    if ((error as NodeJS.ErrnoException | null)?.syscall === 'write') act();
    close(error, done);
  };
}

/** What the other end has said and nobody has read. Whether that was everything: Windows' pipes have no descriptor. */
export function readUnread(socket: Socket, onBytes: (chunk: Buffer) => void): boolean {
  const fd = (socket as { _handle?: { fd?: number } })._handle?.fd ?? -1;
  // What the stream itself holds comes before what the system does.
  if (fd < 0 || socket.readableLength > 0) return false;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    try {
      const bytes = readSync(fd, chunk);
      if (bytes === 0) return true;
      onBytes(chunk.subarray(0, bytes));
    } catch (error) {
      // Who ends with something unread resets its connection: what it has written comes before that.
      return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    }
  }
}
