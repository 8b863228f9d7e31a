import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ControlClient } from '../../src/control/client.ts';
import type { ApprovalQuestion, ApprovalVerdict } from '../../src/control/contract.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { runtimeOf } from '../support/census.ts';
import { HostProcess, type StreamClient, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { atEnd } from '../support/lifetime.ts';
import { ModernCaller, ModernHttp, textOf } from '../support/modernClient.ts';
import { RoundGateway } from '../support/roundGateway.ts';
import type { TestWorkspace } from '../support/workspace.ts';

/** Calls that need an approval while no window is open and the client cannot ask: the next window has the question. */

/** Opens a window, as the editor does. `answer` is the user's, or nothing while the question stays open. */
async function openWindow(workspace: TestWorkspace, answer?: ApprovalVerdict) {
  const editor = (await attachControl(runtimeOf(workspace), { start: false, holds: true })) as ControlClient;
  atEnd(() => editor.dispose());
  const questions: ApprovalQuestion[] = [];
  const gone: string[] = [];
  editor.onApproval((question, signal) => {
    questions.push(question);
    signal.addEventListener('abort', () => gone.push(question.id));
    return answer === undefined ? new Promise(() => undefined) : Promise.resolve(answer);
  });
  await editor.request('watch', {});
  /** Closes the window. The worker has read its answers before it answers another request. */
  const close = async (): Promise<void> => {
    await editor.request('status', {});
    editor.dispose();
  };
  return { questions, gone, close };
}

type Act = (nonce: string) => Promise<string>;

/** Clients without elicitation, of both eras and over both transports. */
const CLIENTS: readonly [string, (gateway: RoundGateway) => Promise<Act>][] = [
  ['a legacy client over stdio', async ({ workspace }) => legacy(await HostProcess.connect(workspace))],
  [
    'a modern client over stdio',
    async ({ workspace }) => {
      const host = new HostProcess(workspace);
      return modern(ModernCaller.on(host));
    },
  ],
  [
    'a modern client over HTTP',
    async ({ workspace }) =>
      modern(new ModernHttp(await HttpProcess.waygate(workspace, ['--no-token']).url()).caller()),
  ],
];

async function legacy(host: StreamClient): Promise<Act> {
  const tool_id = await host.toolId('/faulty/act');
  return async (nonce) => (await host.call('tool_execute', { tool_id, args: { nonce } })).text;
}

async function modern(caller: ModernCaller): Promise<Act> {
  const tool_id = await caller.toolId('/faulty/act');
  return async (nonce) => textOf(await caller.call('tool_execute', { tool_id, args: { nonce } }));
}

describe.each(CLIENTS)('the refused call of %s', (_, connect) => {
  it('says what to do, is asked about in the next window, and runs once after the answer', async () => {
    const gateway = new RoundGateway();
    const act = await connect(gateway);
    const refused = await act('one');
    expect(refused).toMatch(/^Error AUTH_REQUIRED: act needs the user's approval, and nobody can be asked here\./);
    expect(refused).toMatch(/\nallow: run waygate allow faulty:act#\w{8}$/m);
    expect(gateway.effectsOf('one')).toBe(0);
    const window = await openWindow(gateway.workspace, 'once');
    await until('the question', () => window.questions.length === 1);
    expect(window.questions[0]).toMatchObject({
      server: 'faulty',
      toolId: expect.stringMatching(/^faulty:act#/),
      arguments: { nonce: 'one' },
      refusedAt: expect.any(Number),
    });
    expect(window.questions[0]?.deadline).toBeUndefined();
    await window.close();
    expect(await act('one')).toMatch(/^ok/);
    expect(gateway.effectsOf('one')).toBe(1);
    expect(await act('one')).toMatch(/^Error AUTH_REQUIRED/);
    expect(gateway.effectsOf('one')).toBe(1);
  });

  it('is asked about in the window of another worker, after the first was killed', async () => {
    const gateway = new RoundGateway();
    const act = await connect(gateway);
    expect(await act('one')).toMatch(/^Error AUTH_REQUIRED/);
    await gateway.killWorker();
    expect(await act('two')).toMatch(/^Error AUTH_REQUIRED/);
    const window = await openWindow(gateway.workspace, 'workspace');
    await until('the questions', () => window.questions.length > 0);
    expect(new Set(window.questions.map((one) => JSON.stringify(one.arguments)))).toContain('{"nonce":"one"}');
    await window.close();
    for (const nonce of ['one', 'two', 'three']) expect(await act(nonce)).toMatch(/^ok/);
  });
});

describe('a question about a refused call', () => {
  it('is shown in each window, those that come later too, and ends in all with the first answer', async () => {
    const gateway = new RoundGateway();
    const act = await legacy(await HostProcess.connect(gateway.workspace));
    await act('one');
    const first = await openWindow(gateway.workspace);
    await until('the question', () => first.questions.length === 1);
    const second = await openWindow(gateway.workspace);
    await until('the question', () => second.questions.length === 1);
    await second.close();
    const third = await openWindow(gateway.workspace, 'denied');
    await until('the question', () => third.questions.length === 1);
    await until('its end', () => first.gone.length === 1);
    const fourth = await openWindow(gateway.workspace);
    // A window that opens later finds nothing. The call asks in the windows that are open now, and waits.
    const again = act('one');
    await until('the question of the call', () => fourth.questions.length === 1);
    expect(fourth.questions[0]?.refusedAt).toBeUndefined();
    await fourth.close();
    await first.close();
    await third.close();
    await again;
  });

  it('contains no secret, and no file has its arguments', async () => {
    const gateway = new RoundGateway();
    const { workspace } = gateway;
    const act = await legacy(await HostProcess.connect(workspace));
    const token = `ghp_${'a1'.repeat(18)}`;
    const nonce = `a canary in the arguments ${token}`;
    expect(await act(nonce)).toMatch(/^Error AUTH_REQUIRED/);
    const window = await openWindow(workspace);
    await until('the question', () => window.questions.length === 1);
    expect(JSON.stringify(window.questions)).toContain('a canary in the arguments');
    expect(JSON.stringify(window.questions)).not.toContain(token);
    const files = (readdirSync(workspace.stateDir, { recursive: true }) as string[])
      .map((name) => join(workspace.stateDir, name))
      .filter((file) => statSync(file).isFile());
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => readFileSync(file, 'latin1').includes('a canary in the arguments'))).toEqual([]);
  });
});
