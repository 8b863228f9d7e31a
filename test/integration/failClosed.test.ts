import { symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stopGateway } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

const OTHER = { user: 'workspace', workspace: 'user' } as const;
type Level = keyof typeof OTHER;
const fileOf = (workspace: TestWorkspace, level: Level): string =>
  level === 'user' ? workspace.userConfigFile : workspace.configFile;
const write = (file: string, content: object | string): void =>
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));

/** Runs `echo` in a new gateway, which reads the current files. */
async function echo(workspace: TestWorkspace): Promise<string> {
  const host = await GatewaySession.connect(workspace);
  const id = await host.toolId('/one/echo');
  const { text } = await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } });
  await stopGateway(workspace);
  return text;
}

const SERVERS = { servers: { one: servers.fixture() } };
const DENY = { policy: { rules: [{ action: 'deny', tool: 'echo', reason: 'Not here.' }] } };
const UNREADABLE: [string, object | string, RegExp][] = [
  [
    'a typo in the policy',
    '{\n  "policy": { "defualt": "deny" }\n}',
    /waygate\.json:2:15: "policy\.defualt" is not a key; did you mean "default"\?/,
  ],
  ['a syntax error', '{\n  "policy": {', /waygate\.json:2:\d+: This is not JSON/],
  ['a wrong type', '[]', /waygate\.json:1:1: The file must hold an object/],
];

/** Configures the server at the other level, so that `level` contains only the tested content. */
function configured(level: Level): TestWorkspace {
  const workspace = testWorkspace(level === 'user' ? SERVERS.servers : undefined);
  if (level === 'workspace') write(workspace.userConfigFile, SERVERS);
  return workspace;
}

describe.each(Object.keys(OTHER) as Level[])('on a fresh machine, a file at %s level', (level) => {
  it.each(UNREADABLE)('with %s blocks every call, and the answer says where and why', async (_, content, reason) => {
    const workspace = configured(level);
    write(fileOf(workspace, level), content);
    const answer = await echo(workspace);
    expect(answer).toMatch(/^Error POLICY_DENIED: No call of echo is allowed, because "policy" cannot be read: /);
    expect(answer).toMatch(reason);
    expect(answer).toContain('Ask the user to correct it.');
  });

  it('that is unreadable blocks every call', async () => {
    const workspace = configured(level);
    symlinkSync('/nowhere/waygate.json', fileOf(workspace, level));
    expect(await echo(workspace)).toMatch(/^Error POLICY_DENIED: .*waygate\.json cannot be read \(ENOENT\)/);
  });

  it('with a typo in another block keeps its policy', async () => {
    const workspace = configured(level);
    write(fileOf(workspace, level), { ...DENY, cache: { ttlSecond: 5 }, retry: { max_attempts: 2 } });
    expect(await echo(workspace)).toMatch(/^Error POLICY_DENIED: .*Not here\./);
  });
});

it('refuses calls if the limits are unreadable, and still answers searches', async () => {
  const workspace = configured('user');
  write(workspace.userConfigFile, { rateLimits: { tool_execute: { maxCallsPerMinut: 5 } } });
  expect(await echo(workspace)).toMatch(
    /^Error RATE_LIMITED: No call is allowed, because "rateLimits" cannot be read: .*did you mean "maxCallsPerMinute"\?/,
  );
});

describe.each(Object.keys(OTHER) as Level[])('after a readable version, a file at %s level', (level) => {
  it.each(UNREADABLE)('with %s keeps the rules of that version', async (_, content) => {
    const workspace = configured(level);
    write(fileOf(workspace, level), DENY);
    expect(await echo(workspace)).toMatch(/^Error POLICY_DENIED: .*Not here\./);
    write(fileOf(workspace, level), content);
    expect(await echo(workspace)).toMatch(/^Error POLICY_DENIED: .*Not here\./);
  });
});
