import { describe, expect, it } from 'vitest';
import { decide } from '../../src/calls/policy/policy.ts';
import { replayFor } from '../../src/calls/settings/layeredConfig.ts';
import type { ServerConfig } from '../../src/config/gatewayConfig.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { CallSettings } from '../../src/worker/configuration/callSettings.ts';

const blocksOf = (text: object | string, origin: 'user' | 'workspace') =>
  parseConfig(typeof text === 'string' ? text : JSON.stringify(text), `/${origin}.json`, '/w', {}).calls;
const mine = { name: 'mine', origin: 'user' } as ServerConfig;

const read = (user: object | string, workspace: object | string, settings = new CallSettings()) =>
  settings.read({
    servers: [mine],
    calls: [
      { origin: 'user', blocks: blocksOf(user, 'user') },
      { origin: 'workspace', blocks: blocksOf(workspace, 'workspace') },
    ],
  });
const actionOf = (
  { settings }: ReturnType<typeof read>,
  subject: { server?: string; tool_name?: string; tags?: string[] },
): string | undefined => settings.policy && decide(settings.policy, { meta_tool: 'tool_execute', ...subject }).action;
const contract = ({ settings }: ReturnType<typeof read>, server: string, upstreamName = 'x'): string =>
  replayFor(settings, { id: `${server}:${upstreamName}`, server, upstreamName }).contract;

describe('what the person says about calls', () => {
  it('comes first, and a workspace’s rules do not get past it', () => {
    const config = read(
      {
        policy: {
          rules: [
            { action: 'deny', tool: 'drop_*' },
            { action: 'allow', tool: 'read_*' },
          ],
        },
      },
      {
        policy: {
          default: 'deny',
          rules: [
            { action: 'allow', tool: 'drop_*' },
            { action: 'allow', tool: 'list_*' },
          ],
        },
      },
    );
    const of = (tool_name: string) => actionOf(config, { tool_name });
    expect([of('drop_table'), of('read_file'), of('list_all'), of('other')]).toEqual([
      'deny',
      'allow',
      'allow',
      'deny',
    ]);
  });

  it('has a default that a workspace can tighten and not loosen, and the rules that would are told', () => {
    const config = read(
      { policy: { default: 'require_approval' } },
      '{"policy": {"default": "allow", "rules": [\n{"action": "allow", "tool": "*"},\n{"action": "deny", "tool": "drop_*"}]}}',
    );
    expect(actionOf(config, { tool_name: 'any' })).toBe('require_approval');
    expect(actionOf(config, { tool_name: 'drop_table' })).toBe('deny');
    expect(config.problems).toMatchObject([
      {
        severity: 'warning',
        message: `This rule does not count: the user level's default is "require_approval", and a workspace cannot loosen it.`,
        location: { file: '/workspace.json', line: 2, column: 1 },
      },
    ]);
    expect(actionOf(read({ policyPreset: 'safe' }, { policyPreset: 'throughput' }), { tool_name: 'x' })).toBe(
      'require_approval',
    );
  });

  it('is, where he is silent, that his own servers’ destructive tools are asked about, whatever a workspace says', () => {
    const config = read(
      {},
      {
        policy: {
          rules: [
            { action: 'deny', tool: 'drop_*' },
            { action: 'allow', tool: '*' },
          ],
        },
      },
    );
    const tags = ['destructive'];
    expect(actionOf(config, { server: 'mine', tags })).toBe('require_approval');
    expect(actionOf(config, { server: 'mine', tags, tool_name: 'drop_table' })).toBe('deny');
    expect(actionOf(config, { server: 'mine', tags: [] })).toBe('allow');
    // Of the servers that the workspace brings it may say what it likes: the person has approved those.
    expect(actionOf(config, { server: 'theirs', tags })).toBe('allow');
    expect(actionOf(read({}, {}), { server: 'theirs', tags })).toBe('require_approval');
  });

  it('bounds what may be repeated', () => {
    const silent = read({}, { replay: { default: 'convergent' } });
    expect([contract(silent, 'mine'), contract(silent, 'theirs')]).toEqual(['never_replay', 'convergent']);
    const said = read(
      { replay: { servers: { mine: 'convergent' }, tools: { 'pay*': 'never_replay' } } },
      { replay: { default: 'convergent' } },
    );
    expect(contract(said, 'mine')).toBe('convergent');
    expect(contract(said, 'theirs', 'pay_all')).toBe('never_replay');
    const tightened = read({ replay: { default: 'convergent' } }, { replay: { default: 'probe_required' } });
    expect(contract(tightened, 'theirs')).toBe('probe_required');
  });

  it('and what the workspace says of limits: the lower one counts', () => {
    const { settings } = read(
      {
        rateLimits: { tool_execute: { maxCallsPerMinute: 10 }, perTool: { 'a:b': { maxCallsPerSession: 2 } } },
        schemaLimits: { maxDepth: 5 },
      },
      {
        rateLimits: {
          tool_execute: { maxCallsPerMinute: 99, maxCallsPerSession: 7 },
          tool_view: { maxCallsPerMinute: 1 },
        },
        schemaLimits: { maxDepth: 50, maxProperties: 9 },
      },
    );
    expect(settings.rateLimits).toEqual({
      tool_execute: { max_calls_per_minute: 10, max_calls_per_session: 7 },
      tool_view: { max_calls_per_minute: 1, max_calls_per_session: null },
      per_tool: { 'a:b': { max_calls_per_minute: null, max_calls_per_session: 2 } },
    });
    expect(settings.schemaLimits).toMatchObject({ maxDepth: 5, maxProperties: 9 });
  });

  it('goes before the workspace’s word in nothing else', () => {
    const { settings } = read(
      { tolerantArgs: true, timeouts: { default: 5 }, retry: { maxAttempts: 2 } },
      { timeouts: { default: 9 } },
    );
    expect(settings).toMatchObject({ tolerantArgs: true, deadlines: { default: 9_000 }, retry: { max_attempts: 2 } });
  });

  it('stays in force where a file’s blocks break, file by file', () => {
    const settings = new CallSettings();
    read({ policy: { default: 'deny' } }, { tolerantArgs: true }, settings);
    const broken = read({ policy: { default: 'denny' } }, { tolerantArgs: false, timeouts: { default: 7 } }, settings);
    expect(broken.problems.map(({ location }) => location.file)).toEqual(['/user.json']);
    expect(broken.settings).toMatchObject({ policy: { default: 'deny' }, tolerantArgs: false });
    const both = read({}, { timeouts: { default: 'x' } }, settings);
    expect(both.settings.deadlines.default).toBe(7_000);
  });

  it('has no say where a file is given by hand', () => {
    const { settings } = new CallSettings().read({
      servers: [],
      calls: [
        { origin: 'given', blocks: blocksOf({ policy: { rules: [] }, replay: { default: 'convergent' } }, 'user') },
      ],
    });
    expect(settings).toMatchObject({ policy: { default: 'allow', rules: [] }, contracts: { default: 'convergent' } });
  });
});
