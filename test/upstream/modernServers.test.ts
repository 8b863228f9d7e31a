import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpServerConfig, ServerConfig, StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { FileTokens } from '../../src/config/state/fileTokens.ts';
import { VERSION } from '../../src/lib/build.ts';
import { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { SignIns } from '../../src/upstream/connection/signIns.ts';
import { ServerEras } from '../../src/upstream/listing/serverEras.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { HttpLink } from '../../src/upstream/transports/httpLink.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { bundled } from '../support/bundledFixtures.ts';
import { stdioConfig } from '../support/connection.ts';
import { until } from '../support/hostProcess.ts';
import { httpServer, modernHttpServer } from '../support/httpServer.ts';
import { atEnd, shared } from '../support/lifetime.ts';
import { temporaryFolder } from '../support/workspace.ts';

const WAIT = { timeoutMs: 20_000 };
const MODERN = '2026-07-28';
const DAY_MS = 24 * 60 * 60_000;

type Json = Record<string, unknown>;

/** Connection to a server of any kind, with its log. */
function connect(config: ServerConfig, eras = new ServerEras()) {
  const folder = temporaryFolder('wg-modern-');
  const journal = new ChildJournal(folder);
  const signIns = new SignIns(new FileTokens(folder));
  const log: string[] = [];
  const connection = new ServerConnection(
    config,
    {
      openLink: async (given, events) =>
        given.type === 'stdio'
          ? new StdioLink(given, journal, events)
          : new HttpLink(given as HttpServerConfig, events, signIns.sessionFor(given as HttpServerConfig)),
      eras,
    },
    { onChange: () => undefined, log: (line) => void log.push(line), scrubSecrets: (text) => text },
  );
  atEnd(() => connection.stop());
  atEnd(() => journal.close());
  return { connection, log, eras };
}

const httpConfig = (url: string): HttpServerConfig => ({
  ...(stdioConfig({}) as unknown as HttpServerConfig),
  type: 'http',
  url,
  headers: {},
});
const stdio = (...flags: string[]): StdioServerConfig => stdioConfig({ args: [bundled('modernServer.mjs'), ...flags] });
const http = async (...flags: string[]): Promise<HttpServerConfig> =>
  httpConfig((await modernHttpServer(...flags)).url);

const logFile = (): string => {
  const file = join(temporaryFolder('wg-wire-'), 'wire.log');
  writeFileSync(file, '');
  return file;
};
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean);
/** Methods of the requests that a server received. */
const methodsIn = (file: string): string[] =>
  linesOf(file).flatMap((line) => /"method":"([^"]+)"/.exec(line)?.[1] ?? []);
const callsIn = (file: string, tool: string): number =>
  linesOf(file).filter((line) => line.startsWith(`call ${tool} `)).length;

const textOf = (result: Json): string => (result.content as { text: string }[])[0]?.text as string;
const call = async (connection: ServerConnection, tool: string, args: Json = {}, more: object = {}): Promise<string> =>
  textOf(await connection.call(tool, args, { ...WAIT, ...more }));

describe.each([
  ['stdio', (...flags: string[]) => Promise.resolve<ServerConfig>(stdio(...flags))],
  ['HTTP', (...flags: string[]) => http(...flags) as Promise<ServerConfig>],
])('a server that speaks only 2026-07-28, over %s,', (_way, config) => {
  const open = shared(async () => {
    const file = logFile();
    const { connection, eras } = connect(await config('--log', file));
    await connection.start();
    return { connection, eras, file };
  });

  it('is greeted, listed and called', async () => {
    const { connection, eras } = open();
    expect(connection.reason).toBeUndefined();
    expect(connection.state).toBe('ready');
    expect(connection.tools).toHaveLength(12);
    expect(connection.listed).toMatchObject({
      instructions: 'Call echo.',
      resources: [{ uri: 'file:///one.txt' }],
      capabilities: { tools: { listChanged: true } },
    });
    expect(await connection.call('echo', { text: 'hi' }, WAIT)).toEqual({ content: [{ type: 'text', text: 'hi' }] });
    expect(eras.of('one')).toMatchObject({ era: 'modern', version: MODERN });
  });

  it('gets the version, the client and its capabilities with every request', async () => {
    const { connection, file } = open();
    await call(connection, 'echo', { text: 'envelope' }, { meta: { 'com.example/trace': 'abc' } });
    const line = linesOf(file).find((one) => one.includes('envelope')) as string;
    const { params } = JSON.parse(line.slice(line.indexOf('{"jsonrpc"'))) as { params: { _meta: Json } };
    expect(params._meta).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'waygate' },
      'io.modelcontextprotocol/clientCapabilities': {},
      'com.example/trace': 'abc',
    });
  });

  it('reports progress and logs', async () => {
    const { connection } = open();
    const logs: unknown[] = [];
    connection.onNotification('notifications/message', ({ data }) => void logs.push(data));
    await connection.request('logging/setLevel', { level: 'info' }, WAIT);
    const progress: number[] = [];
    await call(connection, 'slow', {}, { onProgress: (one: { progress: number }) => void progress.push(one.progress) });
    expect(progress).toEqual([1, 2, 3]);
    expect(logs).toEqual(['slow indeed']);
  });

  it('learns of a cancelled call', async () => {
    const { connection, file } = open();
    const controller = new AbortController();
    const before = callsIn(file, 'slow');
    const calling = connection.call('slow', { ms: 60_000 }, { ...WAIT, signal: controller.signal });
    calling.catch(() => undefined);
    await until('the call', () => callsIn(file, 'slow') > before);
    controller.abort();
    await expect(calling).rejects.toMatchObject({ failure: 'aborted' });
    await until('the cancellation', () => linesOf(file).includes('cancelled'));
    expect(await call(connection, 'echo', { text: 'still there' })).toBe('still there');
  });

  it('answers a sign of life, which its revision has no request for', async () => {
    expect(await open().connection.request('ping', {}, WAIT)).toEqual({});
  });

  it('reads a resource, and reports an unknown one with the code of the older revisions', async () => {
    const { connection } = open();
    expect(await connection.request('resources/read', { uri: 'file:///one.txt' }, WAIT)).toEqual({
      contents: [{ uri: 'file:///one.txt', text: 'the first' }],
    });
    const unknown = connection.request('resources/read', { uri: 'file:///two.txt' }, WAIT);
    await expect(unknown).rejects.toMatchObject({ code: -32002 });
  });

  it('announces changes of its lists, and of resources that somebody follows', async () => {
    const { connection } = connect(await config());
    await connection.start();
    const updated: unknown[] = [];
    connection.onNotification('notifications/resources/updated', (params) => void updated.push(params));
    await connection.request('resources/subscribe', { uri: 'file:///one.txt' }, WAIT);
    await call(connection, 'change');
    await until('the new tool', () => connection.tools.length === 13);
    await until('the changed resource', () => updated.length > 0);
    expect(updated).toEqual([{ uri: 'file:///one.txt' }]);
    await connection.request('resources/unsubscribe', { uri: 'file:///one.txt' }, WAIT);
    await call(connection, 'change');
    await until('another tool', () => connection.tools.length === 14);
    expect(updated).toHaveLength(1);
  });

  it('ends in the middle of a call, whose outcome is unknown, and starts again for the next one', async () => {
    const file = logFile();
    const made = await config('--log', file);
    const { connection } = connect(made);
    await connection.start();
    await expect(connection.call('die', {}, WAIT)).rejects.toMatchObject({ knowledge: 'outcome_unknown' });
    expect(callsIn(file, 'die')).toBe(1);
    if (made.type !== 'stdio') return;
    expect(await call(connection, 'echo', { text: 'again' })).toBe('again');
    // The verdict of the first start holds.
    const greetings = linesOf(file).filter((line) => line.includes('"initialize"'));
    expect(greetings).toHaveLength(1);
  });
});

describe('a request over HTTP in revision 2026-07-28', () => {
  const open = shared(async () => {
    const file = logFile();
    const { connection } = connect(await http('--log', file));
    await connection.start();
    return { connection, file };
  });
  const headersOf = (file: string, part: string): Record<string, string> => {
    const line = linesOf(file).findLast((one) => one.includes(part)) as string;
    return JSON.parse(line.slice(line.indexOf('{'), line.indexOf('} {') + 1)) as Record<string, string>;
  };

  it('repeats its version, method and name in headers', async () => {
    const { connection, file } = open();
    await call(connection, 'echo', { text: 'headers' });
    expect(headersOf(file, '"text":"headers"')).toMatchObject({
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    });
    await connection.request('resources/read', { uri: 'file:///größe' }, WAIT).catch(() => undefined);
    const name = `=?base64?${Buffer.from('file:///größe').toString('base64')}?=`;
    expect(headersOf(file, 'file:///gr')).toMatchObject({ 'mcp-method': 'resources/read', 'mcp-name': name });
  });

  it('repeats the arguments that a tool wants in headers', async () => {
    const { connection, file } = open();
    expect(await call(connection, 'routed', { region: 'süd', zone: 7 })).toBe('süd 7');
    expect(headersOf(file, '"name":"routed"')).toMatchObject({
      'mcp-param-region': `=?base64?${Buffer.from('süd').toString('base64')}?=`,
      'mcp-param-zone': '7',
    });
  });

  it('goes to no tool that wants impossible headers: it is left out, and counted', async () => {
    const { connection } = connect(await http('--odd-headers'));
    await connection.start();
    const names = connection.listedTools.map(({ name }) => String(name));
    expect(names).toContain('routed');
    expect(names.filter((name) => name.startsWith('odd'))).toEqual(['odd_name']);
    expect(connection.oddities.count('invalid_tool_header')).toBe(4);
  });

  it('belongs to a connection that notices when an idle server has gone', async () => {
    const server = await modernHttpServer();
    const { connection, log } = connect(httpConfig(server.url));
    await connection.start();
    await server.end();
    await until('the loss', () => log.some((line) => line.startsWith('one: lost: The connection to')));
    expect(connection.state).not.toBe('ready');
  });

  it('has no session, and no other message goes to the server', async () => {
    const { file } = open();
    expect(linesOf(file).filter((line) => /^(GET|DELETE)/.test(line))).toEqual([]);
    expect(linesOf(file).join()).not.toContain('mcp-session-id');
    expect(methodsIn(file)).not.toContain('notifications/initialized');
  });
});

describe('the era of a server', () => {
  const LEGACY = { era: 'legacy', version: '2025-11-25' };

  it('over stdio is asked for with initialize, and a server of both eras gets the same bytes as ever', async () => {
    const file = logFile();
    const { connection, eras } = connect(stdio('--era', 'dual', '--log', file));
    await connection.start();
    await call(connection, 'echo', { text: 'hi' });
    expect(eras.of('one')).toMatchObject(LEGACY);
    const client = `"clientInfo":{"name":"waygate","version":"${VERSION}"}`;
    expect(linesOf(file).filter((line) => line.startsWith('{'))).toEqual([
      `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},${client}}}`,
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}',
      '{"jsonrpc":"2.0","id":2,"method":"resources/list","params":{}}',
      '{"jsonrpc":"2.0","id":3,"method":"resources/templates/list","params":{}}',
      '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}',
    ]);
  });

  it('over stdio does not end a server that exits on an unknown request', async () => {
    const { connection, log } = connect(stdio('--era', 'dual', '--exit-on-discover'));
    await connection.start();
    expect(connection.state).toBe('ready');
    expect(log.filter((line) => line.includes('lost'))).toEqual([]);
  });

  it('over HTTP is asked for with server/discover, so a server of both eras gets the newer one', async () => {
    const file = logFile();
    const { connection, eras } = connect(await http('--era', 'dual', '--log', file));
    await connection.start();
    expect(connection.tools).toHaveLength(12);
    expect(methodsIn(file)).not.toContain('initialize');
    expect(eras.of('one')).toMatchObject({ era: 'modern', version: MODERN });
  });

  it('is the older one for a server that answers server/discover and names an older revision', async () => {
    const file = logFile();
    const { connection, eras } = connect(await http('--era', 'dual', '--shim', '--log', file));
    await connection.start();
    expect(await call(connection, 'echo', { text: 'hi' })).toBe('hi');
    expect(methodsIn(file).slice(0, 2)).toEqual(['server/discover', 'initialize']);
    expect(eras.of('one')).toMatchObject(LEGACY);
  });

  it('is not asked for again at the next starts of a known server, for a week', async () => {
    const folder = temporaryFolder('wg-eras-');
    const file = join(folder, 'eras.json');
    const requests = join(folder, 'requests.log');
    writeFileSync(requests, '');
    let now = Date.now();
    const config = httpConfig((await httpServer('--log', requests)).url);
    const posts = async (): Promise<number> => {
      const before = linesOf(requests).length;
      // A new worker reads the file.
      const { connection } = connect(config, new ServerEras(file, undefined, () => now));
      await connection.start();
      expect(connection.state).toBe('ready');
      await connection.stop();
      return linesOf(requests)
        .slice(before)
        .filter((line) => line.startsWith('POST')).length;
    };
    const first = await posts();
    const known = await posts();
    expect(first).toBe(known + 1);
    now += 6 * DAY_MS;
    expect(await posts()).toBe(known);
    now += 2 * DAY_MS;
    expect(await posts()).toBe(known + 1);
    expect(await posts()).toBe(known);
  });

  it.each([401, 403, 408, 429, 500, 503])('is left open by HTTP %s, and asked for again', async (status) => {
    const file = logFile();
    const config = await http('--era', 'dual', '--refuse', String(status), '--log', file);
    const eras = new ServerEras();
    for (let start = 1; start <= 2; start++) {
      const { connection } = connect(config, eras);
      await connection.start();
      expect(connection.state).toBe('ready');
      await connection.stop();
      expect(methodsIn(file).filter((method) => method === 'server/discover')).toHaveLength(start);
      expect(eras.of('one')).toMatchObject(LEGACY);
    }
  });

  it.each([
    ['an unknown era', undefined],
    ['the older revisions, as far as is known', 'legacy'],
  ] as const)('waits for a sign-in that server/discover needs, at a server of %s', async (_era, known) => {
    const config = await http('--refuse', '401');
    const eras = new ServerEras();
    if (known) eras.forStart(config)?.onFound(known, '2025-11-25', true);
    const { connection } = connect(config, eras);
    await connection.start();
    expect(connection.state).toBe('needs_sign_in');
  });

  it('is asked for once more if the server refuses the version that it names', async () => {
    const { connection, eras } = connect(await http('--refuse-once'));
    await connection.start();
    expect(connection.state).toBe('ready');
    expect(eras.of('one')).toMatchObject({ era: 'modern' });
  });

  it('is the older one for a server that ignores server/discover', async () => {
    const { connection, eras } = connect(await http('--era', 'dual', '--silent-on-discover'));
    await connection.start();
    expect(connection.state).toBe('ready');
    expect(eras.of('one')).toMatchObject(LEGACY);
  });

  it('is found again after a server of the older revisions has become one that speaks only the newer', async () => {
    const before = await modernHttpServer('--era', 'dual', '--shim');
    const config = httpConfig(before.url);
    const eras = new ServerEras();
    const old = connect(config, eras).connection;
    await old.start();
    expect(eras.of('one')).toMatchObject(LEGACY);
    await old.stop();
    await before.end();
    await modernHttpServer('--port', String(before.port));
    const { connection } = connect(config, eras);
    await connection.start();
    expect(await call(connection, 'echo', { text: 'new' })).toBe('new');
    expect(eras.of('one')).toMatchObject({ era: 'modern', version: MODERN });
  });

  it('is found again after a server over HTTP has gone back', async () => {
    const before = await modernHttpServer();
    const { connection, eras } = connect(httpConfig(before.url));
    await connection.start();
    expect(eras.of('one')?.era).toBe('modern');
    await before.end();
    await httpServer('--port', String(before.port));
    // The server rejects a call without a session.
    await connection.call('echo', { text: 'first' }, WAIT).catch(() => undefined);
    await until('the end of the connection', () => connection.state !== 'ready' || eras.of('one')?.era === 'legacy');
    expect(await call(connection, 'echo', { text: 'second' })).toBe('second');
    expect(eras.of('one')).toMatchObject(LEGACY);
  });

  it('is doubted after a refused call, which is not sent again', async () => {
    const before = await modernHttpServer();
    const { connection, eras } = connect(httpConfig(before.url));
    await connection.start();
    await before.end();
    const calls: string[] = [];
    const other = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += String(part);
      if (body.includes('"tools/call"')) calls.push(body);
      const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
    });
    await new Promise<void>((done) => other.listen(before.port, '127.0.0.1', done));
    onTestFinished(() => void other.close());
    const refused = connection.call('echo', { text: 'first' }, WAIT);
    await expect(refused).rejects.toThrow(/HTTP 400: .*No valid session ID/);
    await until('the doubt', () => eras.of('one') === undefined);
    await until('the end of the connection', () => connection.state !== 'ready');
    expect(calls).toHaveLength(1);
  });

  it('is found again after a server over stdio has gone back and exits on server/discover', async () => {
    const config = stdio('--era', 'dual', '--exit-on-discover');
    const eras = new ServerEras();
    eras.forStart(config)?.onFound('modern', MODERN, true);
    const { connection } = connect(config, eras);
    await connection.start();
    await until('a later start', () => connection.state === 'ready');
    expect(eras.of('one')).toMatchObject(LEGACY);
  });

  it('that is unknown to Waygate is reported with the versions of the server', async () => {
    const refusal = { code: -32022, message: 'no', data: { supported: ['2031-01-01'] } };
    const script = `process.stdin.once('data', (line) => console.log(JSON.stringify({ jsonrpc: '2.0',
      id: JSON.parse(line).id, error: ${JSON.stringify(refusal)} })));`;
    const { connection } = connect(stdioConfig({ args: ['-e', script] }));
    await connection.start();
    expect(connection.state).toBe('failed');
    expect(connection.reason).toContain('It uses an unsupported version of MCP (2031-01-01).');
  });
});
