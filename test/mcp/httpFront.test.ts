import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { EmptyResultSchema, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HttpFront, type HttpFrontOptions } from '../../src/mcp/http/httpFront.ts';
import { HttpGuard } from '../../src/mcp/http/httpGuard.ts';
import type { HttpSession } from '../../src/mcp/http/httpSession.ts';
import { LineTransport } from '../../src/mcp/session/mcpTransport.ts';
import { until } from '../support/hostProcess.ts';
import { events, INITIALIZE, JSON_HEADERS, McpHttpClient, messages, rawRequest } from '../support/mcpHttp.ts';

/** The SDK's server on a session of the front, with methods that show the route of each message. */
class ServedSession {
  readonly session: HttpSession;
  readonly server = new Server({ name: 'served', version: '1' }, { capabilities: { logging: {} } });
  readonly cancelled: string[] = [];
  ended = false;
  release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  constructor(session: HttpSession) {
    this.session = session;
    this.server.fallbackRequestHandler = async ({ method, params }, extra) => {
      if (method === 'whoami') return { session: session.id, params };
      if (method === 'announce') {
        await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'related' } });
        return {};
      }
      if (method === 'ask') return extra.sendRequest({ method: 'ping' }, EmptyResultSchema);
      if (method === 'wait') {
        extra.signal.addEventListener('abort', () => this.cancelled.push(String(extra.requestId)));
        await this.#released;
        return { waited: true };
      }
      if (method === 'large') return { text: 'x'.repeat(Number(params?.chars)) };
      throw new McpError(ErrorCode.MethodNotFound, `no method ${method}`);
    };
  }

  async run(): Promise<void> {
    const { input, output } = this.session;
    const transport = new LineTransport({ input, output, marksRelated: true });
    const closed = new Promise<void>((resolve) => {
      this.server.onclose = resolve;
    });
    await this.server.connect(transport);
    await closed;
    this.ended = true;
  }
}

const running = (served: readonly ServedSession[]): number => served.filter(({ ended }) => !ended).length;

interface Running {
  url: string;
  front: HttpFront;
  served: ServedSession[];
}

async function start(options: Partial<HttpFrontOptions> = {}): Promise<Running> {
  const served: ServedSession[] = [];
  const front = new HttpFront({
    port: 0,
    onSession: (session) => {
      const one = new ServedSession(session);
      served.push(one);
      return one.run();
    },
    ...options,
  });
  const url = await front.listen();
  onTestFinished(() => front.close());
  return { url, front, served };
}

/**
 * Holds the clock for idle times, because a busy machine may take long between two requests; the result advances it.
 */
function heldTime(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}

const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE });

async function sentence(response: Response): Promise<string> {
  const { error, id } = (await response.json()) as { error: { message: string }; id?: unknown };
  expect(id).toBeUndefined();
  return error.message;
}

describe('a session over HTTP', () => {
  it('begins with initialize, is identified by its id, and ends with DELETE', async () => {
    const { url, served } = await start();
    const first = await new McpHttpClient(url).post(initialize);
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('text/event-stream');
    const id = first.headers.get('mcp-session-id') ?? '';
    expect(id).toMatch(/^[\x21-\x7e]{32,}$/);
    expect((await messages(first)).at(-1)).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
    const client = new McpHttpClient(url, { 'mcp-session-id': id });
    expect((await client.post({ method: 'notifications/initialized' })).status).toBe(202);
    expect(await client.request('whoami')).toMatchObject({ result: { session: id } });
    expect(running(served)).toBe(1);
    expect((await client.delete()).status).toBe(204);
    for (const gone of [client.post({ id: 9, method: 'ping' }), client.get(), client.delete()]) {
      expect((await gone).status).toBe(404);
    }
    await until('its end', () => running(served) === 0);
  });

  it('is refused without an id (400), and with an unknown one (404)', async () => {
    const { url, served } = await start();
    const stranger = new McpHttpClient(url);
    for (const response of [stranger.post({ id: 1, method: 'tools/list' }), stranger.get(), stranger.delete()]) {
      expect((await response).status).toBe(400);
    }
    const pretender = new McpHttpClient(url, { 'mcp-session-id': 'no-such-session' });
    for (const response of [pretender.post(initialize), pretender.get(), pretender.delete()]) {
      expect((await response).status).toBe(404);
    }
    expect(served).toHaveLength(0);
  });

  it('rejects invalid requests, each with its own status and one sentence', async () => {
    const { url, served } = await start();
    const client = await McpHttpClient.connect(url);
    const refusals: [Promise<Response>, number, RegExp][] = [
      [client.post('{"jsonrpc":'), 400, /not JSON/],
      [client.post('"text"'), 400, /one JSON-RPC message/],
      [client.post('{"jsonrpc":"2.0"}'), 400, /neither a request/],
      [client.post('{"jsonrpc":"2.0","id":null,"method":"ping"}'), 400, /neither a request/],
      [client.post('[{"jsonrpc":"2.0","id":1,"method":"ping"}]'), 400, /batches/],
      [client.post({ id: 1, method: 'ping' }, { 'content-type': 'text/plain' }), 415, /application\/json/],
      [client.post({ id: 1, method: 'ping' }, { accept: 'application/json' }), 406, /text\/event-stream/],
      [client.get({ accept: 'application/json' }), 406, /text\/event-stream/],
      [client.post({ id: 1, method: 'ping' }, { 'mcp-protocol-version': '1999-01-01' }), 400, /2025-11-25/],
      [fetch(url, { method: 'PUT' }), 405, /POST, GET and DELETE/],
      [fetch(`${url}/other`), 404, /MCP is at \/mcp/],
    ];
    for (const [response, status, words] of refusals) {
      expect({ status: (await response).status, words: await sentence(await response) }).toEqual({
        status,
        words: expect.stringMatching(words),
      });
    }
    expect(served).toHaveLength(1);
    expect(await client.request('ping')).toMatchObject({ result: {} });
  });

  it('accepts a batch in the revision that has them', async () => {
    const { url } = await start();
    const client = await McpHttpClient.connect(url, { protocolVersion: '2025-03-26' });
    const batch = [
      { jsonrpc: '2.0', id: 'a', method: 'whoami' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'b', method: 'whoami' },
    ];
    const answers = await messages(await client.post(batch));
    expect(answers.map(({ id }) => id).sort()).toEqual(['a', 'b']);
  });

  it('accepts a message on several lines', async () => {
    const { url } = await start();
    const client = await McpHttpClient.connect(url);
    const pretty = JSON.stringify(
      { jsonrpc: '2.0', id: 1, method: 'whoami', params: { text: 'a\nb' } },
      null,
      '\r\n  ',
    );
    expect((await messages(await client.post(pretty))).at(-1)).toMatchObject({ result: { params: { text: 'a\nb' } } });
  });

  it('rejects an id that is in flight, and answers the first', async () => {
    const { url, served } = await start();
    const client = await McpHttpClient.connect(url);
    const first = await client.post({ id: 7, method: 'wait' });
    expect((await client.post({ id: 7, method: 'whoami' })).status).toBe(400);
    // The number and the string are two ids.
    expect(await client.request('whoami', {}, '7')).toMatchObject({ id: '7' });
    served[0]?.release();
    expect((await messages(first)).at(-1)).toMatchObject({ id: 7, result: { waited: true } });
  });

  it('has a limit of requests in flight, and of unread bytes', async () => {
    const { url, served } = await start({ limits: { requests: 2 } });
    const client = await McpHttpClient.connect(url);
    const waiting = [await client.post({ id: 1, method: 'wait' }), await client.post({ id: 2, method: 'wait' })];
    expect((await client.post({ id: 3, method: 'ping' })).status).toBe(503);
    served[0]?.release();
    await Promise.all(waiting.map(messages));
    expect(await client.request('ping')).toMatchObject({ result: {} });
    let stop = (): void => undefined;
    const never = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const deaf = await start({ limits: { unreadBytes: 50_000 }, onSession: () => never });
    // Runs before its front closes, which waits for it.
    onTestFinished(() => stop());
    const opened = await new McpHttpClient(deaf.url).post(initialize);
    const unheard = new McpHttpClient(deaf.url, { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' });
    const notification = { method: 'notifications/x', params: { text: 'x'.repeat(20_000) } };
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await unheard.post(notification)).status);
    expect(statuses.at(0)).toBe(202);
    expect(statuses.at(-1)).toBe(503);
  });

  it('rejects a body beyond the limit, declared or not, and continues', async () => {
    const { url, served } = await start({ limits: { bodyBytes: 1_000 } });
    const client = await McpHttpClient.connect(url);
    const large = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'whoami', params: { text: 'x'.repeat(2_000) } });
    expect((await client.post(large)).status).toBe(413);
    const undeclared = await rawRequest(url, {
      headers: { ...client.headers, 'transfer-encoding': 'chunked' },
      body: large,
    });
    expect(undeclared.status).toBe(413);
    expect(await client.request('ping')).toMatchObject({ result: {} });
    expect(served).toHaveLength(1);
  });

  it('never shows a client the answers of another', async () => {
    const { url, served } = await start();
    const clients = await Promise.all(Array.from({ length: 8 }, () => McpHttpClient.connect(url)));
    // All at once, with the same ids.
    const answers = await Promise.all(
      clients.flatMap((client) => [1, 2, 3].map((id) => client.exchange('whoami', { from: client.headers }, id))),
    );
    for (const [i, exchanged] of answers.entries()) {
      const session = clients[Math.floor(i / 3)]?.headers['mcp-session-id'];
      expect(exchanged).toEqual([
        expect.objectContaining({ id: (i % 3) + 1, result: { session, params: expect.anything() } }),
      ]);
    }
    expect(served).toHaveLength(8);
    // A message that belongs to no request reaches only the listener of its own session.
    const listeners = await Promise.all(clients.map((client) => client.get()));
    for (const { server, session } of served) await server.sendLoggingMessage({ level: 'info', data: session.id });
    await Promise.all(clients.map((client) => client.delete()));
    for (const [i, listener] of listeners.entries()) {
      const own = clients[i]?.headers['mcp-session-id'];
      expect(await messages(listener)).toEqual([expect.objectContaining({ params: { level: 'info', data: own } })]);
    }
  });

  it('does not let one session resume the stream of another', async () => {
    const { url, served } = await start();
    const [mine, other] = [await McpHttpClient.connect(url), await McpHttpClient.connect(url)];
    const abort = new AbortController();
    const cut = await mine.post({ id: 1, method: 'wait' }, {}, abort.signal);
    const { value } = await events(cut).next();
    abort.abort();
    served[0]?.release();
    await until('the answer is kept', async () => {
      const back = await mine.get({ 'last-event-id': value?.id ?? '' });
      return (await messages(back)).length === 1;
    });
    const theirs = await other.get({ 'last-event-id': value?.id ?? '' });
    expect(theirs.status).toBe(400);
  });

  it('ends after the idle time, but not while a stream is open', async () => {
    const pass = heldTime();
    const { url, served } = await start({ limits: { idleMs: 100, tendMs: 20 } });
    const listening = await McpHttpClient.connect(url);
    const listener = await listening.get();
    const silent = await McpHttpClient.connect(url);
    pass(101);
    await until('the silent session has gone', () => running(served) === 1);
    expect((await silent.post({ id: 1, method: 'ping' })).status).toBe(404);
    expect(await listening.request('ping')).toMatchObject({ result: {} });
    await listener.body?.cancel();
    await until('the other as well', () => {
      pass(20);
      return running(served) === 0;
    });
  });

  it('belongs to a limited number; an idle one gives its place to a new one', async () => {
    const pass = heldTime();
    const { url, served } = await start({ limits: { sessions: 2, idleMs: 100, tendMs: 60_000 } });
    const busy = await McpHttpClient.connect(url);
    await busy.get();
    const idle = await McpHttpClient.connect(url);
    const refused = await new McpHttpClient(url).post(initialize);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    pass(101);
    const next = await McpHttpClient.connect(url);
    expect(await next.request('ping')).toMatchObject({ result: {} });
    expect((await idle.post({ id: 1, method: 'ping' })).status).toBe(404);
    expect(await busy.request('ping')).toMatchObject({ result: {} });
    expect(running(served)).toBe(2);
  });

  it('does not begin while the front ends', async () => {
    const { url, front, served } = await start();
    const late = httpRequest(url, { method: 'POST', headers: { ...JSON_HEADERS, expect: '100-continue' } });
    late.flushHeaders();
    await once(late, 'continue');
    const closed = front.close();
    late.on('error', () => undefined).end(initialize);
    await closed;
    expect(served).toEqual([]);
  });

  it('ends with its front, together with its open streams', async () => {
    const { url, front } = await start();
    const client = await McpHttpClient.connect(url);
    const listener = await client.get();
    await front.close();
    expect(await messages(listener)).toEqual([]);
    await expect(client.post({ id: 1, method: 'ping' })).rejects.toThrow();
  });
});

describe('the streams of a session', () => {
  it('carry messages of a request with its answer, and all others to the listener', async () => {
    const { url, served } = await start();
    const client = await McpHttpClient.connect(url);
    // Sent before a listener exists, so the message waits.
    await served[0]?.server.sendLoggingMessage({ level: 'info', data: 'unrelated' });
    expect(await client.exchange('announce')).toEqual([
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'related' } },
      { jsonrpc: '2.0', id: expect.anything(), result: {} },
    ]);
    const listener = await client.get();
    await client.delete();
    expect(await messages(listener)).toEqual([
      expect.objectContaining({ params: { level: 'info', data: 'unrelated' } }),
    ]);
  });

  it("carry the server's question within a request, and the client's answer to it", async () => {
    const { url } = await start();
    const client = await McpHttpClient.connect(url);
    const stream = events(await client.post({ id: 'asking', method: 'ask' }));
    const seen: unknown[] = [];
    for await (const { data } of stream) {
      if (data === '') continue;
      const message = JSON.parse(data) as { id: number; method?: string };
      seen.push(message);
      if (message.method === 'ping') expect((await client.post({ id: message.id, result: {} })).status).toBe(202);
    }
    expect(seen).toEqual([expect.objectContaining({ method: 'ping' }), { jsonrpc: '2.0', id: 'asking', result: {} }]);
  });

  it('begin with an event from which to reconnect, if the revision has that', async () => {
    const { url } = await start();
    const client = await McpHttpClient.connect(url);
    const first = await events(await client.post({ id: 1, method: 'ping' })).next();
    expect(first.value).toEqual({ id: expect.stringMatching(/^\d+-0$/), data: '', retry: 1_000 });
    const older = await McpHttpClient.connect(url, { protocolVersion: '2025-06-18' });
    const only = await events(await older.post({ id: 1, method: 'ping' })).next();
    expect(JSON.parse(only.value?.data ?? '')).toMatchObject({ id: 1, result: {} });
  });

  it('are kept for a client that reconnects: the events after its last one, once each', async () => {
    const { url, served } = await start();
    const client = await McpHttpClient.connect(url);
    const abort = new AbortController();
    const cut = await client.post({ id: 1, method: 'wait' }, {}, abort.signal);
    const { value: primed } = await events(cut).next();
    abort.abort();
    // The lost connection cancels nothing: the call continues and ends meanwhile.
    const back = await client.get({ 'last-event-id': primed?.id ?? '' });
    served[0]?.release();
    const all: { id: string; data: string }[] = [];
    for await (const event of events(back)) if (event.data !== '') all.push(event);
    expect(all.map(({ data }) => JSON.parse(data))).toEqual([{ jsonrpc: '2.0', id: 1, result: { waited: true } }]);
    expect(served[0]?.cancelled).toEqual([]);
    // Again, from the beginning and from the end.
    expect(await messages(await client.get({ 'last-event-id': primed?.id ?? '' }))).toHaveLength(1);
    expect(await messages(await client.get({ 'last-event-id': all[0]?.id ?? '' }))).toEqual([]);
  });

  it('keep messages between two listeners', async () => {
    const { url, served } = await start();
    const client = await McpHttpClient.connect(url);
    const abort = new AbortController();
    const listener = events(await client.get({}, abort.signal));
    const { value: primed } = await listener.next();
    const say = (data: string) => served[0]?.server.sendLoggingMessage({ level: 'info', data });
    await say('one');
    const { value: one } = await listener.next();
    abort.abort();
    await say('two');
    const back = await client.get({ 'last-event-id': one?.id ?? '' });
    await say('three');
    await client.delete();
    const heard = (await messages(back)).map((message) => (message as { params?: { data: string } }).params?.data);
    expect(heard).toEqual(['two', 'three']);
    expect(primed?.data).toBe('');
  });

  it('are replaced by a newer listener, because the older connection may be dead', async () => {
    const { url, served } = await start();
    const client = await McpHttpClient.connect(url);
    const older = await client.get();
    const newer = await client.get();
    await served[0]?.server.sendLoggingMessage({ level: 'info', data: 'news' });
    expect(await messages(older)).toEqual([]);
    await client.delete();
    expect(await messages(newer)).toHaveLength(1);
  });

  it('are kept within a limit, and the client learns when they are not kept any more', async () => {
    const { url } = await start({ limits: { keptChars: 10_000 } });
    const client = await McpHttpClient.connect(url);
    const first = events(await client.post({ id: 1, method: 'large', params: { chars: 1_000 } }));
    const { value: primed } = await first.next();
    await first.next();
    await client.exchange('large', { chars: 9_500 });
    const gone = await client.get({ 'last-event-id': primed?.id ?? '' });
    expect(gone.status).toBe(400);
    expect(await sentence(gone)).toMatch(/send its request again/);
    // A connected client gets even more than the session ever keeps.
    const large = await client.request('large', { chars: 50_000 });
    expect(large.result?.text).toHaveLength(50_000);
    for (const nonsense of ['x', '-1', '99-1', '1-', '1-99999999999999999999']) {
      expect((await client.get({ 'last-event-id': nonsense })).status).toBe(400);
    }
  });

  it('end with the cancellation of their request', async () => {
    const { url, served } = await start();
    const client = await McpHttpClient.connect(url);
    const doomed = await client.post({ id: 'doomed', method: 'wait' });
    await client.post({ method: 'notifications/cancelled', params: { requestId: 'doomed' } });
    expect(await messages(doomed)).toEqual([]);
    await until('the cancellation', () => served[0]?.cancelled.includes('doomed'));
  });

  it('are dropped if no client reconnects in time', async () => {
    const { url } = await start({ limits: { keepMs: 30, tendMs: 10 } });
    const client = await McpHttpClient.connect(url);
    const all = events(await client.post({ id: 1, method: 'whoami' }));
    const { value: primed } = await all.next();
    await until('its end', async () => (await client.get({ 'last-event-id': primed?.id ?? '' })).status === 400);
    expect(await client.request('ping')).toMatchObject({ result: {} });
  });

  it('are kept alive while nothing happens', async () => {
    const { url } = await start({ limits: { tendMs: 10 } });
    const listener = await (await McpHttpClient.connect(url)).get();
    let text = '';
    for await (const chunk of (listener.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.split('\n\n').includes(': ')) break;
    }
    expect(text).toMatch(/^id: 0-0\n/);
  });

  it('disconnect a client that does not read, which may reconnect for the rest', async () => {
    const { url, served } = await start({ limits: { stallMs: 50, keptChars: 64 * 1024 * 1024 } });
    const client = await McpHttpClient.connect(url);
    const response = await client.get();
    const { server, session } = served[0] as ServedSession;
    const data = 'x'.repeat(256 * 1024);
    let sent = 0;
    while (!session.output.writableNeedDrain) {
      void server.sendLoggingMessage({ level: 'info', data });
      sent += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until('the session to go on', () => !session.output.writableNeedDrain);
    await expect(messages(response)).rejects.toThrow();
    const back = await client.get({ 'last-event-id': '0-0' });
    await client.delete();
    expect(await messages(back)).toHaveLength(sent);
  });

  it('make their server wait while the client does not read, and lose nothing', async () => {
    const { url, served } = await start();
    const client = await McpHttpClient.connect(url);
    const response = await client.get();
    const { server, session } = served[0] as ServedSession;
    const data = 'x'.repeat(256 * 1024);
    let sent = 0;
    while (!session.output.writableNeedDrain && sent < 1_000) {
      void server.sendLoggingMessage({ level: 'info', data });
      sent += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(1_000);
    let heard = 0;
    for await (const event of events(response)) {
      if (event.data !== '') heard += 1;
      if (heard === sent) break;
    }
    await until('room', () => !session.output.writableNeedDrain);
    expect(await client.request('ping')).toMatchObject({ result: {} });
  });
});

describe('access over HTTP', () => {
  const port = (url: string): string => new URL(url).port;

  it.each([
    ['a name that resolves to this machine', (url: string) => ({ host: `evil.example.com:${port(url)}` })],
    ['a name that begins like an allowed one', (url: string) => ({ host: `127.0.0.1.evil.example:${port(url)}` })],
    ['a name with a user in it', (url: string) => ({ host: `localhost@evil.example:${port(url)}` })],
    ['a page of another site', () => ({ origin: 'https://evil.example.com' })],
    ['a page of another port', () => ({ origin: 'http://127.0.0.1:1' })],
    ['a page without an origin', () => ({ origin: 'null' })],
    ['a page of another scheme', (url: string) => ({ origin: `https://127.0.0.1:${port(url)}` })],
    ['a scheme that nobody knows', (url: string) => ({ origin: `x://127.0.0.1:${port(url)}` })],
    ['a page of another name of this machine', (url: string) => ({ origin: `http://localhost:${port(url)}` })],
    ['an origin with a path', (url: string) => ({ origin: `http://127.0.0.1:${port(url)}/` })],
    ['an empty origin', () => ({ origin: '' })],
    ['a name with a query', () => ({ host: 'localhost?x' })],
    ['a name with a fragment', (url: string) => ({ host: `localhost:${port(url)}#x` })],
    ['a name with a path', () => ({ host: 'localhost/' })],
    ['a name with a backslash', () => ({ host: 'localhost\\x' })],
    ['a number that is an address', (url: string) => ({ host: `2130706433:${port(url)}` })],
    ['no name', (url: string) => ({ host: `:${port(url)}` })],
    [
      'a page after DNS rebinding',
      (url: string) => ({ host: `e.example:${port(url)}`, origin: `http://e.example:${port(url)}` }),
    ],
  ])('is refused for %s (403), with or without token', async (_who, headers) => {
    const token = 'a-token-of-the-test';
    const { url, served } = await start({ token });
    const authorization = `Bearer ${token}`;
    const answer = await rawRequest(url, { headers: { ...headers(url), authorization }, body: initialize });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { message: expect.stringContaining('does not answer') } });
    expect(served).toHaveLength(0);
  });

  it.each([
    ['localhost', (url: string) => ({ host: `localhost:${port(url)}` })],
    ['a forwarded port', () => ({ host: 'localhost:1234', origin: 'http://localhost:1234' })],
    ['its own page', (url: string) => ({ origin: `http://127.0.0.1:${port(url)}` })],
    ['IPv6', (url: string) => ({ host: `[::1]:${port(url)}` })],
    ['an allowed name', () => ({ host: 'Gateway.Internal', origin: 'http://gateway.internal' })],
  ])('is allowed for %s', async (_who, headers) => {
    const { url, served } = await start({ allowedHosts: ['gateway.internal'] });
    expect((await rawRequest(url, { headers: headers(url), body: initialize })).status).toBe(200);
    expect(served).toHaveLength(1);
  });

  it('requires the token on every request', async () => {
    const token = 'a-token-of-the-test';
    const { url, served } = await start({ token, limits: { wrongTokenMs: 1 } });
    const client = await McpHttpClient.connect(url, {}, token);
    expect(await client.request('ping')).toMatchObject({ result: {} });
    const session = { 'mcp-session-id': client.headers['mcp-session-id'] as string };
    for (const [authorization, challenge] of [
      [undefined, 'Bearer realm="waygate"'],
      ['Bearer wrong', 'Bearer realm="waygate", error="invalid_token"'],
      [`Bearer ${token}x`, 'Bearer realm="waygate", error="invalid_token"'],
      [`Basic ${token}`, 'Bearer realm="waygate"'],
      ['Bearer', 'Bearer realm="waygate"'],
    ] as const) {
      const stranger = new McpHttpClient(url, authorization === undefined ? session : { ...session, authorization });
      for (const response of [
        await stranger.post({ id: 1, method: 'ping' }),
        await stranger.get(),
        await stranger.delete(),
      ]) {
        expect(response.status).toBe(401);
        expect(response.headers.get('www-authenticate')).toBe(challenge);
        expect(await sentence(response)).not.toContain(token);
      }
    }
    expect(running(served)).toBe(1);
    const lowerCase = new McpHttpClient(url, { ...session, authorization: `bearer ${token}` });
    expect(await lowerCase.request('ping')).toMatchObject({ result: {} });
  });

  it('refuses many wrong tokens late, and the right one never', async () => {
    const token = 'a-token-of-the-test';
    const { url } = await start({ token, limits: { wrongTokens: 3, wrongTokenMs: 3_600_000 } });
    const client = await McpHttpClient.connect(url, {}, token);
    const end = new AbortController();
    onTestFinished(() => end.abort());
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) {
      const headers = { ...JSON_HEADERS, authorization: `Bearer guess-${i}` };
      void fetch(url, { method: 'POST', headers, body: '{}', signal: end.signal }).then(
        ({ status }) => statuses.push(status),
        () => undefined,
      );
    }
    await until('17 refusals', () => statuses.length === 17);
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(await client.request('ping')).toMatchObject({ result: {} });
    // No token is no guess.
    expect((await fetch(url, { method: 'POST', headers: JSON_HEADERS, body: '{}' })).status).toBe(401);
  });

  it('reports wrong tokens once a minute with their number, and never the token', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const lines: string[] = [];
    const guard = new HttpGuard('right', { wrongTokens: 64, wrongTokenMs: 0 }, (line) => lines.push(line));
    const guess = (times: number): Promise<unknown> =>
      Promise.allSettled(Array.from({ length: times }, () => guard.checkToken({ authorization: 'Bearer guess' })));
    await guess(1_000);
    await guard.checkToken({ authorization: 'Bearer right' });
    vi.advanceTimersByTime(1_000);
    expect(lines).toEqual(['refused 1000 requests with a wrong bearer token']);
    await guess(1);
    vi.advanceTimersByTime(58_000);
    expect(lines).toHaveLength(1);
    vi.advanceTimersByTime(2_000);
    expect(lines.slice(1)).toEqual(['refused 1 request with a wrong bearer token']);
  });

  it('reports without a token that there is no authorisation server', async () => {
    const { url } = await start({ token: 'a-token-of-the-test' });
    const metadata = new URL('/.well-known/oauth-protected-resource/mcp', url);
    expect((await fetch(metadata, { headers: JSON_HEADERS })).status).toBe(404);
  });
});
