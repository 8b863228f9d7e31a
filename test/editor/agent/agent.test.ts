import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { getEncoding } from 'js-tiktoken';
import { expect, it } from 'vitest';
import { INSTRUCTIONS } from '../../../src/modes/shared/introduction.ts';
import { rendezvous } from '../../support/census.ts';
import { pidsIn, until } from '../../support/hostProcess.ts';
import { shared } from '../../support/lifetime.ts';
import type { Reading, ToolCall } from '../../support/model/scriptedModel.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';
import { AgentWindow } from './agentWindow.ts';

/** Copilot's agent mode in an ordinary window, with the packed extension and real servers. */

const FAULTS = resolve('test/fixtures/faultServer.mjs');
const OURS = 'mcp_waygate_';
const LOG_BYTES = 4 * 1024 * 1024;
/** Copilot moves a longer result into a file. */
const COPILOT_LIMIT = 8_192;

const browse = (args: object): ToolCall => ({ tool: `${OURS}tool_browse`, args });
const execute = (tool_id: string, args: object): ToolCall => ({
  tool: `${OURS}tool_execute`,
  args: { tool_id, args },
});

const read = (reading: Reading | undefined): string => reading?.results.join('\n') ?? '';

/** Returns the first match in what the model read. */
function found(reading: Reading, pattern: RegExp): string {
  const match = pattern.exec(read(reading))?.[0];
  if (match === undefined) throw new Error(`Nothing matches ${pattern} in: ${read(reading)}`);
  return match;
}

const toolIn = (reading: Reading, name: string): string => found(reading, new RegExp(`[\\w.-]+:${name}#[0-9a-f]{8}`));
const runs = (name: string, args: object) => (reading: Reading) => execute(toolIn(reading, name), args);

function logLine(number: number): string {
  return `2026-11-18T10:00:00Z ${number === 30_000 ? 'ERROR' : 'INFO'} request id=${number} took=${number % 900}ms\n`;
}

const opened = shared(async () => {
  const workspace = testWorkspace();
  const file = (name: string) => join(workspace.folder, name);
  const inputSchema = { type: 'object', properties: { nonce: { type: 'string' } } };
  const script = {
    tools: [
      { name: 'act', description: 'Fixture act.', inputSchema },
      { name: 'echo', description: 'Repeats a nonce.', inputSchema, annotations: { readOnlyHint: true } },
      { name: 'remove', description: 'Fixture remove.', inputSchema, annotations: { destructiveHint: true } },
      // Either of these in a tool that Copilot sees ends every turn.
      { name: 'no_items', inputSchema: { type: 'object', properties: { list: { type: 'array' } } } },
      { name: 'broken', inputSchema: { type: 'object', properties: {}, required: 'list' } },
    ],
    steps: [
      { on: 'tools/call', nonce: 'slow', do: [{ delay: 3_000 }, { log: 'slow is answered' }, 'reply'] },
      { on: 'tools/call', nonce: 'endless', do: ['hang'] },
    ],
  };
  const files = { effects: file('effects'), log: file('received.txt'), pids: file('pids') };
  const held = workspace.write('held', '');
  workspace.configure({
    files: servers.filesystem(workspace.folder),
    everything: servers.everything,
    faults: {
      command: process.execPath,
      args: [
        ...[FAULTS, '--script', JSON.stringify(script), '--start-held-by', held],
        ...['--effects', files.effects, '--log', files.log, '--pid-file', files.pids],
      ],
    },
  });
  workspace.write('app.log', Array.from({ length: LOG_BYTES / 48 }, (_, i) => logLine(i)).join(''));
  const window = await AgentWindow.open(workspace);
  const first = await window.turn([() => browse({ query: 'repeat nonce' })], {
    during: async (turn) => {
      await until('the first request', () => turn.readings.length > 0);
      // The agent's call waits meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      rmSync(held);
    },
  });
  return { ...files, workspace, window, first };
});

const linesWith = (file: string, text: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes(text)).length;

it('sends the model three tools and the instructions, in at most 700 tokens', () => {
  const [request] = opened().first.readings;
  const ours = request?.tools.filter(({ name }) => name.startsWith(OURS)) ?? [];
  expect(ours.map(({ name }) => name)).toEqual(['tool_browse', 'tool_execute', 'tool_view'].map((name) => OURS + name));
  expect(request?.system).toContain(`<instruction forToolsWithPrefix="mcp_waygate">\n${INSTRUCTIONS}\n</instruction>`);
  expect(getEncoding('cl100k_base').encode(JSON.stringify(ours) + INSTRUCTIONS).length).toBeLessThanOrEqual(700);
});

it('finds a tool with the first browse after a cold start', () => {
  const { first } = opened();
  expect(first.readings).toHaveLength(2);
  expect(read(first.readings[1])).toContain('faults:echo#');
});

it('finds and runs a real tool, and reads a log of 4 MB without a file', async () => {
  const { window, workspace } = opened();
  const { readings } = await window.turn([
    () => browse({ query: 'read text file' }),
    runs('read_text_file', { path: join(workspace.folder, 'app.log') }),
    (reading) => ({
      tool: `${OURS}tool_view`,
      args: { handle: found(reading, /text:[^"]+:[0-9a-f]{16}/), selector: { type: 'grep', pattern: 'ERROR' } },
    }),
  ]);
  const [, , digest, view] = readings.map(read);
  expect(digest).toContain('87,381 lines');
  expect(digest?.length).toBeLessThan(COPILOT_LIMIT);
  expect(view).toContain(logLine(30_000));
  expect(`${digest}${view}`).not.toContain('written to file');
});

it('runs calls of one message at the same time and answers each', async () => {
  const { window, log } = opened();
  const { readings } = await window.turn([
    () => browse({ path: '/faults' }),
    (reading) => ['one', 'slow', 'three'].map((nonce) => execute(toolIn(reading, 'echo'), { nonce })),
  ]);
  const results = readings[2]?.results ?? [];
  expect(results.map((result) => result.split('\n')[1])).toEqual(['one', 'slow', 'three']);
  // The server has the third call before it answers the second.
  const seen = readFileSync(log, 'utf8');
  expect(seen.indexOf('"three"')).toBeGreaterThan(-1);
  expect(seen.indexOf('"three"')).toBeLessThan(seen.indexOf('slow is answered'));
});

it('keeps broken schemas of a server away from Copilot', async () => {
  const { readings } = await opened().window.turn([
    () => browse({ path: '/faults' }),
    (reading) => [execute(toolIn(reading, 'no_items'), { list: [1] }), execute(toolIn(reading, 'broken'), {})],
  ]);
  expect(readings[2]?.results[0]).toContain('ok');
  expect(readings[2]?.results[1]).toContain('SCHEMA_INVALID');
});

it('cancels the call at the server when the user cancels the turn', async () => {
  const { window, log } = opened();
  const turn = await window.turn([() => browse({ path: '/faults' }), runs('echo', { nonce: 'endless' })], {
    during: async () => {
      await until('the call', () => linesWith(log, 'endless') > 0);
      await window.command('workbench.action.chat.cancel');
      await until('the cancellation', () => linesWith(log, 'notifications/cancelled') > 0);
    },
  });
  expect(turn.readings).toHaveLength(2);
  const next = await window.turn([() => browse({ path: '/faults' }), runs('echo', { nonce: 'next' })]);
  expect(read(next.readings[2])).toContain('next');
});

it('goes on with the turn when the worker and then the server are killed in the middle of a call', async () => {
  const { window, workspace, effects, pids } = opened();
  const { readings } = await window.turn(
    [
      () => browse({ path: '/faults' }),
      runs('act', { nonce: 'endless' }),
      () => browse({ path: '/faults' }),
      runs('act', { nonce: 'endless' }),
      () => browse({ path: '/faults' }),
      runs('echo', { nonce: 'after' }),
    ],
    {
      during: async () => {
        await until('the first call', () => linesWith(effects, 'endless') === 1);
        process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
        await until('the second call', () => linesWith(effects, 'endless') === 2);
        process.kill(pidsIn(pids).at(-1) as number, 'SIGKILL');
      },
    },
  );
  const answers = readings.map(read);
  expect(answers[2]).toMatch(/worker exited.*may have taken effect/);
  expect(answers[4]).toMatch(/faults exited.*may have taken effect/);
  expect(answers[6]).toContain('after');
  expect(linesWith(effects, 'endless')).toBe(2);
});

it('runs a destructive tool if the user approves it, and not if the user denies it', async () => {
  const { window, log } = opened();
  const played = async (nonce: string, choice: string) => {
    const turn = await window.turn([() => browse({ path: '/faults' }), runs('remove', { nonce })], {
      answer: (question) =>
        question.startsWith('Allow Waygate to run') ? [choice, 'Submit'] : ['Allow in this Session'],
    });
    const asked = turn.questions.find((question) => question.startsWith('Allow Waygate to run'));
    expect(asked).toContain(`Argument "nonce":"${nonce}"`);
    return read(turn.readings[2]);
  };
  expect(await played('approved', 'Only this once')).toContain('approved');
  expect(await played('denied', 'Do not run it')).toMatch(/POLICY_DENIED|did not allow/);
  expect([linesWith(log, '"approved"'), linesWith(log, '"denied"')]).toEqual([1, 0]);
});

it('reaches tool_execute beside 40 tools of another server, behind which Copilot hides it', async () => {
  const { window } = opened();
  const tools = Array.from({ length: 40 }, (_, i) => ({
    name: `direct_${i}`,
    description: `Direct tool ${i}.`,
    inputSchema: { type: 'object', properties: {} },
  }));
  const args = [FAULTS, '--script', JSON.stringify({ tools, steps: [] })];
  await window.offer([{ label: 'direct', command: process.execPath, args }]);
  try {
    const { readings } = await window.turn([
      ({ tools: sent }) => {
        // As the instructions say.
        const hidden = `${OURS}tool_execute`;
        const activates = sent.find(({ name, description }) => /^activate_/.test(name) && description.includes(hidden));
        if (!activates) throw new Error(`Nothing activates ${hidden}: ${sent.map(({ name }) => name)}`);
        return { tool: activates.name, args: {} };
      },
      () => browse({ path: '/faults' }),
      runs('echo', { nonce: 'reached' }),
    ]);
    expect(readings[0]?.system).toContain(INSTRUCTIONS);
    expect(readings[0]?.tools.map(({ name }) => name)).not.toContain(`${OURS}tool_execute`);
    expect(read(readings[3])).toContain('reached');
  } finally {
    await window.offer([]);
  }
});
