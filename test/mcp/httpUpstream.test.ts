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
  /** A valid answer. */
  answer: string;
}

interface Acts {
  call(asked: Asked): void;
  /** Serves the rest of a stream after this event. */
  resume?(event: string, response: ServerResponse): void;
  /** Serves the listening stream; without it the server has none. */
  listen?(response: ServerResponse): void;
  /** Takes the gateway's answers and cancellations. */
  take?(response: ServerResponse, what: 'answer' | 'cancellation'): void;
}

const EVENTS = { 'content-type': 'text/event-stream' };
const WAIT = { timeoutMs: 60_000 };
const DONE = { content: [{ type: 'text', text: 'done' }] };

/** Connects a client to a server with these acts. */
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
    ['an additional member', (answer) => answer.replace(/\}$/, ',"took":5}')],
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
    [', even one that can be resumed', 'e1'],
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
    ['that is complete', (frame: string) => frame],
    ['of events with ids, which would only repeat', (frame: string) => `${event('', 'a')}${frame}`],
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

  it('is not reported as too large if another message is: the outcome of that call is unknown', async () => {
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

  it('is read after a flood at the end of its stream', async () => {
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

describe('a server over HTTP with endless requests', () => {
  it('gets no more than 64 answers at a time; its call ends, and others do not wait', async () => {
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
    // Includes the notification that begins the session.
    expect(taken.length).toBeLessThanOrEqual(65);
    expect(oddities.count('request_over_cap')).toBe(1_200 - 32);
    expect(oddities.count('write_refused')).toBe(1_200 - 32 - 32 - 1_024);
    // With a pause for each question there would be only a handful.
    expect(turns).toBeGreaterThan(20);
  });
});

describe('a resumable stream over HTTP', () => {
  const held = (asked: Asked): void => {
    asked.response.writeHead(200, EVENTS).write(event('', `e${asked.id}`));
  };

  it('is resumed where it broke off, for its answer', async () => {
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

  it('is not resumed for a finished call, which does not affect others', async () => {
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
    // The first ended long before the last, so a resume would have followed within ten milliseconds.
    plain(calls[0] as Asked);
    await expect(other).resolves.toEqual(DONE);
    expect(resumed).toEqual([]);
    expect(client.closed).toBe(false);
  });

  it.each([405, 404, 500])('with a refused rest (%i) fails only its call', async (status) => {
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
    ['after an id without data', 'id: e1\n\n'],
  ])('fails its call at once if it breaks off %s', async (_where, words) => {
    const { client, resumed } = await open({
      call: ({ response }) => void response.writeHead(200, EVENTS).write(words, () => response.destroy()),
    });
    await expect(client.callTool('x', {}, { timeoutMs: 4_000 })).rejects.toMatchObject({ failure: 'closed' });
    expect(resumed).toEqual([]);
  });

  it('is opened again if it is the listening one and breaks off in its first event', async () => {
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

  it('is not confused with the listening one by a server that numbers events per stream', async () => {
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

  it('whose rest breaks off too fails only its call', async () => {
    let listening = 0;
    const { client, resumed } = await open({
      // The SDK's servers allow one such stream per session.
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
    // A repeated event id belongs to the call that still waits.
    expect(resumed).toEqual(['e1', 'e1']);
    expect(listening).toBe(1);
    expect(client.closed).toBe(false);
  });

  it('of a cancelled call is closed, even if the server rejects the cancellation', async () => {
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
