import { describe, expect, it } from 'vitest';
import { recordAddress } from '../../src/records/remote/recordAddress.ts';
import { type RemoteLimits, RemoteProvider } from '../../src/records/remote/remoteProvider.ts';
import { call, httpServer } from './fakes.ts';

const TOKEN = 'tok/secret+0123456789';
const QUICK: Partial<RemoteLimits> = { attemptMs: 2_000, readMs: 6_000, pauseMs: 1 };
const provider = (url: string, limits: Partial<RemoteLimits> = QUICK) =>
  new RemoteProvider({ url, token: TOKEN, limits });
const read = { path: '/v1/streams/s/records', query: [] };

describe('a remote provider', () => {
  it('sends the token, and decodes nothing of a path that is encoded already', async () => {
    const seen: unknown[] = [];
    const url = await httpServer((request, response) => {
      seen.push([request.method, request.url, request.headers.authorization, request.headers.accept]);
      response.setHeader('request-id', 'req_1').setHeader('x-request-id', 'other').end('{"data":[]}');
    });
    const query = [
      ['filter[a b][gte]', '1&2'],
      ['fields', 'x'],
      ['fields', 'y'],
    ] as const;
    const answer = await provider(`${url}/base/`).get({ path: '/v1/streams/my%20s/records/a%3Ab', query });
    expect(answer).toMatchObject({ status: 200, body: { data: [] }, requestId: 'req_1' });
    expect(seen).toEqual([
      [
        'GET',
        '/base/v1/streams/my%20s/records/a%3Ab?filter%5Ba+b%5D%5Bgte%5D=1%262&fields=x&fields=y',
        `Bearer ${TOKEN}`,
        'application/json',
      ],
    ]);
  });

  it('takes x-request-id where there is no other, and no id that could forge text (R7.5)', async () => {
    const url = await httpServer((request, response) => {
      response.setHeader('x-request-id', request.url?.includes('bad') ? 'a b"c' : 'req_2').end('{}');
    });
    expect((await provider(url).get(read)).requestId).toBe('req_2');
    expect((await provider(url).get({ ...read, path: '/v1/bad' })).requestId).toBe(undefined);
  });

  it.each([
    ['502 of a proxy', 502, 'bad gateway', {}, 3],
    ['503 with retry-after', 503, '{"error":{"code":"busy"}}', { 'retry-after': '0' }, 3],
    ['503 of the provider itself', 503, '{"error":{"code":"busy"}}', {}, 1],
    ['429 without retry-after', 429, 'slow down', {}, 1],
    ['429 with a long retry-after', 429, 'slow down', { 'retry-after': '900' }, 1],
    ['500', 500, 'oops', {}, 1],
    ['401', 401, '{}', {}, 1],
  ])('asks after %s so often, and returns the last answer (R7.3)', async (_what, status, body, headers, times) => {
    let requests = 0;
    const url = await httpServer((_request, response) => {
      requests++;
      response.writeHead(status, headers).end(body);
    });
    expect((await provider(url).get(read)).status).toBe(status);
    expect(requests).toBe(times);
  });

  it('repeats a read whose connection broke (R7.3)', async () => {
    let requests = 0;
    const url = await httpServer((request, response) => {
      if (++requests === 1) request.socket.destroy();
      else response.end('{"data":[]}');
    });
    expect(await provider(url).get(read)).toMatchObject({ status: 200 });
    expect(requests).toBe(2);
  });

  it('reports a provider that cannot be reached, without its token', async () => {
    const { error, text } = await call(provider('http://127.0.0.1:9'), 'query_records', { stream: 's' });
    expect(error?.code).toBe('provider_unreachable');
    expect(text).not.toContain(TOKEN);
  });

  it('gives up on a silent provider (R7.3)', async () => {
    const url = await httpServer(() => undefined);
    const { error } = await call(provider(url, { attemptMs: 50, readMs: 100 }), 'query_records', { stream: 's' });
    expect(error?.code).toBe('provider_timeout');
  });

  it('ends with its caller', async () => {
    const url = await httpServer(() => controller.abort());
    const controller = new AbortController();
    await expect(provider(url).get({ ...read, signal: controller.signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  it('follows a redirect within the origin, and takes the token to no other (R7.2)', async () => {
    const stolen: unknown[] = [];
    const other = await httpServer((request, response) => {
      stolen.push(request.headers.authorization);
      response.end('{"data":[]}');
    });
    const url = await httpServer((request, response) => {
      if (request.url === '/v1/here') response.writeHead(302, { location: '/v1/there' }).end();
      else if (request.url === '/v1/there') response.end('{"data":[1]}');
      else if (request.url === '/v1/loop') response.writeHead(302, { location: '/v1/loop' }).end();
      else response.writeHead(307, { location: `${other}/v1/x` }).end();
    });
    expect(await provider(url).get({ path: '/v1/here', query: [] })).toMatchObject({ body: { data: [1] } });
    await expect(provider(url).get({ path: '/v1/loop', query: [] })).rejects.toMatchObject({
      code: 'provider_redirected',
    });
    await expect(provider(url).get(read)).rejects.toMatchObject({ code: 'provider_redirected' });
    expect(stolen).toEqual([]);
  });

  it('reads no endless body, and no bomb of nesting (R7.4)', async () => {
    const url = await httpServer((request, response) => {
      if (request.url === '/v1/deep') return void response.end('['.repeat(100_000) + ']'.repeat(100_000));
      const write = (): void =>
        void (response.write('x'.repeat(65_536)) ? setImmediate(write) : response.once('drain', write));
      response.on('error', () => undefined);
      write();
    });
    const small = provider(url, { ...QUICK, bodyBytes: 1024 * 1024 });
    await expect(small.get(read)).rejects.toMatchObject({ code: 'provider_answer_too_large' });
    await expect(small.get({ path: '/v1/deep', query: [] })).rejects.toMatchObject({ code: 'provider_answer_invalid' });
  });

  it.each([
    ['as it is', TOKEN],
    ['with escapes', TOKEN.replaceAll('/', '\\/').replace('k', '\\u006b')],
  ])('masks a token that a provider repeats %s, in names too (R6.5)', async (_how, written) => {
    const url = await httpServer((_request, response) =>
      response.end(`{"has_more":false,"data":[{"id":"m1","data":{"${written}":"Bearer ${written}"}}]}`),
    );
    const { structured, text } = await call(provider(url), 'query_records', { stream: 's' });
    expect(JSON.stringify(structured) + text).not.toContain(TOKEN);
    expect(text).toContain('m1');
  });
});

describe('the address of a provider', () => {
  it.each([
    ['https://rs.example', 'https://rs.example'],
    ['https://rs.example/base/', 'https://rs.example/base'],
    ['http://localhost:7663', 'http://localhost:7663'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1'],
    ['http://[::1]:1', 'http://[::1]:1'],
    ['http://rs.example', undefined],
    ['http://127.0.0.1.evil.example', undefined],
    ['https://user:pw@rs.example', undefined],
    ['https://rs.example?x=1', undefined],
    ['ftp://rs.example', undefined],
    ['rs.example', undefined],
  ])('%s is %s (R7.1)', (given, address) => {
    expect(recordAddress(given)).toBe(address);
  });
});
