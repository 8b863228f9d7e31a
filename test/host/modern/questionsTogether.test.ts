import { describe, expect, it } from 'vitest';
import { GatewaySession } from '../../support/gateway.ts';
import { HostProcess } from '../../support/hostProcess.ts';
import { shared } from '../../support/lifetime.ts';
import { answering, askedIn, ModernCaller, ONCE, textOf } from '../../support/modernClient.ts';
import { servers, type TestWorkspace, testWorkspace } from '../../support/workspace.ts';

/** Covers several questions of a server of revision 2026-07-28 in one round. Real hosts, workers and servers. */

const ALL = { elicitation: { form: {} }, sampling: {}, roots: {} };
const PASSTHROUGH = ['--mode', 'passthrough'];
const THREE = 'test_input_required_result_multiple_inputs';

const ADA = { action: 'accept', content: { name: 'Ada' } };
const HELLO = { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'mine' };
const HERE = { roots: [{ uri: 'file:///here' }] };
const RESPONSES = { user_name: ADA, greeting: HELLO, client_roots: HERE };

const workspaceOf = (more: object = {}): TestWorkspace =>
  testWorkspace({ rounds: { ...servers.rounds, sampling: true, ...more } });
const callerIn = (workspace: TestWorkspace, capabilities: object): ModernCaller =>
  ModernCaller.on(new HostProcess(workspace, PASSTHROUGH), capabilities);

describe('the questions of a round of a server', () => {
  const workspace = shared(() => workspaceOf());
  const client = shared(() => callerIn(workspace(), ALL));
  const call = (name: string, more: object = {}) => client().call(name, {}, more);

  it('come together under the keys of the server, which gets all answers', async () => {
    const asked = askedIn(await call(THREE));
    expect(asked.inputRequests).toEqual({
      user_name: {
        method: 'elicitation/create',
        params: expect.objectContaining({ message: 'Server "rounds" asks: What is your name?' }),
      },
      greeting: { method: 'sampling/createMessage', params: expect.objectContaining({ maxTokens: 50 }) },
      client_roots: { method: 'roots/list', params: {} },
    });
    const answer = await call(THREE, { requestState: asked.requestState, inputResponses: RESPONSES });
    expect(textOf(answer)).toBe('Hello Ada file:///here');
  });

  it('may have the keys of the gateway, and keys that are no names', async () => {
    const asked = askedIn(await call('test_odd_keys'));
    const keys = ['question', '__proto__', 'a.b\n"c"'];
    expect(Object.keys(asked.inputRequests).sort()).toEqual([...keys].sort());
    const wrong = Object.fromEntries(keys.map((key, i) => [key, i === 2 ? 'Ada' : ADA]));
    const { error } = await call('test_odd_keys', { requestState: asked.requestState, inputResponses: wrong });
    expect(error).toMatchObject({
      code: -32602,
      message: String.raw`params.inputResponses["a.b\n\"c\""] must be an object.`,
    });
    expect(textOf(await call('test_odd_keys', answering(asked, ADA)))).toBe('Ada Ada Ada');
  });

  it('are all asked again while an answer is missing', async () => {
    const asked = askedIn(await call(THREE));
    const { greeting: _, ...some } = RESPONSES;
    const again = askedIn(await call(THREE, { requestState: asked.requestState, inputResponses: some }));
    expect(again.inputRequests).toEqual(asked.inputRequests);
    const inputResponses = { ...RESPONSES, other: 'of no question' };
    expect(textOf(await call(THREE, { requestState: again.requestState, inputResponses }))).toContain('Hello Ada');
  });

  it('are asked of nobody where the server may not ask one of them', async () => {
    expect(textOf(await call('test_six_questions'))).toContain('A call may ask at most 5 times');
    expect(textOf(await call('test_endless_key'))).toContain('a question with an endless key');
  });

  it('may be answered in the first request, and the keys of other answers do not matter', async () => {
    const inputResponses = { ...RESPONSES, other: ADA, user_name: { action: 'accept', content: { name: 'Eve' } } };
    expect(textOf(await call(THREE, { inputResponses }))).toBe('Hello Eve file:///here');
    // An answer that is none counts as missing.
    const { user_name: _, ...others } = RESPONSES;
    expect(Object.keys(askedIn(await call(THREE, { inputResponses: others })).inputRequests)).toHaveLength(3);
    const wrong = { ...RESPONSES, user_name: 7 };
    expect(Object.keys(askedIn(await call(THREE, { inputResponses: wrong })).inputRequests)).toHaveLength(3);
  });

  it('are asked of nobody where the client cannot be asked one of them, and the error names that', async () => {
    const { elicitation, roots } = ALL;
    const { error } = await callerIn(workspace(), { elicitation, roots }).call(THREE, {});
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { sampling: {} } } });
  });

  it('are not repeated for a request that declares less than the first, whose call fails', async () => {
    const asked = askedIn(await call(THREE));
    const { requestState } = asked;
    const plain = new ModernCaller((method, params) => client().request(method, params, WITHOUT), {});
    const { error } = await plain.call(THREE, {}, { requestState, inputResponses: {} });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } });
  });

  it('go to a client of the older revisions one after the other', async () => {
    const legacy = await GatewaySession.connect(workspace(), PASSTHROUGH, ALL);
    legacy.answer('elicitation/create', () => ADA);
    legacy.answer('sampling/createMessage', () => HELLO);
    legacy.answer('roots/list', () => HERE);
    const { result } = await legacy.request('tools/call', { name: THREE, arguments: {} });
    expect(textOf({ result } as never)).toBe('Hello Ada file:///here');
    expect(legacy.asked.map(({ method }) => method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
    ]);
  });
});

const WITHOUT = { 'io.modelcontextprotocol/clientCapabilities': {} };

it('names what is off for the server, and asks nothing of the round', async () => {
  const answer = await callerIn(workspaceOf({ sampling: false }), ALL).call(THREE, {});
  expect(textOf(answer)).toContain('set "sampling": true in its entry');
});

it('an approval has a round of its own before the questions of the server', async () => {
  const workspace = workspaceOf();
  workspace.write(
    '.vscode/waygate.json',
    JSON.stringify({
      policy: { rules: [{ action: 'require_approval', tool: 'test_odd_keys' }] },
      servers: { rounds: { ...servers.rounds, sampling: true } },
    }),
  );
  workspace.approve();
  const client = ModernCaller.on(new HostProcess(workspace), ALL);
  const args = { tool_id: await client.toolId('/rounds/test_odd_keys'), args: {} };
  const approval = askedIn(await client.call('tool_execute', args));
  expect(Object.keys(approval.inputRequests)).toEqual(['question']);
  const asked = askedIn(await client.call('tool_execute', args, answering(approval, ONCE)));
  expect(asked.inputRequests.question?.params.message).toBe('Server "rounds" asks: Name 0?');
  // The answer to the approval answers nothing of the server, and the other way round.
  const old = await client.call('tool_execute', args, {
    ...answering(asked, ADA),
    requestState: approval.requestState,
  });
  expect(old.error?.message).toContain('was used already');
  expect(textOf(await client.call('tool_execute', args, answering(asked, ADA)))).toContain('Ada Ada Ada');
});
