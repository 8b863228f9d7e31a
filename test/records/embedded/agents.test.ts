import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_OF, jsonLines, type RecordWorld, recordWorld } from './world.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 9, 1, 12, 0, second)).toISOString();
const CLAUDE = 'home/.claude/projects/-work-shop/5a3c9d10-0000-4000-8000-000000000001.jsonl';
const CODEX = 'home/.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-00-7b000000-0000-4000-8000-000000000002.jsonl';
const COPILOT = 'home/.copilot/session-state/9c000000-0000-4000-8000-000000000003/events.jsonl';

const SESSION = '5a3c9d10-0000-4000-8000-000000000001';
const common = { sessionId: SESSION, cwd: '/work/shop', gitBranch: 'main', version: '2.0.1' };

const claudeLines = [
  { type: 'summary', summary: 'Earlier work', leafUuid: 'x' },
  {
    ...common,
    type: 'user',
    uuid: 'u1',
    timestamp: at(0),
    message: { role: 'user', content: 'Fix the checkout total' },
  },
  {
    ...common,
    type: 'assistant',
    uuid: 'a1',
    timestamp: at(1),
    message: {
      id: 'msg_1',
      model: 'claude-opus',
      content: [{ type: 'text', text: 'I read the file.' }],
      usage: { input_tokens: 10, cache_creation_input_tokens: 90, cache_read_input_tokens: 500, output_tokens: 1 },
    },
  },
  {
    ...common,
    type: 'assistant',
    uuid: 'a2',
    timestamp: at(2),
    message: {
      id: 'msg_1',
      model: 'claude-opus',
      content: [
        { type: 'tool_use', id: 'toolu_1', name: 'mcp__files__read_file', input: { path: '/work/shop/total.ts' } },
      ],
      usage: { input_tokens: 10, cache_creation_input_tokens: 90, cache_read_input_tokens: 500, output_tokens: 25 },
    },
  },
  {
    ...common,
    type: 'user',
    uuid: 'u2',
    timestamp: at(4),
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: 'ENOENT: no such file' }],
    },
  },
];

const codexLines = [
  {
    timestamp: at(0),
    type: 'session_meta',
    payload: { id: '7b000000-0000-4000-8000-000000000002', cwd: '/work/api', git: { branch: 'fix' } },
  },
  { timestamp: at(1), type: 'turn_context', payload: { cwd: '/work/api', model: 'gpt-5-codex' } },
  {
    timestamp: at(1),
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: '<environment_context>x' }] },
  },
  {
    timestamp: at(2),
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Run the migrations' }] },
  },
  {
    timestamp: at(3),
    type: 'response_item',
    payload: { type: 'function_call', name: 'shell', arguments: '{"command":["npm","run","migrate"]}', call_id: 'c1' },
  },
  {
    timestamp: at(6),
    type: 'response_item',
    payload: {
      type: 'function_call_output',
      call_id: 'c1',
      output: '{"output":"relation users exists","metadata":{"exit_code":1}}',
    },
  },
  {
    timestamp: at(7),
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: { last_token_usage: { input_tokens: 900, cached_input_tokens: 600, output_tokens: 40 } },
    },
  },
];

const copilotLines = [
  {
    type: 'session.start',
    id: 'e1',
    timestamp: at(0),
    data: { sessionId: 's', selectedModel: 'gpt-5', context: { cwd: '/work/web' } },
  },
  { type: 'user.message', id: 'e2', timestamp: at(1), data: { content: 'List the open issues' } },
  { type: 'assistant.message', id: 'e3', timestamp: at(2), data: { messageId: 'm1', content: '', outputTokens: 12 } },
  {
    type: 'tool.execution_start',
    id: 'e4',
    timestamp: at(2),
    data: {
      toolCallId: 't1',
      toolName: 'github-list_issues',
      mcpServerName: 'github',
      mcpToolName: 'list_issues',
      arguments: {},
    },
  },
  {
    type: 'tool.execution_complete',
    id: 'e5',
    timestamp: at(5),
    data: { toolCallId: 't1', success: true, result: { content: '42 issues are open' } },
  },
  { type: 'session.error', id: 'e6', timestamp: at(8), data: { errorType: 'quota', message: 'The quota is used up' } },
];

function loggedWorld(): RecordWorld {
  const world = recordWorld();
  world.write(CLAUDE, jsonLines(claudeLines));
  world.write(CODEX, jsonLines(codexLines));
  world.write(COPILOT, jsonLines(copilotLines));
  return world;
}

const grantAgents = (world: RecordWorld): void => world.grant([ALL_OF('agents', { kind: 'agents' })]);

async function rows(world: RecordWorld, target: string): Promise<Record<string, unknown>[]> {
  await world.provider.refresh();
  const { body } = await world.get(target);
  return (body.data ?? []).map(({ data }) => data);
}

describe('the logs of agents', () => {
  it('are not read without a grant', async () => {
    const world = loggedWorld();
    const { connections } = await world.provider.refresh();
    expect(connections.map(({ connection }) => connection)).toEqual(['history']);
    expect((await world.get('/v1/streams/sessions/records')).status).toBe(403);
  });

  it('give sessions with their tokens, each counted once', async () => {
    const world = loggedWorld();
    grantAgents(world);
    const sessions = await rows(world, '/v1/streams/sessions/records?order=asc');
    expect(sessions.sort((a, b) => (String(a.agent) < String(b.agent) ? -1 : 1))).toMatchObject([
      {
        agent: 'claude-code',
        title: 'Fix the checkout total',
        folder: '/work/shop',
        model: 'claude-opus',
        turns: 2,
        tool_calls: 1,
        errors: 1,
        tokens_in: 100,
        tokens_cached: 500,
        tokens_out: 25,
      },
      {
        agent: 'codex',
        branch: 'fix',
        model: 'gpt-5-codex',
        turns: 1,
        tokens_in: 300,
        tokens_cached: 600,
        tokens_out: 40,
      },
      { agent: 'copilot-cli', folder: '/work/web', turns: 2, tool_calls: 1, errors: 1, tokens_out: 12 },
    ]);
  });

  it('join a tool call with its result', async () => {
    const world = loggedWorld();
    grantAgents(world);
    const calls = await rows(world, '/v1/streams/tool_calls/records');
    expect(calls.sort((a, b) => (String(a.agent) < String(b.agent) ? -1 : 1))).toMatchObject([
      { server: 'files', tool: 'read_file', file: '/work/shop/total.ts', outcome: 'error', duration_ms: 2_000 },
      { tool: 'shell', outcome: 'error', result: 'relation users exists', duration_ms: 3_000 },
      { server: 'github', tool: 'list_issues', outcome: 'ok', result: '42 issues are open' },
    ]);
    const errors = await rows(world, '/v1/streams/errors/records');
    expect(errors.map(({ message }) => message).sort()).toEqual([
      'ENOENT: no such file',
      'The quota is used up',
      'relation users exists',
    ]);
  });

  it('are continued where they grow, and malformed lines are counted', async () => {
    const world = loggedWorld();
    grantAgents(world);
    await world.provider.refresh();
    const file = join(world.root, CLAUDE);
    const next = {
      ...common,
      type: 'user',
      uuid: 'u3',
      timestamp: at(9),
      message: { role: 'user', content: 'Thanks' },
    };
    appendFileSync(file, `{"type":"user","uu\nnonsense\n${JSON.stringify(next)}\n${JSON.stringify(next).slice(0, 40)}`);
    const turns = await rows(world, '/v1/streams/turns/records?filter[agent]=claude-code&order=asc');
    expect(turns.map(({ text }) => text)).toEqual(['Fix the checkout total', 'I read the file.', 'Thanks']);
    expect((await world.provider.status()).connections).toMatchObject([{ connection: 'agents', malformed: 2 }]);
    appendFileSync(file, `${JSON.stringify(next).slice(40).replace('Thanks', 'Bye')}\n`);
    const [session] = await rows(world, '/v1/streams/sessions/records?filter[agent]=claude-code');
    expect(session).toMatchObject({ turns: 3, ended_at: at(9) });
  });

  it('are read again where they were replaced, and forgotten where they were removed', async () => {
    const world = loggedWorld();
    grantAgents(world);
    await world.provider.refresh();
    const other = claudeLines
      .slice(1, 2)
      .map((line) => ({ ...line, uuid: 'n1', message: { content: 'Another task' } }));
    writeFileSync(join(world.root, CLAUDE), jsonLines(other));
    const turns = await rows(world, '/v1/streams/turns/records?filter[agent]=claude-code');
    expect(turns.map(({ text }) => text)).toEqual(['Another task']);
    rmSync(join(world.root, CLAUDE));
    expect(await rows(world, '/v1/streams/turns/records?filter[agent]=claude-code')).toEqual([]);
    expect(await rows(world, '/v1/streams/sessions/records?filter[agent]=codex')).toHaveLength(1);
  });

  it.skipIf(process.platform === 'win32')('are not followed out of their folder by a link', async () => {
    const world = loggedWorld();
    grantAgents(world);
    const outside = world.write('elsewhere/secret.jsonl', jsonLines(claudeLines.slice(1, 2)));
    rmSync(join(world.root, CLAUDE));
    symlinkSync(outside, join(world.root, CLAUDE));
    mkdirSync(join(world.root, 'elsewhere/deep'));
    symlinkSync(join(world.root, 'elsewhere'), join(world.home, '.claude/projects/linked'));
    expect(await rows(world, '/v1/streams/sessions/records?filter[agent]=claude-code')).toEqual([]);
  });
});
