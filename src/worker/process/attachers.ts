import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensurePrivateFolder } from '../../config/state/stateFolder.ts';
import { type Hello, receiveHello, welcome } from '../../link/linkHandshake.ts';
import { newSocketAddress } from '../../link/localSocket.ts';

/**
 * Options of the worker's socket. Every client proves the token first. The worker counts the clients that hold it, and
 * may leave some time after the last one has gone.
 */
export interface AttachersOptions {
  stateFolder: string;
  token: string;
  /** Time that the worker stays without a holder. */
  lingerMs: number;
  onAttach(socket: Socket, hello: Hello): void;
  onUnattended(): void;
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

  /** Listens on a fresh address and resolves to it. */
  async listen(): Promise<string> {
    const { path, folder } = newSocketAddress(this.#options.stateFolder);
    if (folder !== undefined) ensurePrivateFolder(folder);
    await new Promise<void>((resolve, reject) => {
      // A later error means that a connection got no file descriptor; its client tries again.
      this.#server.on('error', reject).listen(path, () => resolve());
    });
    if (process.platform !== 'win32') chmodSync(path, 0o600);
    this.#path = path;
    return path;
  }

  /** Starts the linger timer when the worker is published: without clients it will leave. */
  expectClients(): void {
    this.#expecting = true;
    this.#armLinger();
  }

  /** Refuses new clients; attached ones stay. */
  refuseNew(): void {
    this.#server.close();
    clearTimeout(this.#timer);
  }

  /** Sends pending data, then closes, within a short time limit for clients that do not read. */
  async finish(): Promise<void> {
    this.refuseNew();
    const closed = [...this.#sockets].map((socket) => new Promise<void>((done) => socket.once('close', () => done())));
    for (const socket of this.#sockets) socket.destroySoon();
    await Promise.race([Promise.all(closed), sleep(FINISH_MS, undefined, { ref: false })]);
  }

  close(): void {
    this.refuseNew();
    for (const socket of this.#sockets) {
      // Answers in a corked socket count as sent.
      while (socket.writableCorked > 0) socket.uncork();
      socket.destroy();
    }
    if (process.platform !== 'win32' && this.#path !== '') rmSync(this.#path, { force: true });
  }

  async #onConnection(socket: Socket): Promise<void> {
    // A `close` event follows every error.
    socket.on('error', () => undefined);
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#holders.delete(socket)) this.#armLinger();
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

  #armLinger(): void {
    clearTimeout(this.#timer);
    if (!this.#expecting || this.#holders.size > 0 || !this.#server.listening) return;
    this.#timer = setTimeout(() => this.#options.onUnattended(), this.#options.lingerMs);
  }
}
