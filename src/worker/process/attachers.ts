import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensurePrivateFolder } from '../../config/state/stateFolder.ts';
import { type Hello, receiveHello, welcome } from '../../link/linkHandshake.ts';
import { newSocketAddress } from '../../link/localSocket.ts';

/**
 * The worker's socket. Every attacher proves the token first; whoever holds the worker is counted, and when the last
 * has gone the worker may leave after a while.
 */
export interface AttachersOptions {
  stateFolder: string;
  token: string;
  /** How long the worker stays when nobody holds it. */
  lingerMs: number;
  onAttach(socket: Socket, hello: Hello): void;
  onDeserted(): void;
}

const FINISH_MS = 1_000;

export class Attachers {
  readonly #options: AttachersOptions;
  readonly #server: Server;
  readonly #holders = new Set<Socket>();
  readonly #sockets = new Set<Socket>();
  #path = '';
  #expecting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AttachersOptions) {
    this.#options = options;
    this.#server = createServer({ pauseOnConnect: true }, (socket) => void this.#onConnection(socket));
  }

  /** Listens on a fresh address; resolves to it. */
  async listen(): Promise<string> {
    const { path, folder } = newSocketAddress(this.#options.stateFolder);
    if (folder !== undefined) ensurePrivateFolder(folder);
    await new Promise<void>((resolve, reject) => {
      // Beyond the start: no descriptor left for one attacher, who tries again.
      this.#server.on('error', reject).listen(path, () => resolve());
    });
    if (process.platform !== 'win32') chmodSync(path, 0o600);
    this.#path = path;
    return path;
  }

  /** It can be found from now on: where nobody comes for a while it is not needed. */
  expect(): void {
    this.#expecting = true;
    this.#watchDesertion();
  }

  /** Takes no more attachers; those there are stay. */
  refuseNew(): void {
    this.#server.close();
    clearTimeout(this.#timer);
  }

  /** Lets what was written leave, then closes; nobody who does not read keeps it for long. */
  async finish(): Promise<void> {
    this.refuseNew();
    const closed = [...this.#sockets].map((socket) => new Promise<void>((done) => socket.once('close', () => done())));
    for (const socket of this.#sockets) socket.destroySoon();
    await Promise.race([Promise.all(closed), sleep(FINISH_MS, undefined, { ref: false })]);
  }

  close(): void {
    this.refuseNew();
    for (const socket of this.#sockets) {
      // Answers that are held back for a moment have been given all the same.
      while (socket.writableCorked > 0) socket.uncork();
      socket.destroy();
    }
    if (process.platform !== 'win32' && this.#path !== '') rmSync(this.#path, { force: true });
  }

  async #onConnection(socket: Socket): Promise<void> {
    // An error ends in `close`, which is what everybody listens for.
    socket.on('error', () => undefined);
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#holders.delete(socket)) this.#watchDesertion();
    });
    const hello = await receiveHello(socket, this.#options.token);
    if (!hello || socket.destroyed) return;
    if (hello.holds) {
      this.#holders.add(socket);
      clearTimeout(this.#timer);
    }
    welcome(socket);
    this.#options.onAttach(socket, hello);
  }

  #watchDesertion(): void {
    clearTimeout(this.#timer);
    if (!this.#expecting || this.#holders.size > 0 || !this.#server.listening) return;
    this.#timer = setTimeout(() => this.#options.onDeserted(), this.#options.lingerMs);
  }
}
