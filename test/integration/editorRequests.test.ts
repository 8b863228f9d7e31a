import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CallRecord, Refreshed } from '../../src/control/activityContract.ts';
import type { ArtifactAnswer, ArtifactBytes } from '../../src/control/artifactContract.ts';
import type { ControlClient } from '../../src/control/client.ts';
import type { ApprovalQuestion } from '../../src/control/contract.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { runtimeOf, status } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { atEnd, shared } from '../support/lifetime.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/** Covers the requests of the editor about calls, results, limits, tools and servers, with real processes. */

const TOKEN = `ghp_${'a1'.repeat(18)}`;
const ASKS = { policy: { rules: [{ action: 'require_approval', tool: 'fails' }] } };
const LIMITS = { rateLimits: { tool_execute: { maxCallsPerMinute: 500, maxCallsPerSession: 400 } } };

interface Rig {
  workspace: TestWorkspace;
  host: GatewaySession;
  editor: ControlClient;
}

/** Opens a gateway with a client that cannot ask the user, and an editor that watches it. */
async function rig(blocks: object = { ...ASKS, ...LIMITS }, ...flags: string[]): Promise<Rig> {
  const workspace = testWorkspace();
  workspace.write('.vscode/waygate.json', JSON.stringify({ ...blocks, servers: { one: servers.fixture(...flags) } }));
  workspace.approve();
  const host = await GatewaySession.connect(workspace);
  await host.toolId('/one/echo');
  return { workspace, host, editor: await watching(workspace) };
}

async function watching(workspace: TestWorkspace): Promise<ControlClient> {
  const editor = await attachControl(runtimeOf(workspace), { start: false, holds: true });
  if (!editor) throw new Error('No worker runs.');
  atEnd(() => editor.dispose());
  await editor.request('watch', {});
  return editor;
}

const gateway = shared(() => rig());

const execute = (host: GatewaySession, tool: string, args: object) =>
  host.call('tool_execute', { tool_id: `one:${tool}`, args });

/** Resolves to the newest call that fits, once there is one. */
async function call(editor: ControlClient, fits: (record: CallRecord) => boolean): Promise<CallRecord> {
  let found: CallRecord | undefined;
  await until('the call', async () => {
    found = (await editor.request('calls', { limit: 500 })).calls.find(fits);
    return found !== undefined;
  });
  return found as CallRecord;
}

const newest = (editor: ControlClient, tool: string): Promise<CallRecord> =>
  call(editor, ({ subject, phase }) => subject === `one:${tool}` && phase === 'done');

describe('calls', () => {
  it('are listed with their session, server and tool, the newest first, and page by page', async () => {
    const { host, editor } = gateway();
    for (const text of ['a', 'b', 'c']) await execute(host, 'echo', { text });
    const page = await editor.request('calls', { limit: 2, filter: { outcome: 'ok', server: 'one' } });
    expect(page.calls).toHaveLength(2);
    expect(page.more).toBe(true);
    const [first, second] = page.calls as [CallRecord, CallRecord];
    expect(first).toMatchObject({ server: 'one', phase: 'done', outcome: 'ok', effect: 'done', attempts: 1 });
    expect(first.toolId).toMatch(/^one:echo#/);
    expect(first.id).toBeGreaterThan(second.id);
    const next = await editor.request('calls', { limit: 2, before: second.id });
    expect(next.calls.every(({ id }) => id < second.id)).toBe(true);
    const { sessions } = await editor.request('status', {});
    expect(sessions.map(({ id }) => id)).toContain(first.session);
  });

  it('have their arguments and their answer on demand, with secrets masked, and their stages', async () => {
    const { host, editor } = gateway();
    await execute(host, 'echo', { text: 'shown as it is', token: TOKEN });
    const details = await editor.request('call', { id: (await newest(editor, 'echo')).id });
    expect(details?.arguments).toMatchObject({ args: { text: 'shown as it is' } });
    // The model gets what a server said between two marks.
    expect(details?.answer).toMatch(/^ok · data from one\nshown as it is\nend of data\n/);
    expect(JSON.stringify(details)).not.toContain(TOKEN);
    expect(details?.attempts).toMatchObject([{ outcome: 'ok' }]);
    expect(details?.stages.map(({ stage }) => stage)).toContain('dispatch');
  });

  it('that fail have a fault with what the gateway did and the stderr of that moment', async () => {
    const { host, editor } = await rig({}, '--stderr-flood', '300');
    await execute(host, 'crash', {});
    const record = await newest(editor, 'crash');
    expect(record).toMatchObject({ outcome: 'error', errorCode: 'UPSTREAM_UNAVAILABLE', effect: 'unknown' });
    const { fault } = (await editor.request('call', { id: record.id })) ?? {};
    expect(fault?.handled).toContain('Did not repeat the call, because it may have taken effect.');
    expect(fault?.stderr.at(-1)).toBe('e'.repeat(99));
  });

  it('keep no arguments and answers where the user switched that off', async () => {
    const { host, editor } = await rig({ activity: { keepArguments: false } });
    await execute(host, 'echo', { text: 'private' });
    const details = await editor.request('call', { id: (await newest(editor, 'echo')).id });
    expect(details).toMatchObject({ dropped: 'switched_off' });
    expect(JSON.stringify(details)).not.toContain('private');
  });

  it('are announced in batches: one hundred calls cost few notifications, and each ends as done', async () => {
    const { host, editor } = gateway();
    const batches: (readonly CallRecord[])[] = [];
    editor.onCalls((calls) => void batches.push(calls));
    const started = performance.now();
    await Promise.all(Array.from({ length: 100 }, (_, i) => execute(host, 'echo', { text: `n${i}` })));
    const latest = () => new Map(batches.flat().map((record) => [record.id, record]));
    await until('all calls', () => [...latest().values()].filter(({ phase }) => phase === 'done').length >= 100);
    const slots = Math.ceil((performance.now() - started) / 100);
    expect(batches.length).toBeLessThanOrEqual(slots + 1);
    for (const batch of batches) expect(new Set(batch.map(({ id }) => id)).size).toBe(batch.length);
  });

  it('that run can be cancelled by the user, and the client learns it', async () => {
    const { workspace, host, editor } = gateway();
    const answer = execute(host, 'wait', { until: workspace.gate });
    const running = await call(editor, ({ phase, server }) => phase === 'running' && server === 'one');
    expect(await editor.request('cancelCall', { id: running.id })).toEqual({ cancelled: true });
    expect((await answer).text).toMatch(/^Error CANCELLED: /);
    expect(await newest(editor, 'wait')).toMatchObject({ errorCode: 'CANCELLED', effect: 'unknown' });
    expect(await editor.request('cancelCall', { id: running.id })).toEqual({ cancelled: false });
  });

  it('that the user forgets are gone with their arguments and answers, and no others', async () => {
    const { host, editor } = await rig({});
    const made = [];
    for (const text of ['private', 'public']) {
      await execute(host, 'echo', { text });
      made.push((await newest(editor, 'echo')).id);
    }
    const [forgotten = 0, kept = 0] = made;
    expect(JSON.stringify(await editor.request('call', { id: forgotten }))).toContain('private');
    expect(await editor.request('forgetCalls', { ids: [forgotten] })).toEqual({ forgotten: 1 });
    expect(await editor.request('call', { id: forgotten })).toBeNull();
    const { calls } = await editor.request('calls', { limit: 500 });
    expect(calls.map(({ id }) => id)).not.toContain(forgotten);
    expect(JSON.stringify(await editor.request('call', { id: kept }))).toContain('public');
  });

  it('that ended leave the list on request', async () => {
    const { host, editor } = await rig({});
    await execute(host, 'echo', { text: 'x' });
    expect((await editor.request('clearCalls', {})).cleared).toBeGreaterThan(0);
    expect(await editor.request('calls', { limit: 10 })).toEqual({ calls: [], more: false });
  });
});

describe('a question', () => {
  /** Answers no question, and notes when each is withdrawn. */
  function silent(editor: ControlClient) {
    const questions: ApprovalQuestion[] = [];
    const gone: string[] = [];
    editor.onApproval((question, signal) => {
      questions.push(question);
      return new Promise(() => signal.addEventListener('abort', () => gone.push(question.id)));
    });
    return { questions, gone };
  }

  it('names the client and the call, which waits; the wait is no part of its duration', async () => {
    const { host, editor } = gateway();
    const questions: ApprovalQuestion[] = [];
    editor.onApproval(async (question) => {
      questions.push(question);
      const { calls } = await editor.request('calls', { limit: 500, filter: { outcome: 'unfinished' } });
      expect(calls.find(({ id }) => id === question.callId)?.phase).toBe('waiting');
      await sleep(1_500);
      return 'once';
    });
    const started = performance.now();
    expect((await execute(host, 'fails', {})).text).toContain('the thing is not there');
    const waited = performance.now() - started;
    const record = await newest(editor, 'fails');
    expect(questions).toMatchObject([{ client: record.client, callId: record.id, deadline: expect.any(Number) }]);
    expect(record.durationMs).toBeLessThanOrEqual(waited - 1_400);
    const { tools } = await editor.request('telemetry', {});
    const row = tools.find(({ tool_id }) => tool_id.startsWith('one:fails'));
    expect(row?.max_latency_ms).toBeLessThanOrEqual(waited - 1_400);
  });

  it('is withdrawn when its client leaves, and the call is cancelled rather than failed', async () => {
    const { workspace, editor } = await rig();
    const { questions, gone } = silent(editor);
    const other = await GatewaySession.connect(workspace);
    void execute(other, 'fails', {}).catch(() => undefined);
    await until('the question', () => questions.length === 1);
    other.end();
    await until('its end', () => gone.length === 1);
    expect(await newest(editor, 'fails')).toMatchObject({ errorCode: 'CANCELLED', effect: 'none' });
  });

  it('is asked in every window, and withdrawn from the others with the first answer', async () => {
    const { workspace, host, editor } = await rig();
    const { questions, gone } = silent(editor);
    const second = await watching(workspace);
    second.onApproval(async () => {
      await until('the other question', () => questions.length === 1);
      return 'denied';
    });
    expect((await execute(host, 'fails', {})).text).toMatch(/^Error POLICY_DENIED: The user declined/);
    await until('the withdrawal', () => gone.length === 1);
  });

  it('ends at its deadline as denied, and the answer says so', async () => {
    const { host, editor } = await rig();
    process.env.WAYGATE_QUESTION_MS = '300';
    atEnd(() => delete process.env.WAYGATE_QUESTION_MS);
    const { gone } = silent(editor);
    expect((await execute(host, 'fails', {})).text).toMatch(/^Error POLICY_DENIED: The user did not answer in time/);
    await until('the withdrawal', () => gone.length === 1);
  });
});

describe('a call of the user', () => {
  it('appears as theirs, follows the rules, and teaches the ranking nothing', async () => {
    const { editor } = await rig();
    editor.onApproval(async () => 'denied');
    const mine = (name: string, args: Record<string, unknown>) => editor.request('callTool', { name, args, as: 'you' });
    await mine('tool_browse', { path: '/', query: 'say back a text' });
    const answer = await mine('tool_execute', { tool_id: 'one:echo', args: { text: 'hi' } });
    expect(answer.content[0]?.text).toContain('\nhi\n');
    expect(await newest(editor, 'echo')).toMatchObject({ session: 'you', client: 'you' });
    expect(await editor.request('learned', {})).toEqual([]);
    const denied = await mine('tool_execute', { tool_id: 'one:fails', args: {} });
    expect(denied.content[0]?.text).toMatch(/^Error POLICY_DENIED/);
  });

  it('ends when the editor cancels the request', async () => {
    const { workspace, editor } = gateway();
    const cancel = new AbortController();
    const args = { tool_id: 'one:wait', args: { until: workspace.gate } };
    const answer = editor.request('callTool', { name: 'tool_execute', args, as: 'you' }, cancel.signal);
    await call(editor, ({ phase, session, server }) => phase === 'running' && session === 'you' && server === 'one');
    cancel.abort();
    await expect(answer).rejects.toThrow();
    const ended = await call(editor, ({ session, errorCode }) => session === 'you' && errorCode !== undefined);
    expect(ended.errorCode).toBe('CANCELLED');
  });
});

describe('limits', () => {
  it('are reported for all sessions together and for each session', async () => {
    const { host, editor } = gateway();
    await execute(host, 'echo', { text: 'x' });
    const { windows } = await editor.request('limits', {});
    const minute = windows.find(({ scope }) => scope === 'tool_execute/minute');
    expect(minute).toMatchObject({ limit: 500 });
    expect(minute?.left).toBeLessThan(500);
    expect(minute?.freesInMs).toBeLessThanOrEqual(60_000);
    expect(minute?.session).toBeUndefined();
    const own = windows.filter(({ scope }) => scope === 'tool_execute/session');
    expect(own.length).toBeGreaterThan(0);
    for (const { session, freesInMs } of own) expect([typeof session, freesInMs]).toEqual(['string', undefined]);
  });
});

describe('a result', () => {
  it('is listed with its call, read by ranges, selected from and removed', async () => {
    const { host, editor } = gateway();
    await execute(host, 'large', { lines: 20_000 });
    const made = await call(
      editor,
      ({ handles, toolId }) => handles.length > 0 && toolId?.startsWith('one:large') === true,
    );
    const handle = made.handles[0] as string;
    const { artifacts, use } = await editor.request('artifacts', { limit: 10 });
    expect(artifacts.find((row) => row.handle === handle)).toMatchObject({
      server: 'one',
      callId: made.id,
      lines: 20_000,
    });
    expect(use.count).toBeGreaterThan(0);
    let text = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part: ArtifactAnswer<ArtifactBytes> = await editor.request('readArtifact', {
        handle,
        offset,
        length: 700_001,
      });
      if ('reason' in part) throw new Error(part.reason);
      text += Buffer.from(part.bytes, 'base64').toString();
      offset = part.next;
    }
    expect(text.split('\n')).toHaveLength(20_000);
    expect(text.endsWith(`line 19999: ${'x'.repeat(60)}`)).toBe(true);
    const selector = { type: 'grep', pattern: 'line 777:' };
    expect(await editor.request('selectArtifact', { handle, selector })).toMatchObject({
      text: expect.stringContaining('line 777:'),
    });
    expect(await editor.request('deleteArtifacts', { handles: [handle, 'text:none:0'] })).toEqual({ deleted: 1 });
    expect(await editor.request('readArtifact', { handle, offset: 0, length: 1 })).toEqual({
      reason: expect.stringContaining('no longer kept'),
    });
  });

  it('that is a table has columns and rows', async () => {
    const { host, editor } = gateway();
    const table = `name,size\n${Array.from({ length: 500 }, (_, i) => `file${i},${500 - i}`).join('\n')}`;
    await execute(host, 'echo', { text: table });
    const made = await call(
      editor,
      ({ handles, toolId }) => handles.length > 0 && toolId?.startsWith('one:echo') === true,
    );
    const selector = { type: 'table', columns: ['name'], sort: 'size', end: 4, contains: 'FILE49' };
    expect(await editor.request('selectArtifact', { handle: made.handles[0] as string, selector })).toMatchObject({
      columns: ['name'],
      rows: [['file499'], ['file498'], ['file497']],
      total: 11,
    });
  });
});

describe('a tool', () => {
  it('is described with its definition as sent, its signature and its use', async () => {
    const { host, editor } = gateway();
    await execute(host, 'wait', { ms: 0 });
    const { toolId = '' } = await newest(editor, 'wait');
    expect(await editor.request('tool', { toolId })).toMatchObject({
      server: 'one',
      path: '/one/wait',
      definition: { name: 'wait', inputSchema: { properties: { ms: { type: 'integer' } } } },
      signature: 'ms?: integer, until?: string, nonce?: string',
      replay: 'never_replay',
      calls: expect.any(Number),
    });
    expect(await editor.request('tool', { toolId: 'one:gone#00000000' })).toBeNull();
  });

  it('has a path with its cost, of the revision of the tree', async () => {
    const { editor } = gateway();
    const { paths, revision } = await editor.request('paths', {});
    const { catalog } = await editor.request('status', {});
    expect(revision).toBe(catalog.revision);
    expect(paths).toHaveLength(catalog.toolCount);
    expect(paths.find(({ path }) => path === '/one/echo')).toMatchObject({ server: 'one', safety: 'read_only' });
    for (const { tokens } of paths) expect(tokens).toBeGreaterThan(0);
  });
});

describe('a server', () => {
  const stateOf = async (editor: ControlClient) => (await editor.request('status', {})).servers[0];

  it('stops, starts and restarts on request, and keeps the log of all its starts', async () => {
    const { editor } = await rig({}, '--stderr-flood', '300');
    const pid = (await stateOf(editor))?.pid;
    expect(await editor.request('restartServer', { server: 'one' })).toEqual({});
    const again = await stateOf(editor);
    expect(again).toMatchObject({ state: 'ready', kind: 'stdio' });
    expect(again?.pid).not.toBe(pid);
    await until('the output', async () => (await editor.request('serverLog', { server: 'one', lines: 10 })).next >= 6);
    const { lines } = await editor.request('serverLog', { server: 'one', lines: 4 });
    expect(lines).toEqual(Array(4).fill('e'.repeat(99)));
    expect(await editor.request('stopServer', { server: 'one' })).toEqual({});
    expect(await stateOf(editor)).toMatchObject({ state: 'not_started' });
    expect(await editor.request('startServer', { server: 'one' })).toEqual({});
    expect(await stateOf(editor)).toMatchObject({ state: 'ready' });
    expect(await editor.request('startServer', { server: 'gone' })).toEqual({
      reason: expect.stringContaining('"gone"'),
    });
  });

  it('reports its use and the tokens of its definitions', async () => {
    const { host, editor } = gateway();
    await execute(host, 'echo', { text: 'x' });
    await until('the count', async () => (await stateOf(editor))?.definitionTokens !== undefined);
    const { calls = 0, lastUsedAt = 0, p95Ms } = (await stateOf(editor)) ?? {};
    expect(calls).toBeGreaterThan(0);
    expect(lastUsedAt).toBeGreaterThan(0);
    expect(p95Ms).toBeGreaterThan(0);
  });

  it('that waits for the user has a remedy, and a reason without a command', async () => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { one: servers.fixture() } }));
    const host = await GatewaySession.connect(workspace);
    await host.call('tool_browse', { path: '/' });
    const { servers: states } = await status(workspace);
    expect(states).toMatchObject([{ remedy: { kind: 'approve' }, reason: expect.not.stringContaining('waygate ') }]);
  });

  it('that is listed again reports its end, while the request was answered at once', async () => {
    const { workspace, editor } = await rig({}, '--new-names');
    const ended: Refreshed[] = [];
    editor.onRefreshed((news) => void ended.push(news));
    expect(await editor.request('refresh', { server: 'gone' })).toMatchObject({ began: [] });
    await editor.request('stopServer', { server: 'one' });
    expect(await editor.request('refresh', {})).toMatchObject({ began: ['one'] });
    expect(ended).toEqual([]);
    await until('the end', () => ended.length > 0);
    expect(ended).toMatchObject([{ server: 'one', added: 6, removed: 6, changed: 0 }]);
    expect(workspace.folder).toBeDefined();
  });

  it.each([
    ['lists slowly', ['--slow-list', '600000']],
    ['answers no start', ['--start-delay', '600000']],
    ['waits for its next start', ['--say-and-exit', 'out of luck']],
  ])('that %s reports the end of a refresh when the configuration no longer has it', async (_, flags) => {
    const workspace = testWorkspace();
    const write = (more: object): string =>
      workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { one: servers.fixture(), ...more } }));
    write({ two: servers.fixture(...flags) });
    workspace.approve();
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/one/echo');
    const editor = await watching(workspace);
    const ended: string[] = [];
    editor.onRefreshed(({ server }) => void ended.push(server));
    expect(await editor.request('refresh', {})).toMatchObject({ began: ['one', 'two'] });
    await until('the other server', () => ended.includes('one'));
    write({});
    await editor.request('refresh', { server: 'one' });
    await until('the end', () => ended.includes('two'));
  });
});
