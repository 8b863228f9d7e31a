import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KnownEra } from '../../src/mcp/wire/modern/eraFinder.ts';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { StdioUpstream } from '../../src/mcp/wire/stdioUpstream.ts';
import { UpstreamClient, type UpstreamClientOptions } from '../../src/mcp/wire/upstreamClient.ts';

interface Asked {
  id: number | string;
  method: string;
  params: Record<string, unknown>;
}
type Say = (message: object) => void;
type Answer = (asked: Asked, say: Say) => void;

const LIMITS = { timeoutMs: 5_000 };
const META_ASKED = {
  code: -32602,
  message: 'Request is missing the required _meta envelope for protocol revision 2026-07-28',
};
const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: { listChanged: true } },
  instructions: 'Call x.',
};

/** Makes a client of a server over streams that gives any answers. It refuses `initialize`, unless the test answers. */
async function open(answer: Answer, more: UpstreamClientOptions = {}, refusal: object = META_ASKED, discovered = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const asked: Asked[] = [];
  const verdicts: unknown[] = [];
  let closes = 0;
  const say = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  output.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      const message = JSON.parse(line) as Asked;
      asked.push(message);
      const { id, method } = message;
      if (method === 'initialize') say({ id, error: refusal });
      else if (method === 'server/discover') say({ id, result: { ...DISCOVERED, ...discovered } });
      else answer(message, say);
    }
  });
  const era: KnownEra = {
    known: undefined,
    onFound: (found, version) => void verdicts.push([found, version]),
    onDoubt: () => void verdicts.push('doubt'),
  };
  const oddities = new Oddities();
  const client = new UpstreamClient({ oddities, era, ...more });
  onTestFinished(() => client.close());
  const onClose = (): void => {
    closes += 1;
  };
  const failure = await client
    .connect(new StdioUpstream({ input, output }), { onClose }, 5_000, 'initialize')
    .catch((error: unknown) => error);
  const call = (name = 'x', limits: object = {}): Promise<unknown> =>
    client.callTool(name, {}, { ...LIMITS, ...limits }).catch((error: unknown) => error);
  const methods = (): string[] => asked.map(({ method }) => method).filter(Boolean);
  return { client, call, say, asked, methods, failure, verdicts, oddities, closes: () => closes };
}

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const question = (message: string) => ({ method: 'elicitation/create', params: { message } });

describe('a server that refuses initialize', () => {
  it('is asked for the newer revision on the same streams if it misses _meta', async () => {
    const { client, failure, methods, verdicts } = await open(() => undefined);
    expect(failure).toBeUndefined();
    expect(methods().slice(0, 2)).toEqual(['initialize', 'server/discover']);
    expect(client.instructions).toBe('Call x.');
    expect(verdicts).toEqual([['modern', '2026-07-28']]);
  });

  it.each([
    ['needs a key', { code: -32000, message: 'API key missing' }],
    ['has an internal error', { code: -32603, message: 'Internal error' }],
  ])('gets nothing else if it %s', async (_why, refusal) => {
    const { failure, methods, verdicts } = await open(() => undefined, {}, refusal);
    expect(failure).toMatchObject({ failure: 'error', ...refusal });
    expect(methods()).toEqual(['initialize']);
    expect(verdicts).toEqual([]);
  });

  it('fails with its own words if it does not name the revision either', async () => {
    const { failure, methods } = await open(() => undefined, {}, META_ASKED, { supportedVersions: ['2024-11-05'] });
    expect(failure).toMatchObject({ failure: 'error', message: META_ASKED.message });
    expect(methods()).toEqual(['initialize', 'server/discover']);
  });

  it('fails with the versions that it names', async () => {
    const refusal = { code: -32022, message: 'no', data: { supported: ['2031-01-01', '2031-06-01'] } };
    const { failure, methods } = await open(() => undefined, {}, refusal);
    expect(failure).toMatchObject({ failure: 'version', message: '2031-01-01, 2031-06-01' });
    expect(methods()).toEqual(['initialize']);
  });

  it.each([
    ['a name that is no object', { _meta: { 'io.modelcontextprotocol/serverInfo': 'x' } }],
    ['_meta that is null', { _meta: null }],
    ['capabilities that are no object', { capabilities: 'all' }],
  ])('is greeted although its answer has %s', async (_what, discovered) => {
    const { failure } = await open(() => undefined, {}, META_ASKED, discovered);
    expect(failure).toBeUndefined();
  });
});

describe('an answer of a server of revision 2026-07-28', () => {
  const answering = (result: object) => open(({ id, method }, say) => method === 'tools/call' && say({ id, result }));

  it('without a type is complete', async () => {
    const { call } = await answering(text('done'));
    expect(await call()).toEqual(text('done'));
  });

  it('loses the members that older clients do not know, and no other', async () => {
    const _meta = { 'io.modelcontextprotocol/serverInfo': { name: 'x', version: '1' }, 'com.example/a': 1 };
    const { call } = await answering({
      ...text('done'),
      resultType: 'complete',
      ttlMs: 5,
      cacheScope: 'private',
      _meta,
    });
    expect(await call()).toEqual({ ...text('done'), _meta: { 'com.example/a': 1 } });
  });

  it.each([
    ['of an unknown type', { resultType: 'partial' }, 'an answer of the unknown type partial'],
    ['that asks for nothing', { resultType: 'input_required' }, 'does not say which'],
    [
      'that asks too much at once',
      {
        resultType: 'input_required',
        inputRequests: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, {}])),
      },
      'an answer with 17 questions at once',
    ],
  ])('%s fails the call at once', async (_what, result, words) => {
    const { call } = await answering(result);
    expect(await call()).toMatchObject({
      failure: 'protocol',
      frame: 'bad_result',
      message: expect.stringContaining(words),
    });
  });

  it('that asks for something MCP does not have fails the call', async () => {
    const { call } = await answering({ resultType: 'input_required', inputRequests: { a: { method: 'files/write' } } });
    expect(await call()).toMatchObject({
      failure: 'error',
      code: -32601,
      message: 'The call needs files/write of its client, which MCP does not have.',
    });
  });

  it('that rejects the version makes the verdict doubtful, and ends the connection after the other calls', async () => {
    const error = { code: -32022, message: 'Unsupported protocol version' };
    const held: (() => void)[] = [];
    const { call, verdicts, closes } = await open(({ id, method, params }, say) => {
      if (method !== 'tools/call') return;
      if (params.name === 'old') say({ id, error });
      else held.push(() => say({ id, result: text('held') }));
    });
    const other = call('slow');
    expect(await call('old')).toMatchObject({ failure: 'error', code: -32022 });
    expect(verdicts.at(-1)).toBe('doubt');
    await sleep(50);
    expect(closes()).toBe(0);
    held[0]?.();
    expect(await other).toEqual(text('held'));
    await sleep(50);
    expect(closes()).toBe(1);
  });
});

describe('the questions of a call', () => {
  const QUESTIONS = { first: question('One?'), second: question('Two?') };
  const asking: Answer = ({ id, method, params }, say) => {
    if (method !== 'tools/call') return;
    const { inputResponses: answers, requestState } = params;
    const state = 'séaled {"n": 1.0}';
    if (answers) say({ id, result: text(JSON.stringify({ answers, requestState, verbatim: requestState === state })) });
    else say({ id, result: { resultType: 'input_required', inputRequests: QUESTIONS, requestState: state } });
  };

  it('are asked one after another, for the call that they belong to, and answered under their names', async () => {
    const origin = { call: 1 };
    const seen: unknown[] = [];
    let running = 0;
    const { call, asked } = await open(asking, {
      capabilities: { elicitation: {} },
      onRequest: async ({ method, params, origin: from }) => {
        seen.push([method, params.message, from === origin, running]);
        running += 1;
        await sleep(5);
        running -= 1;
        return { action: 'accept', content: { to: params.message } };
      },
    });
    const result = (await call('x', { origin })) as { content: [{ text: string }] };
    expect(seen).toEqual([
      ['elicitation/create', 'One?', true, 0],
      ['elicitation/create', 'Two?', true, 0],
    ]);
    expect(JSON.parse(result.content[0].text)).toMatchObject({
      answers: { first: { content: { to: 'One?' } }, second: { content: { to: 'Two?' } } },
      verbatim: true,
    });
    const ids = asked.filter(({ method }) => method === 'tools/call').map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('end with the first that has no answer, and the call with its reason', async () => {
    let questions = 0;
    const { call, methods } = await open(asking, {
      onRequest: () => {
        questions += 1;
        return Promise.reject(new Error('The user is away.'));
      },
    });
    expect(await call()).toMatchObject({
      failure: 'error',
      message:
        'The call needs an answer to elicitation/create, and could not get it: The user is away; call it from a client that supports elicitation.',
    });
    expect(questions).toBe(1);
    expect(methods().filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('offer a server only what the client of the call supports', async () => {
    const { call, asked } = await open(
      ({ id, method }, say) => method === 'tools/call' && say({ id, result: text('') }),
      {
        capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
        capabilitiesOf: (origin) => (origin as { can?: object }).can as Record<string, unknown>,
      },
    );
    await call('x', { origin: { can: { elicitation: {}, roots: {} } } });
    await call('x', { origin: { can: {} } });
    await call('x', { origin: {} });
    const offered = asked
      .filter(({ method }) => method === 'tools/call')
      .map(({ params }) => (params._meta as Record<string, unknown>)['io.modelcontextprotocol/clientCapabilities']);
    expect(offered).toEqual([
      { elicitation: {}, roots: {} },
      {},
      { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    ]);
  });
});

describe('messages of a server of revision 2026-07-28', () => {
  it('that are requests are refused, because the revision has none', async () => {
    let requests = 0;
    const onRequest = async (): Promise<Record<string, unknown>> => {
      requests += 1;
      return {};
    };
    const { say, asked } = await open(() => undefined, { onRequest });
    say({ id: 'q', method: 'elicitation/create', params: {} });
    while (!asked.some(({ id }) => id === 'q')) await sleep(5);
    expect(asked.find(({ id }) => id === 'q')).toMatchObject({ error: { code: -32601 } });
    expect(requests).toBe(0);
  });

  it('that end the subscription are followed by a new one, and lists count as changed', async () => {
    const changed: string[] = [];
    const listens: Asked[] = [];
    const { say } = await open(
      (one, acknowledge) => {
        if (one.method !== 'subscriptions/listen') return;
        listens.push(one);
        const _meta = { 'io.modelcontextprotocol/subscriptionId': one.id };
        const { notifications } = one.params;
        acknowledge({ method: 'notifications/subscriptions/acknowledged', params: { _meta, notifications } });
      },
      { onNotification: ({ method }) => void changed.push(method) },
    );
    while (listens.length < 1) await sleep(5);
    expect(listens[0]?.params).toMatchObject({ notifications: { toolsListChanged: true } });
    expect(changed).toEqual([]);
    say({ id: listens[0]?.id, result: { resultType: 'complete' } });
    while (listens.length < 2 || changed.length < 1) await sleep(20);
    expect(changed).toEqual(['notifications/tools/list_changed']);
    expect(listens[1]?.id).not.toBe(listens[0]?.id);
  });

  it('that refuse the subscription leave the connection as it is', async () => {
    const { call, closes, methods } = await open(({ id, method }, say) => {
      if (method === 'subscriptions/listen') say({ id, error: { code: -32601, message: 'Method not found' } });
      else if (method === 'tools/call') say({ id, result: text('works') });
    });
    expect(await call()).toEqual(text('works'));
    await sleep(50);
    expect(closes()).toBe(0);
    expect(methods().filter((method) => method === 'subscriptions/listen')).toHaveLength(1);
  });
});
