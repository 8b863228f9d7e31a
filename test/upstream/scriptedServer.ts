import { expect } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import { deferred } from '../../src/lib/deferred.ts';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { UpstreamClient, type UpstreamFailure, UpstreamRequestError } from '../../src/mcp/wire/upstreamClient.ts';
import { ServerCalls } from '../../src/upstream/connection/serverCalls.ts';
import type { RequestOptions } from '../../src/upstream/connection/serverRequest.ts';
import type { Live } from '../../src/upstream/start/serverStart.ts';
import { LinkFailure, type UpstreamLink } from '../../src/upstream/transports/upstreamLink.ts';

export type Json = Record<string, unknown>;
type Reply = (method: string, params: Json, options: RequestOptions) => Promise<Json>;

export const fault = (code: LinkFailure['code'], generation = 1, detail = '') =>
  faultOf(code, { generation, detail }, (text) => text);
export const failing = (failure: UpstreamFailure, code?: number) =>
  new UpstreamRequestError(failure, `it was ${failure}`, code);

export class ScriptedClient extends UpstreamClient {
  gone = false;
  readonly #reply: Reply;

  constructor(reply: Reply) {
    super();
    this.#reply = reply;
  }

  override get closed(): boolean {
    return this.gone;
  }

  override request(method: string, params: Json, options: RequestOptions): Promise<Json> {
    return this.#reply(method, params, options);
  }
}

/** Plays a server for its calls; the test controls starts, ends and answers. */
export class Server {
  readonly calls = new ServerCalls(
    {
      usable: undefined,
      waitUntilReady: () => this.#ready(),
      proved: () => undefined,
      remark: (words) => void this.remarks.push(words),
      faultOf: ({ code, message }) => fault(code, 1, message),
      scrubSecrets: (text) => text.replaceAll('hunter2', '***'),
    },
    new Oddities(),
  );
  readonly remarks: (string | undefined)[] = [];
  readonly losses: string[] = [];
  /** Text for the user about each of `losses`. */
  readonly reasons: string[] = [];
  /** Number of times that a call has asked for a ready server. */
  waits = 0;
  reply: (live: Live, ...request: Parameters<Reply>) => Promise<Json> = async () => ({ ok: true });
  explain = async (): Promise<LinkFailure> => new LinkFailure('explained', 'connection_refused', 9);
  onEnd: (live: Live) => void = () => undefined;
  /** Reason why the server is unavailable, if it is. */
  down: Error | undefined;
  live: Live | undefined;
  #generation = 0;
  #waiting: (() => void)[] = [];
  /** Functions that report the end of each living start. */
  readonly #ends = new Map<Live, () => void>();

  start(): Live {
    this.#generation += 1;
    const generation = this.#generation;
    const client = new ScriptedClient((...request) => this.reply(live, ...request));
    const lost = deferred<LinkFailure>();
    const live: Live = {
      generation,
      client,
      link: {
        pid: undefined,
        explain: () => this.explain(),
      } as unknown as UpstreamLink,
      wasKnown: true,
      lose: ({ code, message }) => {
        if (!this.#ends.has(live)) return;
        this.losses.push(code);
        this.reasons.push(message);
        this.end(live);
      },
      lost: lost.promise,
    };
    this.#ends.set(live, () => lost.resolve(new LinkFailure('ended', 'killed')));
    this.live = live;
    this.calls.opened(live);
    for (const settle of this.#waiting.splice(0)) settle();
    return live;
  }

  end(live: Live): void {
    (live.client as ScriptedClient).gone = true;
    if (this.live === live) this.live = undefined;
    this.#ends.get(live)?.();
    this.#ends.delete(live);
    this.onEnd(live);
    this.calls.lost(live.generation, fault('killed', live.generation));
  }

  #ready(): Promise<void> {
    this.waits += 1;
    if (this.down) return Promise.reject(this.down);
    if (this.live) return new Promise((next) => setImmediate(next));
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

export const WAIT = { timeoutMs: 60_000 };
export const failed = (call: Promise<Json>): Promise<unknown> =>
  call.then(
    (result) => expect.fail(`it was answered: ${JSON.stringify(result)}`),
    (error: unknown) => error,
  );
export const abortable = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
};
export const turns = async (n = 5): Promise<void> => {
  for (let i = 0; i < n; i++) await new Promise((next) => setImmediate(next));
};
