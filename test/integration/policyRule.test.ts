import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

const DEFAULT_RULE = {
  action: 'require_approval',
  metaTool: 'tool_execute',
  tags: ['destructive'],
  reason: 'Its server declares it destructive.',
};

describe('waygate allow and deny', () => {
  it('write one rule, which the running gateway obeys from the next call on', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const session = await GatewaySession.connect(workspace);
    const id = await session.toolId('/one/echo');
    const call = async () => (await session.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text;
    expect(await call()).toBe('ok\nhi\n');
    const denied = await waygate(workspace, ['deny', id]);
    expect([denied.code, denied.stdout]).toEqual([
      0,
      `Wrote {"action":"deny","server":"one","tool":"echo"} into ${workspace.userConfigFile}.\n`,
    ]);
    // The default policy keeps its question about destructive tools.
    expect(JSON.parse(readFileSync(workspace.userConfigFile, 'utf8'))).toEqual({
      policy: { rules: [{ action: 'deny', server: 'one', tool: 'echo' }, DEFAULT_RULE] },
    });
    expect(await call()).toMatch(/^Error POLICY_DENIED/);
    await waygate(workspace, ['allow', id]);
    expect(JSON.parse(readFileSync(workspace.userConfigFile, 'utf8')).policy.rules).toEqual([
      { action: 'allow', server: 'one', origin: 'workspace', tool: 'echo' },
      DEFAULT_RULE,
    ]);
    expect(await call()).toBe('ok\nhi\n');
  });

  it('keep comments, and put a rule where nothing more specific is undone', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const session = await GatewaySession.connect(workspace);
    const id = await session.toolId('/one/echo');
    const text = readFileSync(workspace.configFile, 'utf8').replace(
      /\}\s*$/,
      `,
  // Rules of the team.
  "policy": {
    "rules": [ // in this order
      // Ask first.
      { "action": "require_approval", "tool": "delete*" }, // always
      { "action": "allow", "server": "two" }
    ]
  }
}
`,
    );
    writeFileSync(workspace.configFile, text);
    expect((await waygate(workspace, ['deny', id, '--here'])).code).toBe(0);
    expect((await waygate(workspace, ['allow', 'one', '--here', '--json'])).stdout).toContain('"action": "allow"');
    const after = readFileSync(workspace.configFile, 'utf8');
    expect(after).toContain(`    "rules": [ // in this order
      {
        "action": "deny",
        "server": "one",
        "tool": "echo"
      },
      // Ask first.
      { "action": "require_approval", "tool": "delete*" }, // always
      { "action": "allow", "server": "two" },
      {
        "action": "allow",
        "server": "one"
      }
    ]`);
    await waygate(workspace, ['deny', 'one', '--here']);
    const last = readFileSync(workspace.configFile, 'utf8');
    expect(last).toContain(`"rules": [ // in this order
      {
        "action": "deny",
        "server": "one"
      },
      {
        "action": "deny",
        "server": "one",
        "tool": "echo"
      },
      // Ask first.`);
    expect(last).toContain('{ "action": "allow", "server": "two" }\n    ]');
  });

  it('refuse an unknown name and a file that is not valid, and write nothing', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const unknown = await waygate(workspace, ['allow', 'onne']);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('waygate: there is no server or tool "onne"; did you mean "one"? Nothing was written.\n'),
    ]);
    writeFileSync(workspace.userConfigFile, '{ "policy": ');
    const { code, stderr } = await waygate(workspace, ['deny', 'one']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`waygate: ${workspace.userConfigFile} is not valid JSON; correct it first.\n`),
    ]);
    expect(readFileSync(workspace.userConfigFile, 'utf8')).toBe('{ "policy": ');
    expect((await waygate(workspace, ['deny'])).code).toBe(64);
  });

  it('take a tool by its path or without its hash, if one alone is meant', async () => {
    const workspace = testWorkspace({ one: servers.fixture('--names', JSON.stringify(['act', 'act.now'])) });
    const about = async (subject: string) => {
      const { stdout } = await waygate(workspace, ['deny', subject, '--json']);
      return stdout === '' ? undefined : JSON.parse(stdout).rule.tool;
    };
    expect(await about('/one/act')).toBe('act');
    expect(await about('one:act')).toBe('act');
    expect(await about('one:ac')).toBeUndefined();
    expect(await about('/one')).toBeUndefined();
  });

  it('says why a rule of a workspace has no effect', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    writeFileSync(workspace.userConfigFile, JSON.stringify({ policy: { default: 'deny' } }));
    const { code, stderr } = await waygate(workspace, ['allow', 'one', '--here']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('"policy.rules[0]" has no effect')]);
  });

  it('let destructive tools run, those of one tool and of a whole server, also beside an earlier rule', async () => {
    const script = {
      tools: [{ name: 'drop', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } }],
    };
    const args = [resolve('test/fixtures/faultServer.mjs'), '--script', JSON.stringify(script)];
    const server = { command: process.execPath, args };
    const workspace = testWorkspace({ one: server, two: server });
    const session = await GatewaySession.connect(workspace);
    const call = async (id: string) => (await session.call('tool_execute', { tool_id: id, args: {} })).text;
    const [one, two] = [await session.toolId('/one/drop'), await session.toolId('/two/drop')];
    expect(await call(one)).toContain(`allow: run waygate allow ${one}\n`);
    await waygate(workspace, ['allow', one]);
    expect(await call(one)).toMatch(/^ok/);
    expect(await call(two)).toMatch(/^Error AUTH_REQUIRED/);
    await waygate(workspace, ['allow', 'two']);
    expect(await call(two)).toMatch(/^ok/);
    expect(JSON.parse(readFileSync(workspace.userConfigFile, 'utf8')).policy.rules).toEqual([
      { action: 'allow', server: 'one', origin: 'workspace', tool: 'drop' },
      { action: 'allow', server: 'two', origin: 'workspace' },
      DEFAULT_RULE,
    ]);
  });
});
