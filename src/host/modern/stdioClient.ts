import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { INVALID_REQUEST } from '../../errors/rpcCodes.ts';
import { errorResponse, type JsonRpcMessage, type RequestId, requestKey } from '../../link/frames.ts';
import { LineSplitter } from '../../link/lineFraming.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import { StateSeal } from '../../mcp/modern/requestState.ts';
import { claimsModern, MODERN_VERSION } from '../../mcp/modern/wire.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { readClientLine, tooLarge } from '../session/clientLine.ts';
import { ModernClient } from './modernClient.ts';
import type { ModernOptions } from './modernOptions.ts';

export interface StdioClientOptions extends Omit<ModernOptions, 'seal' | 'use' | 'isHttp'> {
  input: Readable;
  output: Writable;
  /** Serves a client that only looked at the modern era and begins a legacy session after all. */
  serveLegacy(input: Readable): Promise<number>;
}

/** Client of revision 2026-07-28 on standard input and output. */
export class StdioClient {
  readonly #options: StdioClientOptions;
  readonly #client: ModernClient;
  /** Open requests by the client's id. */
  readonly #open = new Map<string, Exchange>();
  #legacy: { input: PassThrough; exit: Promise<number> } | undefined;

  constructor(options: StdioClientOptions) {
    this.#options = options;
    const { output } = options;
    // The connection is the client, so a state of another process is worth nothing here.
    const used = new Set<string>();
    const use = (nonce: string): boolean => used.size < used.add(nonce).size;
    const own = { seal: new StateSeal(), use, isHttp: false };
    this.#client = new ModernClient({ ...options, ...own }, 'stdio', () =>
      output.writableNeedDrain ? once(output, 'drain').then(() => undefined) : undefined,
    );
  }

  /** Serves until the input ends. Resolves to an exit code. */
  async run(): Promise<number> {
    const { input, output } = this.#options;
    const splitter = new LineSplitter({
      onLine: (line) => this.#onLine(line),
      onOversize: (prefix, bytes) => output.write(tooLarge(prefix, bytes)),
    });
    await new Promise<void>((resolve) => {
      input.on('data', (chunk: Buffer) => splitter.push(chunk));
      input.once('end', resolve).on('error', () => resolve());
      output.on('error', () => resolve());
    });
    this.#legacy?.input.end();
    return this.#legacy ? this.#legacy.exit : this.#client.end();
  }

  #onLine(line: Buffer): void {
    if (this.#legacy) this.#toLegacy(this.#legacy.input, line);
    else this.#onModernLine(line);
  }

  #onModernLine(line: Buffer): void {
    const read = readClientLine(line);
    if (read.kind === 'refused') this.#options.output.write(read.answer);
    else if (read.kind === 'request') this.#onRequest(read.id, read.message, line);
    else if (read.kind === 'notification') this.#onNotification(read.message);
    this.#pace(this.#client.drained());
  }

  #onRequest(id: RequestId, message: JsonRpcMessage, line: Buffer): void {
    const { output } = this.#options;
    const isLegacy = message.method === 'initialize' && !claimsModern(message);
    if (isLegacy && !this.#client.begun) this.#beginLegacy(line);
    else if (isLegacy) output.write(errorResponse(id, INVALID_REQUEST, CHANGES_ERA));
    else if (this.#open.has(requestKey(id))) {
      output.write(errorResponse(id, INVALID_REQUEST, `Request id ${visibleJson(id)} is in flight already.`));
    } else this.#client.request(message, this.#exchange(id));
  }

  #exchange(id: RequestId): Exchange {
    const { output } = this.#options;
    const key = requestKey(id);
    const exchange: Exchange = {
      id,
      notify: (frame) => void output.write(frame),
      answer: (frame) => {
        this.#open.delete(key);
        output.write(frame);
      },
    };
    this.#open.set(key, exchange);
    return exchange;
  }

  #onNotification({ method, params }: JsonRpcMessage): void {
    if (method !== 'notifications/cancelled') return;
    const { requestId } = params ?? {};
    const key = typeof requestId === 'string' || typeof requestId === 'number' ? requestKey(requestId) : '';
    const exchange = this.#open.get(key);
    if (!exchange) return;
    this.#open.delete(key);
    this.#client.cancel(exchange);
  }

  /** Hands the connection over. A client may ask `server/discover` only to learn that it wants the other era. */
  #beginLegacy(line: Buffer): void {
    const input = new PassThrough();
    this.#legacy = { input, exit: this.#options.serveLegacy(input) };
    this.#toLegacy(input, line);
  }

  #toLegacy(input: PassThrough, line: Buffer): void {
    if (!input.write(Buffer.concat([line, NEWLINE]))) this.#pace(once(input, 'drain').then(() => undefined));
  }

  /** Reads on when what came so far has been taken. */
  #pace(drained: Promise<void> | undefined): void {
    if (!drained) return;
    this.#options.input.pause();
    void drained.then(() => this.#options.input.resume());
  }
}

const NEWLINE = Buffer.from('\n');
const CHANGES_ERA = `This connection speaks ${MODERN_VERSION}, which has no initialize; begin another connection for an earlier revision.`;
