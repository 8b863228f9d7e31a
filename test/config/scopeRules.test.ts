import { describe, expect, it } from 'vitest';
import { decide } from '../../src/calls/policy/policy.ts';
import { replayFor } from '../../src/calls/settings/replaySettings.ts';
import type { MergedConfig } from '../../src/config/configLayers.ts';
import { joinedFiles, settingsOf } from '../support/readSettings.ts';

/** The user's file always has the server `mine`. */
const read = (user: object, workspace: object | string): MergedConfig =>
  joinedFiles({ servers: { mine: { command: 'x' } }, ...user }, workspace);
const actionOf = (
  { settings }: MergedConfig,
  subject: { server?: string; toolName?: string; tags?: string[] },
): string => decide(settings.policy, { metaTool: 'tool_execute', ...subject }).action;
const contract = ({ settings }: MergedConfig, server: string, upstreamName = 'x'): string =>
  replayFor(settings.replay, { id: `${server}:${upstreamName}`, server, upstreamName }).contract;

describe("the user's settings of calls", () => {
  it("come first, and a workspace's rules do not override them", () => {
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
    const of = (toolName: string) => actionOf(config, { toolName });
    expect([of('drop_table'), of('read_file'), of('list_all'), of('other')]).toEqual([
      'deny',
      'allow',
      'allow',
      'deny',
    ]);
  });

  it('have a default that a workspace can tighten but not loosen, and rules that would loosen it are reported', () => {
    const config = read(
      { policy: { default: 'require_approval' } },
      '{"policy": {"default": "allow", "rules": [\n{"action": "allow", "tool": "*"},\n{"action": "deny", "tool": "drop_*"}]}}',
    );
    expect(actionOf(config, { toolName: 'any' })).toBe('require_approval');
    expect(actionOf(config, { toolName: 'drop_table' })).toBe('deny');
    expect(config.problems).toMatchObject([
      {
        severity: 'warning',
        message: `"policy.rules[0]" has no effect: your own waygate.json has the default "require_approval", and a workspace cannot loosen it.`,
        location: { file: '/workspace.json', line: 2, column: 1 },
      },
    ]);
    expect(actionOf(read({ policyPreset: 'safe' }, { policyPreset: 'throughput' }), { toolName: 'x' })).toBe(
      'require_approval',
    );
  });

  it("ask about destructive tools of the user's own servers if they have no policy, whatever a workspace says", () => {
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
    expect(actionOf(config, { server: 'mine', tags, toolName: 'drop_table' })).toBe('deny');
    expect(actionOf(config, { server: 'mine', tags: [] })).toBe('allow');
    // The user has approved the workspace's servers, so the workspace's rules decide about them.
    expect(actionOf(config, { server: 'theirs', tags })).toBe('allow');
    expect(actionOf(read({}, {}), { server: 'theirs', tags })).toBe('require_approval');
  });

  it('bound what may be repeated', () => {
    const silent = read({}, { replay: { default: 'convergent' } });
    expect([contract(silent, 'mine'), contract(silent, 'theirs')]).toEqual(['never_replay', 'convergent']);
    const set = read(
      { replay: { servers: { mine: 'convergent' }, tools: { 'pay*': 'never_replay' } } },
      { replay: { default: 'convergent' } },
    );
    expect(contract(set, 'mine')).toBe('convergent');
    expect(contract(set, 'theirs', 'pay_all')).toBe('never_replay');
    const tightened = read({ replay: { default: 'convergent' } }, { replay: { default: 'probe_required' } });
    expect(contract(tightened, 'theirs')).toBe('probe_required');
  });

  it("and the workspace's have limits of which the lower counts", () => {
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
      tool_execute: { maxCallsPerMinute: 10, maxCallsPerSession: 7 },
      tool_view: { maxCallsPerMinute: 1, maxCallsPerSession: null },
      perTool: { 'a:b': { maxCallsPerMinute: null, maxCallsPerSession: 2 } },
    });
    expect(settings.schemaLimits).toMatchObject({ maxDepth: 5, maxProperties: 9 });
  });

  it('give way to the workspace in everything else', () => {
    const { settings } = read(
      { tolerantArgs: true, timeouts: { default: 5 }, retry: { maxAttempts: 2 } },
      { timeouts: { default: 9 } },
    );
    expect(settings).toMatchObject({ tolerantArgs: true, timeouts: { default: 9 }, retry: { maxAttempts: 2 } });
  });

  it("keep the errors of the user's own servers masked, and decide over a workspace's own mode", () => {
    const artifacts = { maskSecrets: 'never' };
    const unmasked = read({ artifacts: { shownChars: 900 } }, { artifacts });
    expect(unmasked.settings.artifacts).toMatchObject({ maskSecrets: 'errors' });
    expect(unmasked.problems).toMatchObject([
      { message: '"artifacts.maskSecrets" has no effect: the errors of your own servers stay masked.' },
    ]);
    expect(read({ artifacts }, { artifacts }).settings.artifacts.maskSecrets).toBe('never');
    expect(read({ servers: {} }, { artifacts }).settings.artifacts.maskSecrets).toBe('never');
    const own = { mode: 'transparent', passthrough: { firewall: true } };
    const config = read(own, { mode: 'passthrough', passthrough: { firewall: false } });
    expect(config.settings).toMatchObject(own);
    expect(config.problems.map(({ message }) => message)).toEqual([
      '"mode" has no effect: your own waygate.json sets "transparent", which is stricter.',
      '"passthrough.firewall" has no effect: your own waygate.json sets true, which is stricter.',
    ]);
    expect(read(own, { mode: 'gateway' }).settings.mode).toBe('gateway');
    expect(read({}, { mode: 'passthrough' }).settings.mode).toBe('passthrough');
  });

  it('do not apply to a given file', () => {
    expect(settingsOf({ policy: { rules: [] }, replay: { default: 'convergent' } })).toMatchObject({
      policy: { default: 'allow', rules: [] },
      replay: { default: 'convergent' },
    });
  });
});
