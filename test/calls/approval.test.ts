import { describe, expect, it } from 'vitest';
import {
  type ApprovalAnswer,
  type ApprovalPort,
  type ApprovalRequest,
  Approvals,
} from '../../src/calls/policy/approval.ts';
import { type ElicitedAnswer, type ElicitedQuestion, elicitApproval } from '../../src/calls/policy/elicitApproval.ts';
import type { CatalogTool } from '../../src/catalog/types.ts';
import { PRESETS } from '../../src/config/declaration/callBlocks.ts';
import { until } from '../support/hostProcess.ts';
import { bench, toolOf, toolsOf } from './support.ts';

const raw = (more: object) => ({
  name: 'delete',
  description: 'Deletes.',
  inputSchema: { type: 'object' },
  annotations: { destructiveHint: true },
  ...more,
});
const TOOLS = toolsOf([raw({}), { name: 'list', description: 'Lists.', inputSchema: { type: 'object' } }], 'repo');
const [DELETE, LIST] = [...TOOLS.keys()] as [string, string];

function person(...answers: ApprovalAnswer[]): ApprovalPort & { asked: ApprovalRequest[] } {
  const asked: ApprovalRequest[] = [];
  return {
    asked,
    ask: async (request) => {
      asked.push(request);
      return answers[Math.min(asked.length, answers.length) - 1] ?? 'unavailable';
    },
  };
}

describe('approval', () => {
  it('of a tool at a server of the user is none for a server of a workspace with its name', async () => {
    const approved: string[] = [];
    const store = { load: () => approved, save: (keys: readonly string[]) => void approved.push(...keys) };
    const approvals = new Approvals(person('workspace'), store);
    const tool = { ...(TOOLS.get(DELETE) as CatalogTool), origin: 'user' } as const;
    const { signal } = new AbortController();
    await approvals.require({ tool, args: {}, reason: '', session: {}, signal });
    expect(approvals.isRemembered(tool, {})).toBe(true);
    expect(approvals.isRemembered({ ...tool, origin: 'workspace' }, {})).toBe(false);
  });

  it('is asked by default for tools declared destructive, and for no other', async () => {
    const approval = person('once');
    const { run, upstream } = bench(TOOLS, {}, { approval });
    await run(LIST, {});
    expect(approval.asked).toEqual([]);
    await run(DELETE, { name: 'x' });
    await run(DELETE, { name: 'y' });
    expect(approval.asked.map(({ tool, args }) => [tool.id, args])).toEqual([
      [DELETE, { name: 'x' }],
      [DELETE, { name: 'y' }],
    ]);
    expect(upstream.calls).toHaveLength(3);
  });

  it('names the command that allows the tool if nobody can be asked', async () => {
    const { fail, upstream } = bench(TOOLS);
    const error = await fail(DELETE, {});
    expect(error).toMatchObject({
      error: 'AUTH_REQUIRED',
      retryable: false,
      details: { approval: 'required', meta_tool: 'tool_execute' },
    });
    expect(error.details?.allow).toBe(`run waygate allow ${DELETE}`);
    expect(upstream.calls).toEqual([]);
  });

  it('refuses a declined call', async () => {
    const { fail, upstream } = bench(TOOLS, {}, { approval: person('denied') });
    expect(await fail(DELETE, {})).toMatchObject({ error: 'POLICY_DENIED', details: { approval: 'denied' } });
    expect(upstream.calls).toEqual([]);
  });

  it('for a session also holds in the next process, for that session', async () => {
    const before = bench(TOOLS, {}, { approval: person('session') });
    const session = {};
    await before.run(DELETE, {}, { session });
    const approval = person('denied');
    const after = bench(TOOLS, {}, { approval });
    const moved = {};
    after.pipeline.remember(moved, JSON.parse(JSON.stringify(before.pipeline.memoryOf(session))));
    await after.run(DELETE, {}, { session: moved });
    expect(approval.asked).toHaveLength(0);
    await after.fail(DELETE, {}, { session: {} });
    expect(approval.asked).toHaveLength(1);
    for (const odd of [undefined, { approved: 'all' }, { approved: [7] }]) {
      const third = {};
      after.pipeline.remember(third, odd);
      await after.fail(DELETE, {}, { session: third });
    }
    expect(approval.asked).toHaveLength(4);
  });

  it('for a session is reported to the watcher of that session; no other answer is', async () => {
    const session = {};
    const changes = async (answer: 'once' | 'session' | 'workspace'): Promise<number> => {
      const { pipeline, run } = bench(TOOLS, {}, { approval: person(answer) });
      let count = 0;
      pipeline.watchMemory(session, () => {
        count += 1;
      });
      await run(DELETE, {}, { session: {} });
      await run(DELETE, {}, { session });
      return count;
    };
    expect([await changes('once'), await changes('session'), await changes('workspace')]).toEqual([0, 1, 0]);
  });

  it('holds for the session that gave it', async () => {
    const approval = person('session');
    const { run } = bench(TOOLS, {}, { approval });
    await run(DELETE, {});
    await run(DELETE, {});
    expect(approval.asked).toHaveLength(1);
    await run(DELETE, {}, { session: {} });
    expect(approval.asked).toHaveLength(2);
  });

  it('holds for the workspace beyond the worker, until it is revoked or the tool changes', async () => {
    let stored: readonly string[] = [];
    const approvalStore = {
      load: () => stored,
      save: (keys: readonly string[]) => {
        stored = keys;
      },
    };
    await bench(TOOLS, {}, { approval: person('workspace'), approvalStore }).run(DELETE, {});

    const later = bench(TOOLS, {}, { approvalStore });
    await later.run(DELETE, {}, { session: {} });
    expect(later.pipeline.approvals.remembered).toEqual([DELETE]);
    const changed = toolOf(raw({ description: 'Deletes everything.' }), 'repo');
    expect(changed.id).toBe(DELETE);
    expect((await later.fail(DELETE, {}, { tools: new Map([[DELETE, changed]]) })).error).toBe('AUTH_REQUIRED');
    later.pipeline.approvals.forget(DELETE);
    expect((await later.fail(DELETE, {})).error).toBe('AUTH_REQUIRED');
    expect(stored).toEqual([]);
  });

  it('is asked once for simultaneous calls', async () => {
    const approval = person('session');
    const { run } = bench(TOOLS, {}, { approval });
    await Promise.all([run(DELETE, { n: 1 }), run(DELETE, { n: 2 }), run(DELETE, { n: 3 })]);
    expect(approval.asked).toHaveLength(1);
  });

  it('is asked for each simultaneous call if it is given for one', async () => {
    const approval = person('once');
    await Promise.all([1, 2, 3].map((n) => bench(TOOLS, {}, { approval }).run(DELETE, { n })));
    const { run } = bench(TOOLS, {}, { approval });
    await Promise.all([run(DELETE, { n: 1 }), run(DELETE, { n: 2 })]);
    expect(approval.asked).toHaveLength(5);
  });

  it('asks the client first, and the editor if the client cannot ask', async () => {
    const [client, editor] = [person('unavailable'), person('session')];
    await bench(TOOLS, {}, { approval: editor }).run(DELETE, {}, { approval: client });
    expect([client.asked.length, editor.asked.length]).toEqual([1, 1]);
    const broken: ApprovalPort = { ask: () => Promise.reject(new Error('the window has gone')) };
    expect((await bench(TOOLS, {}, { approval: broken }).fail(DELETE, {})).error).toBe('AUTH_REQUIRED');
  });

  it('asks the editor if the client fails to ask', async () => {
    const editor = person('once');
    const approvals = new Approvals(editor);
    const client: ApprovalPort = { ask: () => Promise.reject(new Error('does not support elicitation')) };
    const tool = TOOLS.get(DELETE) as CatalogTool;
    const { signal } = new AbortController();
    await approvals.require({ tool, args: {}, reason: '', session: {}, signal }, client);
    expect(editor.asked).toHaveLength(1);
  });

  it('waits for the open question of another call, unless that one may never be answered', async () => {
    const tool = TOOLS.get(DELETE) as CatalogTool;
    const { signal } = new AbortController();
    const asks = async (mayNeverAnswer: boolean): Promise<number> => {
      const approvals = new Approvals();
      let asked = 0;
      const ask = (): Promise<ApprovalAnswer> => {
        asked += 1;
        return new Promise(() => undefined);
      };
      const session = {};
      for (let i = 0; i < 3; i++) {
        void approvals.require({ tool, args: {}, reason: '', session, signal }, { mayNeverAnswer, ask });
      }
      await new Promise((resolve) => setImmediate(resolve));
      return asked;
    };
    expect([await asks(false), await asks(true)]).toEqual([1, 3]);
  });

  it('stops waiting when the client has disconnected', async () => {
    const controller = new AbortController();
    const approval: ApprovalPort = { ask: () => new Promise(() => undefined) };
    const { fail, upstream } = bench(TOOLS, {}, { approval });
    const failing = fail(DELETE, {}, { signal: controller.signal });
    await new Promise((turn) => setImmediate(turn));
    controller.abort();
    expect((await failing).message).toBe('The call was cancelled before it was sent.');
    expect(upstream.calls).toEqual([]);
  });

  it("stops waiting for another call's question, and asks nothing when that ends", async () => {
    const [one, two, three] = [new AbortController(), new AbortController(), new AbortController()];
    let asked = 0;
    const approval: ApprovalPort = {
      ask: ({ signal }) => {
        asked += 1;
        // The SDK treats an already cancelled request like this.
        return signal.aborted ? Promise.reject(signal.reason) : new Promise(() => undefined);
      },
    };
    const { fail, upstream } = bench(TOOLS, {}, { approval });
    const [first, second, third] = [one, two, three].map(({ signal }) => fail(DELETE, {}, { signal }));
    await until('the question', () => asked === 1);
    three.abort();
    one.abort();
    for (const call of [first, third]) expect((await call)?.message).toBe('The call was cancelled before it was sent.');
    // The next call in line is still open.
    await until('its own question', () => asked === 2);
    two.abort();
    await second;
    await fail(DELETE, {}, { signal: two.signal });
    expect(asked).toBe(2);
    expect(upstream.calls).toEqual([]);
  });

  it("is abandoned by a call that is cancelled during another call's question", async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const approval: ApprovalPort = { ask: () => new Promise(() => undefined) };
    const { fail } = bench(TOOLS, {}, { approval });
    let open = true;
    const first = fail(DELETE, {}, { signal: one.signal }).finally(() => {
      open = false;
    });
    const second = fail(DELETE, {}, { signal: two.signal });
    await new Promise((turn) => setImmediate(turn));
    two.abort();
    expect((await second).message).toBe('The call was cancelled before it was sent.');
    expect(open).toBe(true);
    one.abort();
    await first;
  });

  it('makes the preset "safe" usable', async () => {
    const approval = person('session');
    const { policy } = PRESETS.safe;
    const { run, upstream } = bench(TOOLS, { policy }, { approval });
    await run(LIST, {});
    await run(LIST, {});
    expect(approval.asked).toHaveLength(1);
    expect(upstream.calls).toHaveLength(2);
    expect(await run(LIST, {}, { dryRun: true })).toMatchObject({
      report: { checks: [{}, {}, { name: 'policy', status: 'pass' }], policy: { remembered: true } },
    });
  });
});

describe('approval by elicitation', () => {
  const request: ApprovalRequest = {
    tool: toolOf(raw({}), 'repo'),
    args: { name: 'x' },
    reason: 'It destroys.',
    session: {},
    signal: new AbortController().signal,
  };

  const plain = (words: string): string => words;

  it('names the inner tool and its arguments, and applies the choice', async () => {
    let seen: ElicitedQuestion | undefined;
    const port = elicitApproval(async (question) => {
      seen = question;
      return { action: 'accept', content: { remember: 'workspace' } };
    }, plain);
    expect(await port?.ask(request)).toBe('workspace');
    expect(seen?.message).toBe(
      `Allow Waygate to run ${request.tool.id}?\n\n- Tool "delete" of the server "repo"\n- Reason: It destroys.\n- Argument "name":"x"`,
    );
    expect(seen?.requestedSchema.properties.remember).toMatchObject({
      enum: ['once', 'session', 'workspace', 'denied'],
      enumNames: ['Only this once', 'For this session', 'Always in this workspace', 'Do not run it'],
    });
  });

  it('reads an answer without a choice as once, and any other but those offered as no', async () => {
    const answering = (answer: ElicitedAnswer) => elicitApproval(async () => answer, plain)?.ask(request);
    expect(await answering({ action: 'accept' })).toBe('once');
    expect(await answering({ action: 'accept', content: { remember: 'denied' } })).toBe('denied');
    expect(await answering({ action: 'accept', content: { remember: 'always' } })).toBe('denied');
    expect(await answering({ action: 'decline' })).toBe('denied');
    expect(await answering({ action: 'cancel' })).toBe('denied');
    expect(elicitApproval(undefined, plain)).toBeUndefined();
  });

  it('lets nothing of the server, a rule or the arguments add a line or a link', async () => {
    const words =
      '[x](command:evil)\n\n- Tool "safe"\u2028# Waygate\r![y](https://evil.test) <b>www.evil.test a@evil.test &#8238; `z` $(eye) \u202e';
    let message = '';
    const tool = { ...request.tool, upstreamName: words, server: words };
    const port = elicitApproval(async (question) => {
      message = question.message;
      return { action: 'decline' };
    }, plain);
    await port?.ask({ ...request, tool, reason: words, args: { [words]: words, b: [words] } });
    const lines = message.split(/\r|\n|\u2028/);
    expect(lines.map((line) => line.split(' ', 2).join(' '))).toEqual([
      'Allow Waygate',
      '',
      '- Tool',
      '- Reason:',
      '- Argument',
      '- Argument',
    ]);
    // Marks that begin a link, a picture, an address or HTML in Markdown are escaped.
    expect(message).not.toMatch(/(?<!\\)[[\]<&`@$]|(?<!\\):\/\/|www\.|\u202e/);
  });
});
