import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { status } from '../support/census.ts';
import {
  FaultGateway,
  type FaultGatewayOptions,
  type FaultStep,
  outcomeOf,
  UNDISTURBED,
} from '../support/faultGateway.ts';
import { until } from '../support/hostProcess.ts';
import { shared } from '../support/lifetime.ts';

/** Servers that send too much: the worker reads them at a bounded pace, and no other server waits (M7.3, M7.4). */

const during = (...actions: FaultStep['do']): FaultStep[] => [{ on: 'tools/call', nth: 1, do: actions }];
const STDIO: FaultGatewayOptions = {};
const EVENTS: FaultGatewayOptions = { http: 'sse' };

// Over HTTP every answer is a request of its own, hence the lower numbers. A line that is not a message is a malformed
// answer there (faultsFrames.test.ts), and stderr is not read.
const FLOODS: readonly [way: string, what: string, actions: FaultStep['do']][] = [
  ['stdio', 'progress', [{ flood: 'progress', count: 20_000 }, 'reply']],
  ['stdio', 'logs', [{ flood: 'log', count: 20_000 }, 'reply']],
  ['stdio', 'pings', [{ flood: 'ping', count: 10_000 }, 'reply']],
  ['stdio', 'requests', [{ flood: 'ask', count: 10_000 }, 'reply']],
  ['stdio', 'lines that are not messages', [{ flood: 'garbage', count: 20_000 }, 'reply']],
  ['stdio', 'stderr', [{ stderr: 20_000_000 }, 'reply']],
  ['HTTP', 'progress', [{ flood: 'progress', count: 20_000 }, 'reply']],
  ['HTTP', 'logs', [{ flood: 'log', count: 20_000 }, 'reply']],
  ['HTTP', 'pings', [{ flood: 'ping', count: 1_500 }, 'reply']],
  ['HTTP', 'requests', [{ flood: 'ask', count: 1_500 }, 'reply']],
];

/** Opens a gateway whose server floods when a call names the flood. */
function flooding(way: string): Promise<FaultGateway> {
  const steps = FLOODS.filter(([one]) => one === way).map(([, nonce, actions]) => ({
    on: 'tools/call',
    nonce,
    do: actions,
  }));
  return FaultGateway.open({ steps }, way === 'stdio' ? STDIO : EVENTS);
}

describe('a server that floods', () => {
  const gateways = { stdio: shared(() => flooding('stdio')), HTTP: shared(() => flooding('HTTP')) };

  it.each(FLOODS)('over %s with %s still answers its call and disturbs no other server', async (way, what) => {
    const gateway = gateways[way as keyof typeof gateways]();
    const before = gateway.host.lines.length;
    const began = performance.now();
    const [flooded, ...others] = await Promise.all([
      gateway.act(what),
      ...Array.from({ length: 5 }, () => gateway.other()),
    ]);
    expect(flooded.text).toBe(`ok\n${what}\n`);
    expect(others).toEqual(Array.from({ length: 5 }, () => UNDISTURBED));
    expect((await gateway.act('b')).text).toBe('ok\nb\n');
    expect(gateway.lives).toHaveLength(1);
    // Clients receive nothing that they did not ask for. Logs go to every client, a hundred a second after a burst.
    const logs = 260 + (performance.now() - began) / 10;
    expect(gateway.host.lines.length - before).toBeLessThan(what === 'logs' ? logs : 60);
  });

  it('over HTTP outside of a call disturbs no call, not even its own', async () => {
    const steps = ['log', 'ping', 'ask', 'list_changed', 'garbage'].map((flood) => ({ flood, count: 1_000 }));
    const script = { steps: [{ on: 'start', do: steps }] };
    const gateway = await FaultGateway.open(script, { http: 'sse', flags: ['--get', 'hold'] });
    for (const nonce of ['a', 'b']) expect((await gateway.act(nonce)).text).toBe(`ok\n${nonce}\n`);
    expect(await gateway.other()).toBe(UNDISTURBED);
    expect(gateway.received.filter((line) => line.includes('"initialize"'))).toHaveLength(1);
  });

  it.each<[string, FaultGatewayOptions]>([
    ['stdio', STDIO],
    ['HTTP', EVENTS],
  ])('over %s with requests has at most 32 in flight; all others are refused', async (_way, options) => {
    const gateway = await FaultGateway.open({ steps: during({ flood: 'ask', count: 1_000 }, 'reply') }, options);
    await gateway.act('a');
    const answers = await until('the answers', () => {
      const answered = gateway.received.filter((line) => /"id":"a\d+"/.test(line));
      return answered.length >= 1_000 && answered;
    });
    expect(new Set(answers.map((line) => /"id":"(a\d+)"/.exec(line)?.[1])).size).toBe(1_000);
    // Over HTTP the worker reads event by event, so most requests are answered before the next one is read.
    const refused = answers.some((line) => line.includes('more than 32 requests are in flight'));
    if (options === STDIO) expect(refused).toBe(true);
  });

  it.each<[string, FaultGatewayOptions]>([
    ['stdio', STDIO],
    ['HTTP', EVENTS],
  ])('over %s with unsolicited answers is replaced for a protocol fault', async (_way, options) => {
    const steps = [{ on: 'tools/call', nth: 1, life: 1, do: [{ flood: 'unknown', count: 500 }, 'hang'] }];
    const gateway = await FaultGateway.open({ steps }, options);
    expect(outcomeOf(await gateway.act('a'))).toBe('unknown');
    expect((await gateway.act('b')).text).toBe('ok\nb\n');
    // Over HTTP the session is replaced.
    expect(gateway.received.filter((line) => line.includes('"initialize"'))).toHaveLength(2);
    expect(await gateway.other()).toBe(UNDISTURBED);
  });

  it.each<[string, FaultGatewayOptions]>([
    ['stdio', STDIO],
    ['HTTP', EVENTS],
  ])('over %s with list changes is listed at most every 200 ms', async (_way, options) => {
    const steps = during({ flood: 'list_changed', count: 10_000 }, 'reply');
    const gateway = await FaultGateway.open({ steps }, options);
    const lists = (): number => gateway.received.filter((line) => line.includes('"tools/list"')).length;
    const before = lists();
    const flooded = await gateway.act('a');
    expect(flooded.text).toBe('ok\na\n');
    await until('a list', () => lists() > before);
    // The server reads this call after every list that was requested before it.
    expect((await gateway.act('b')).text).toBe('ok\nb\n');
    // Every 200 ms during the flood (which is short over stdio), and at most twice after it.
    const most = options === STDIO ? 2 : 2 + flooded.ms / 200;
    expect(lists() - before).toBeLessThanOrEqual(most);
    expect(await gateway.other()).toBe(UNDISTURBED);
  });
});

// Pages are read and bounded in the same way over every transport.
describe('an endless list', () => {
  it.each<[string, Record<string, unknown>, RegExp, number]>([
    ['pages', { count: 'endless', size: 3 }, /cut: it has more than 64 pages/, 192],
    ['the same page', { count: 'endless', size: 2, same: true }, /cut: it returned the same page again/, 4],
    ['tools', { count: 12, size: 1_000 }, /cut: it has more than 10000 tools/, 10_000],
    ['bytes', { count: 'endless', size: 10, bytes: 100_000 }, /cut: its tools take more than 8 MiB/, 83],
  ])('of %s is kept up to the bound and marked', async (_what, pages, reason, count) => {
    const gateway = await FaultGateway.open({ pages }, { ready: false });
    const faulty = await until('its list', async () => {
      const one = (await status(gateway.workspace)).servers.find(({ name }) => name === 'faulty');
      return one?.state === 'ready' && one;
    });
    expect(faulty.reason).toMatch(reason);
    // Tools of a repeated page count once.
    expect(faulty.toolCount).toBeLessThanOrEqual(count);
    expect(faulty.toolCount).toBeGreaterThan(0);
    expect(gateway.received.filter((line) => line.includes('"tools/list"')).length).toBeLessThanOrEqual(64);
    await gateway.host.toolId('/faulty/act');
    expect((await gateway.act('a')).text).toBe('ok\na\n');
    expect(await gateway.other()).toBe(UNDISTURBED);
  });
});

describe('a later list', () => {
  it.each<[string, FaultStep['do']]>([
    ['fails', [{ raw: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"broken"}}' }]],
    ['is not a list', [{ raw: '{"jsonrpc":"2.0","id":ID,"result":{"tools":7}}' }]],
    ['hangs', ['hang']],
  ])('that %s leaves the last good one in force, and calls work', async (_what, actions) => {
    const steps = [{ on: 'tools/list', nth: 2, do: actions }, ...during({ flood: 'list_changed', count: 1 }, 'reply')];
    const gateway = await FaultGateway.open({ steps });
    expect((await gateway.act('a')).text).toBe('ok\na\n');
    await until('the second list', () => gateway.received.filter((line) => line.includes('"tools/list"')).length >= 2);
    expect((await gateway.act('b')).text).toBe('ok\nb\n');
    expect(await gateway.host.toolId('/faulty/act')).toMatch(/^faulty:act/);
    expect(gateway.lives).toHaveLength(1);
  });
});

/** Builds `{"a":{"a":…}}` with a loop: a parser might not survive that depth. */
function nested(depth: number): unknown {
  let schema: unknown = { type: 'string' };
  for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

describe('a list with invalid tools', () => {
  it('loses only those: null schemas, deep schemas, odd names', async () => {
    const inputSchema = { type: 'object', properties: { nonce: { type: 'string' } } };
    const odd = [
      null,
      7,
      { name: null },
      { name: '', inputSchema },
      { name: 'no_schema', inputSchema: null },
      { name: 'abyss', inputSchema: nested(500) },
      { name: '__proto__', inputSchema },
      { name: 'constructor', inputSchema },
      { name: 'n'.repeat(10_000), inputSchema },
      // Hidden characters would put the whole server into quarantine.
      { name: 'line\nbreak', inputSchema },
    ];
    const act = { name: 'act', description: 'The good one.', inputSchema };
    const gateway = await FaultGateway.open({ tools: [...odd, act, { ...act, description: 'Another of its name.' }] });
    expect((await gateway.act('a')).text).toBe('ok\na\n');
    const { text } = await gateway.host.call('tool_browse', { path: '/faulty' });
    expect(text).not.toMatch(/^break/m);
    expect(await gateway.other()).toBe(UNDISTURBED);
  });

  it('never makes Waygate fetch a remote reference of a schema', async () => {
    const asked: string[] = [];
    const trap = createServer((request, response) => {
      asked.push(String(request.url));
      response.end('{"type":"string"}');
    });
    trap.listen(0, '127.0.0.1');
    await once(trap, 'listening');
    onTestFinished(() => void trap.close());
    const { port } = trap.address() as AddressInfo;
    const nonce = { $ref: `http://127.0.0.1:${port}/schema.json` };
    const inputSchema = { type: 'object', properties: { nonce } };
    const gateway = await FaultGateway.open({ tools: [{ name: 'act', inputSchema }] });
    await gateway.act('a');
    expect(asked).toEqual([]);
  });
});
