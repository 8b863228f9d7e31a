import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpUpstream } from '../../src/mcp/wire/http/httpUpstream.ts';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { authByHeaders } from '../../src/mcp/wire/upstreamAuth.ts';
import { UpstreamClient } from '../../src/mcp/wire/upstreamClient.ts';
import { until } from '../support/hostProcess.ts';

interface Asked {
  id: number;
  name: string;
  response: ServerResponse;
  /** The answer as it should be. */
  answer: string;
}

interface Acts {
  call(asked: Asked): void;
  /** The rest of a stream is asked for, from this event on. */
  resume?(event: string, response: ServerResponse): void;
  /** The stream that just listens; there is none unless it is told. */
  listen?(response: ServerResponse): void;
  /** How our answers and our cancellations are taken. */
  take?(response: ServerResponse, what: 'answer' | 'cancellation'): void;
}

const EVENTS = { 'content-type': 'text/event-stream' };
const WAIT = { timeoutMs: 60_000 };
const DONE = { content: [{ type: 'text', text: 'done' }] };

/** A client of a server that acts so. */
async function open(acts: Acts, bodyLimit?: number) {
  const resumed: string[] = [];
  const taken: unknown[] = [];
  const hear = (message: Record<string, unknown>, response: ServerResponse): void => {
    const { id, method, params } = message as { id: number; method?: string; params: Record<string, unknown> };
    const say = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result });
    if (method === 'initialize') {
      const serverInfo = { name: 'x', version: '1' };
      const result = { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo };
      response.writeHead(200, { 'content-type': 'application/json' }).end(say(result));
    } else if (method === 'tools/call') acts.call({ id, name: params.name as string, response, answer: say(DONE) });
    else if (acts.take && method !== 'notifications/initialized') {
      taken.push(message);
      acts.take(response, method === undefined ? 'answer' : 'cancellation');
    } else {
      taken.push(message);
      response.writeHead(202).end();
    }
  };
  const server = createServer(async (request: IncomingMessage, response) => {
    const event = request.headers['last-event-id'];
    if (request.method !== 'POST') {
      if (event === undefined) return acts.listen ? acts.listen(response) : response.writeHead(405).end();
      resumed.push(event as string);
      return acts.resume ? acts.resume(event as string, response) : response.writeHead(405).end();
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    return hear(JSON.parse(Buffer.concat(parts).toString()), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const oddities = new Oddities();
  const client = new UpstreamClient({ oddities });
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const transport = httpUpstream({
    url,
    kind: 'http',
    auth: authByHeaders({}),
    oddities,
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
  });
  await client.connect(transport, { onClose: () => undefined }, 20_000);
  return { client, oddities, resumed, taken };
}

const event = (data: string, id?: string): string => `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
const ping = (i: number): string => event(`{"jsonrpc":"2.0","id":"p${i}","method":"ping"}`);
const plain = ({ response, answer }: Asked): void => void response.writeHead(200, EVENTS).end(event(answer));

describe('an answer over HTTP', () => {
  it.each<[string, (answer: string) => string]>([
    ['a further member', (answer) => answer.replace(/\}$/, ',"took":5}')],
    ['an error that is null', (answer) => answer.replace(/\}$/, ',"error":null}')],
    ['a "_meta" that is null', (answer) => answer.replace(/\}\}$/, ',"_meta":null}}')],
  ])('with %s is read, as over stdio', async (_what, spoil) => {
    for (const type of ['application/json', 'text/event-stream']) {
      const { client } = await open({
        call: ({ response, answer }) => {
          const spoilt = spoil(answer);
          response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? spoilt : event(spoilt));
        },
      });
      await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    }
  });

  it.each([
    ['', undefined],
    [', also one that could be come back to', 'e1'],
  ])('leaves no stream open that its server does not end%s', async (_what, id) => {
    const streams = new Set<ServerResponse>();
    const { client } = await open({
      call: ({ response, answer }) => {
        streams.add(response);
        response.on('close', () => streams.delete(response));
        response.writeHead(200, EVENTS).write(event(answer, id));
      },
      resume: (_event, response) => void response.writeHead(200, EVENTS).flushHeaders(),
    });
    const calls = Array.from({ length: 5 }, () => client.callTool('x', {}, WAIT));
    expect(await Promise.all(calls)).toEqual(calls.map(() => DONE));
    await until('the end of the streams', () => streams.size === 0);
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    expect(client.closed).toBe(false);
  });

  it.each([
    ['that is whole', (frame: string) => frame],
    ['of events with ids, which would only come again', (frame: string) => `${event('', 'a')}${frame}`],
  ])('beyond the limit fails its call as too large, in a stream %s', async (_what, wrap) => {
    const { client, oddities, resumed } = await open(
      {
        call: (asked) => {
          if (asked.name !== 'large') return plain(asked);
          const large = JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: { x: 'x'.repeat(500_000) } });
          asked.response.writeHead(200, EVENTS).end(wrap(event(large, 'b')));
        },
      },
      100_000,
    );
    await expect(client.callTool('large', {}, WAIT)).rejects.toMatchObject({
      failure: 'protocol',
      frame: 'frame_too_large',
      message: expect.stringContaining('beyond the limit of 100000 bytes'),
    });
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    expect(oddities.toJSON()).toEqual({ frame_too_large: 1 });
    expect(resumed).toEqual([]);
  });

  it('is not told to be too large where something else is: of that call nobody knows', async () => {
    const { client } = await open(
      {
        call: (asked) => {
          if (asked.name !== 'large') return plain(asked);
          const params = { level: 'info', data: 'x'.repeat(500_000) };
          const log = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params });
          asked.response.writeHead(200, EVENTS).end(`${event(log)}${event(asked.answer)}`);
        },
      },
      100_000,
    );
    await expect(client.callTool('large', {}, WAIT)).rejects.toMatchObject({
      failure: 'closed',
      message: expect.stringContaining('an event is beyond the limit of 100000 bytes'),
    });
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
  });

  it('that comes behind a flood, and is the last of its stream, is heard', async () => {
    const { client, oddities } = await open({
      call: ({ response, answer }) => {
        const params = { level: 'info', data: 'x'.repeat(64_000) };
        const log = event(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }));
        response.writeHead(200, EVENTS).end(`${log.repeat(40)}${event(answer)}`);
      },
    });
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    expect(oddities.count('throttled')).toBeGreaterThan(0);
  });
});

describe('a server over HTTP that asks without end', () => {
  it('and takes no answer has no more than 64 of them under way, its call has its end, and no other waits for it', async () => {
    const { client, taken, oddities } = await open({
      call: (asked) => {
        if (asked.name !== 'flood') return plain(asked);
        asked.response.writeHead(200, EVENTS);
        for (let i = 0; i < 1_200; i++) asked.response.write(ping(i));
        asked.response.end(event(asked.answer));
      },
      take: () => undefined,
    });
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    await expect(client.callTool('flood', {}, WAIT)).resolves.toEqual(DONE);
    clearInterval(counting);
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    // The notification that begins the session is one of them.
    expect(taken.length).toBeLessThanOrEqual(65);
    expect(oddities.count('request_over_cap')).toBe(1_200 - 32);
    expect(oddities.count('write_refused')).toBe(1_200 - 32 - 32 - 1_024);
    // Held up by each question, it had a handful.
    expect(turns).toBeGreaterThan(20);
  });
});

describe('a stream over HTTP that can be come back to', () => {
  const held = (asked: Asked): void => {
    asked.response.writeHead(200, EVENTS).write(event('', `e${asked.id}`));
  };

  it('is come back to where it broke off, for its answer', async () => {
    let answer = '';
    const { client, resumed } = await open({
      call: (asked) => {
        answer = asked.answer;
        asked.response.writeHead(200, EVENTS).end(`retry: 10\n${event('', 'e1')}`);
      },
      resume: (_event, response) => void response.writeHead(200, EVENTS).end(event(answer, 'e2')),
    });
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    expect(resumed).toEqual(['e1']);
  });

  it('is not come back to for a call that is over, which costs no other', async () => {
    const calls: Asked[] = [];
    const { client, resumed } = await open({
      call: (asked) => {
        calls.push(asked);
        if (asked.name === 'held') {
          asked.response.writeHead(200, EVENTS).write(`retry: 10\n${event('', `e${asked.id}`)}`);
        }
      },
      resume: (_event, response) => void response.writeHead(404).end(),
    });
    const other = client.callTool('other', {}, WAIT);
    await until('the other call', () => calls.length === 1);
    for (let i = 0; i < 5; i++) {
      await expect(client.callTool('held', {}, { timeoutMs: 100 })).rejects.toMatchObject({ failure: 'timeout' });
    }
    // The first was over long before the last: it would have been come back to within ten milliseconds.
    plain(calls[0] as Asked);
    await expect(other).resolves.toEqual(DONE);
    expect(resumed).toEqual([]);
    expect(client.closed).toBe(false);
  });

  it.each([405, 404, 500])('but whose rest is refused (%i) loses its call alone', async (status) => {
    const { client, resumed } = await open({
      call: (asked) => {
        if (asked.name !== 'cut') return plain(asked);
        asked.response.writeHead(200, EVENTS).write(`retry: 10\n${event('', 'e1')}`, () => asked.response.destroy());
      },
      resume: (_event, response) => void response.writeHead(status).end(),
    });
    await expect(client.callTool('cut', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    expect(resumed).toEqual(['e1']);
    expect(client.closed).toBe(false);
  });

  it.each([
    ['in its first event', 'id: e1\ndata: {"jsonrpc"'],
    ['behind an id of no data', 'id: e1\n\n'],
  ])('but breaks off %s cannot: its call has its end at once', async (_where, words) => {
    const { client, resumed } = await open({
      call: ({ response }) => void response.writeHead(200, EVENTS).write(words, () => response.destroy()),
    });
    await expect(client.callTool('x', {}, { timeoutMs: 4_000 })).rejects.toMatchObject({ failure: 'closed' });
    expect(resumed).toEqual([]);
  });

  it('and just listens is opened anew where it breaks off in its first event', async () => {
    let listening = 0;
    await open({
      call: plain,
      listen: (response) => {
        listening += 1;
        response.writeHead(200, EVENTS);
        if (listening > 1) response.flushHeaders();
        else response.write('retry: 10\nid: e1\ndata: {"jsonrpc"', () => response.destroy());
      },
    });
    await until('the stream to be opened anew', () => listening === 2);
  });

  it('and just listens is not taken for that of a call, by a server that counts the events of each', async () => {
    let call: Asked | undefined;
    const { client, resumed } = await open({
      call: (asked) => {
        call = asked;
        asked.response.writeHead(200, EVENTS).write(event('', '1'));
      },
      listen: (response) => {
        response.writeHead(200, EVENTS).write(`retry: 10\n${event('', '1')}`);
        void until('the call', () => call !== undefined).then(() => setTimeout(() => response.end(), 50));
      },
      resume: (_event, response) => {
        response.writeHead(200, EVENTS).end(': nothing\n\n');
        setTimeout(() => call?.response.end(event(call.answer, '2')), 300);
      },
    });
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    expect(resumed).toContain('1');
  });

  it('but whose rest breaks off too, without a word, loses its call alone', async () => {
    let listening = 0;
    const { client, resumed } = await open({
      // One such stream is all that a session has, for the servers of the SDK.
      listen: (response) => {
        listening += 1;
        if (listening === 1) response.writeHead(200, EVENTS).flushHeaders();
        else response.writeHead(409).end();
      },
      call: (asked) => {
        if (asked.name !== 'cut') return plain(asked);
        asked.response.writeHead(200, EVENTS).end(`retry: 10\n${event('', 'e1')}`);
      },
      resume: (_event, response) => void response.writeHead(200, EVENTS).end(': nothing\n\n'),
    });
    for (let i = 0; i < 2; i++) {
      await expect(client.callTool('cut', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    }
    await expect(client.callTool('x', {}, WAIT)).resolves.toEqual(DONE);
    // An id that comes again belongs to the call that is waited for.
    expect(resumed).toEqual(['e1', 'e1']);
    expect(listening).toBe(1);
    expect(client.closed).toBe(false);
  });

  it('of a cancelled call is closed, also by a server that refuses to hear of it', async () => {
    let closed = 0;
    const { client, taken } = await open({
      call: (asked) => {
        held(asked);
        asked.response.once('close', () => {
          closed += 1;
        });
      },
      take: (response) => void response.writeHead(500).end(),
    });
    await expect(client.callTool('x', {}, { timeoutMs: 1_000 })).rejects.toMatchObject({ failure: 'timeout' });
    await until('the end of its stream', () => closed === 1);
    expect(taken.at(-1)).toMatchObject({ method: 'notifications/cancelled' });
  });
});
