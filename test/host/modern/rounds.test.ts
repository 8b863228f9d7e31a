import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HostProcess } from '../../support/hostProcess.ts';
import { shared } from '../../support/lifetime.ts';
import { type Asked, answering, askedIn, ELICITS, ModernCaller, ONCE, textOf } from '../../support/modernClient.ts';
import { RoundGateway } from '../../support/roundGateway.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';

/** Questions to a modern client end its request, which comes again with the answer. Real hosts, workers and servers. */

interface Round {
  gateway: RoundGateway;
  host: HostProcess;
  client: ModernCaller;
  act: string;
  /** Tool that asks the user for a name. */
  asks: string;
}

async function opened(capabilities: object = ELICITS, more: object = {}): Promise<Round> {
  const gateway = new RoundGateway(more);
  const host = new HostProcess(gateway.workspace);
  const client = ModernCaller.on(host, capabilities);
  const [act, asks] = [await client.toolId('/faulty/act'), await client.toolId('/asking/test_elicitation')];
  return { gateway, host, client, act, asks };
}

let calls = 0;
const nonceOf = (): string => `nonce-${++calls}`;

describe('an approval', () => {
  const round = shared(() => opened());
  const act = (nonce: string, more: object = {}) =>
    round().client.call('tool_execute', { tool_id: round().act, args: { nonce } }, more);

  it('is asked for in the answer, and the call runs once when it comes again with the consent', async () => {
    const nonce = nonceOf();
    const first = await act(nonce);
    const asked = askedIn(first);
    expect(first.result).not.toHaveProperty('ttlMs');
    expect(Object.values(asked.inputRequests)).toEqual([
      {
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: expect.stringContaining('act'),
          requestedSchema: expect.objectContaining({ type: 'object' }),
        },
      },
    ]);
    expect(asked.requestState).not.toContain(nonce);
    expect(round().gateway.effectsOf(nonce)).toBe(0);
    const answer = await act(nonce, answering(asked, ONCE));
    expect(answer.result).toMatchObject({ resultType: 'complete' });
    expect(textOf(answer)).toContain(nonce);
    expect(round().gateway.effectsOf(nonce)).toBe(1);
  });

  it('that the user declines is the end of the call', async () => {
    const nonce = nonceOf();
    const answer = await act(nonce, answering(askedIn(await act(nonce)), { action: 'decline' }));
    expect(answer.result).toMatchObject({ isError: true });
    expect(textOf(answer)).toContain('The user declined this call');
    expect(round().gateway.effectsOf(nonce)).toBe(0);
  });

  it('is asked for again while the answer is missing', async () => {
    const nonce = nonceOf();
    const first = askedIn(await act(nonce));
    const again = askedIn(await act(nonce, { requestState: first.requestState, inputResponses: {} }));
    expect(again.inputRequests).toEqual(first.inputRequests);
    // Both states are of one round, and only one of them can end it.
    await act(nonce, answering(again, ONCE));
    expect(textOf(await act(nonce, answering(first, ONCE)))).toContain('was used already');
    expect(round().gateway.effectsOf(nonce)).toBe(1);
  });

  it('cannot be used twice, for another call or after a change, and nothing runs', async () => {
    const nonce = nonceOf();
    const other = nonceOf();
    const asked = askedIn(await act(nonce));
    const { requestState: state } = asked;
    const forged = `${state.slice(0, -4)}${state.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    const refusals: [string, object, string][] = [
      [other, answering(asked, ONCE), 'params.requestState belongs to another request'],
      [nonce, answering({ ...asked, requestState: forged }, ONCE), 'params.requestState was changed'],
      [nonce, answering({ ...asked, requestState: 'x'.repeat(9_000) }, ONCE), 'params.requestState was changed'],
      [nonce, { ...answering(asked, ONCE), requestState: 7 }, 'params.requestState must be a string'],
      [nonce, answering(asked, { action: 'perhaps' }), 'params.inputResponses.question must have an action'],
      [nonce, answering(asked, ['accept']), 'params.inputResponses.question must be an object'],
    ];
    for (const [of, more, why] of refusals) {
      const { error } = await act(of, more);
      expect(error?.code, why).toBe(-32602);
      expect(error?.message).toContain(why);
      expect(error?.message).not.toContain('\n');
    }
    expect([nonce, other].map((one) => round().gateway.effectsOf(one))).toEqual([0, 0]);
    expect(textOf(await act(nonce, answering(asked, ONCE)))).toContain(nonce);
    expect((await act(nonce, answering(asked, ONCE))).error?.message).toContain('was used already');
    expect(round().gateway.effectsOf(nonce)).toBe(1);
  });

  it('without the state of its round counts for nothing', async () => {
    const nonce = nonceOf();
    const { inputRequests } = askedIn(await act(nonce, { inputResponses: { question: ONCE } }));
    expect(inputRequests).toHaveProperty('question');
    expect(round().gateway.effectsOf(nonce)).toBe(0);
  });

  it('that the client never answers holds no other call', async () => {
    const nonces = Array.from({ length: 40 }, nonceOf);
    const asked: Asked[] = [];
    for (const nonce of nonces) asked.push(askedIn(await act(nonce)));
    const answers = await Promise.all(nonces.map((nonce, i) => act(nonce, answering(asked[i] as Asked, ONCE))));
    expect(answers.map(textOf)).toEqual(nonces.map((nonce) => expect.stringContaining(nonce)));
    expect(nonces.map((nonce) => round().gateway.effectsOf(nonce))).toEqual(nonces.map(() => 1));
  });

  it('is not for another process, whose keys are its own', async () => {
    const nonce = nonceOf();
    const asked = askedIn(await act(nonce));
    const stranger = ModernCaller.on(new HostProcess(round().gateway.workspace), ELICITS);
    const call = { tool_id: round().act, args: { nonce } };
    const { error } = await stranger.call('tool_execute', call, answering(asked, ONCE));
    expect(error?.message).toContain('this server did not make it');
    expect(round().gateway.effectsOf(nonce)).toBe(0);
  });
});

it('an approval for the session belongs to the connection', async () => {
  const { gateway, client, act } = await opened();
  const call = (nonce: string, more: object = {}) =>
    client.call('tool_execute', { tool_id: act, args: { nonce } }, more);
  const session = { action: 'accept', content: { remember: 'session' } };
  await call('first', answering(askedIn(await call('first')), session));
  expect(textOf(await call('second'))).toContain('second');
  expect(['first', 'second'].map((nonce) => gateway.effectsOf(nonce))).toEqual([1, 1]);
});

it('a quota for the session belongs to the connection, whatever a request states about its client', async () => {
  const { host, asks } = await opened({}, { rateLimits: { tool_execute: { maxCallsPerSession: 2 } } });
  const call = async (client: string, capabilities: object) => {
    const meta = { 'io.modelcontextprotocol/clientInfo': { name: client, version: '1' } };
    const params = { name: 'tool_execute', arguments: { tool_id: asks, args: { message: 'x' } } };
    return textOf(await ModernCaller.on(host, capabilities).request('tools/call', params, meta));
  };
  expect(await call('one', {})).not.toContain('RATE_LIMITED');
  expect(await call('two', {})).not.toContain('RATE_LIMITED');
  expect(await call('three', { roots: {} })).toContain('RATE_LIMITED');
});

it('a client that declares no elicitation gets the answer that a legacy client gets', async () => {
  const { gateway, client, act } = await opened({});
  const args = { tool_id: act, args: { nonce: 'unasked' } };
  const legacy = await HostProcess.connect(gateway.workspace);
  const answer = await client.call('tool_execute', args);
  expect(textOf(answer)).toBe((await legacy.call('tool_execute', args)).text);
  expect(textOf(answer)).toContain("needs the user's approval");
  expect(gateway.effectsOf('unasked')).toBe(0);
});

describe('a question of a server', () => {
  const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  const gateway = shared(() => opened(CAPABILITIES));
  const ask = (more: object = {}) =>
    gateway().client.call('tool_execute', { tool_id: gateway().asks, args: { message: 'Your name?' } }, more);

  it('is answered in the next round, in gateway mode', async () => {
    const asked = askedIn(await ask());
    expect(asked.inputRequests.question).toMatchObject({
      method: 'elicitation/create',
      params: { message: expect.stringContaining('Your name?') },
    });
    const response = { action: 'accept', content: { username: 'ada', email: 'ada@example.test' } };
    expect(textOf(await ask(answering(asked, response)))).toContain('ada');
  });

  it('is answered in the next round, in passthrough mode', async () => {
    const host = new HostProcess(gateway().gateway.workspace, ['--mode', 'passthrough']);
    const client = ModernCaller.on(host, CAPABILITIES);
    const args = { prompt: 'Say something.' };
    const asked = askedIn(await client.call('asking__test_sampling', args));
    expect(asked.inputRequests.question).toMatchObject({ method: 'sampling/createMessage' });
    const response = { role: 'assistant', content: { type: 'text', text: 'something' }, model: 'mine' };
    expect(textOf(await client.call('asking__test_sampling', args, answering(asked, response)))).toContain('something');
  });

  it('is refused for a client that cannot be asked', async () => {
    const plain = ModernCaller.on(gateway().host);
    const answer = await plain.call('tool_execute', { tool_id: gateway().asks, args: { message: 'Anybody?' } });
    expect(answer.result).toMatchObject({ resultType: 'complete', isError: true });
    expect(textOf(answer)).toContain('does not support elicitation');
  });
});

describe('in passthrough mode', () => {
  const opened = (server: object): HostProcess =>
    new HostProcess(testWorkspace({ one: server }), ['--mode', 'passthrough']);

  it('a call that fails because the client cannot be asked says which capability it needs', async () => {
    const client = ModernCaller.on(opened(servers.conformance));
    const answer = await client.call('test_elicitation', { message: 'Anybody?' });
    expect(answer.error).toEqual({
      code: -32021,
      message: 'Missing required client capability: elicitation.',
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });

  it('an address that the user must visit first is a question, and the call begins again after it', async () => {
    const visit = { mode: 'url', message: 'Sign in', url: 'https://example.test/sign-in', elicitationId: 'one' };
    const error = JSON.stringify({ code: -32042, message: 'Sign in first', data: { elicitations: [visit] } });
    const raw = `{"jsonrpc":"2.0","id":ID,"error":${error}}`;
    const script = JSON.stringify({ steps: [1, 2].map((nth) => ({ on: 'tools/call', nth, do: [{ raw }] })) });
    const args = [resolve('test/fixtures/faultServer.mjs'), '--script', script];
    const host = opened({ command: process.execPath, args });
    const call = (capabilities: object, more: object = {}) =>
      ModernCaller.on(host, capabilities).call('act', { nonce: 'x' }, more);
    expect((await call({})).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    });
    const capabilities = { elicitation: { url: {} } };
    const asked = askedIn(await call(capabilities));
    expect(asked.inputRequests.question).toEqual({
      method: 'elicitation/create',
      params: { mode: 'url', message: expect.stringContaining('Sign in'), url: visit.url },
    });
    expect(textOf(await call(capabilities, answering(asked, { action: 'accept' })))).toContain('x');
  });
});

it('a worker that is killed between two rounds leaves the outcome of a call unknown that had reached its server', async () => {
  const { gateway, client, asks } = await opened();
  const args = { tool_id: asks, args: { message: 'Your name?' } };
  const asked = askedIn(await client.call('tool_execute', args));
  await gateway.killWorker();
  const answer = await client.call('tool_execute', args, answering(asked, { action: 'accept', content: {} }));
  expect(answer.result).toMatchObject({ resultType: 'complete', isError: true });
  expect(textOf(answer)).toContain('during the call');
});
