import { describe, expect, it } from 'vitest';
import { ResultCache } from '../../src/calls/pipeline/resultCache.ts';
import { decide } from '../../src/calls/policy/policy.ts';
import { overrideFor } from '../../src/calls/settings/overrides.ts';
import { replayFor } from '../../src/calls/settings/replaySettings.ts';
import type { MergedConfig } from '../../src/config/configLayers.ts';
import { settingsFor } from '../../src/config/declaration/block.ts';
import { DEFAULT_SETTINGS } from '../../src/config/declaration/document.ts';
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
      },
      {
        rateLimits: {
          tool_execute: { maxCallsPerMinute: 99, maxCallsPerSession: 7 },
          tool_view: { maxCallsPerMinute: 1 },
        },
      },
    );
    expect(settings.rateLimits).toEqual({
      tool_execute: { maxCallsPerMinute: 10, maxCallsPerSession: 7 },
      tool_view: { maxCallsPerMinute: 1, maxCallsPerSession: null },
      perTool: { 'a:b': { maxCallsPerMinute: null, maxCallsPerSession: 2 } },
    });
  });

  it('of the gateway as a whole stay, so that a workspace cannot degrade servers of the user', () => {
    const hostile = {
      schemaLimits: { maxBytes: 1 },
      liveRefresh: { enabled: false },
      idleMinutes: 0.001,
      artifacts: { ttlSeconds: 1, maxBytes: 1, maxArtifacts: 1 },
      startup: { mode: 'strict', minHealthyServers: 9_999, failOnEmptyCatalog: true, timeoutSeconds: 90 },
    };
    const { settings, problems } = read({}, hostile);
    expect(settings).toMatchObject({
      ...DEFAULT_SETTINGS,
      startup: { ...DEFAULT_SETTINGS.startup, timeoutSeconds: 90 },
      replay: expect.anything(),
    });
    expect(problems.map(({ message }) => /^"[\w.]+" has no effect/.exec(message)?.[0])).toEqual(
      [
        ...['idleMinutes', 'startup.mode', 'startup.minHealthyServers', 'startup.failOnEmptyCatalog', 'liveRefresh'],
        ...['artifacts.ttlSeconds', 'artifacts.maxBytes', 'artifacts.maxArtifacts', 'schemaLimits'],
      ].map((name) => `"${name}" has no effect`),
    );
    expect(
      read({ schemaLimits: { maxDepth: 5 } }, { schemaLimits: { maxDepth: 50 } }).settings.schemaLimits,
    ).toMatchObject({
      maxDepth: 5,
    });
    // A workspace alone decides for itself.
    expect(read({ servers: {} }, hostile).settings).toMatchObject({ idleMinutes: 0.001, startup: { mode: 'strict' } });
  });

  it("and retries of a workspace do not concern the user's own servers", () => {
    const { settings } = read({}, { retry: { maxAttempts: 99 } });
    const of = (server: string): number => settingsFor(settings.retry, server).maxAttempts;
    expect([of('mine'), of('theirs')]).toEqual([1, 99]);
  });

  it('with globs over tools loosen nothing for servers of a workspace', () => {
    const tool = (origin: 'user' | 'workspace') => ({ id: 'a:pay', server: 'a', upstreamName: 'pay', origin });
    const of = (replay: object) => {
      const { settings } = read({ replay, timeouts: { tools: { '*': 7 } } }, {});
      return (['user', 'workspace'] as const).map(
        (origin) =>
          [replayFor(settings.replay, tool(origin)).contract, overrideFor(settings.timeouts, tool(origin))] as const,
      );
    };
    expect(of({ tools: { 'pay*': 'convergent' } })).toEqual([
      ['convergent', 7],
      ['never_replay', 120],
    ]);
    expect(of({ default: 'convergent', tools: { 'pay*': 'never_replay' } })).toEqual([
      ['never_replay', 7],
      ['never_replay', 120],
    ]);
    const probe = { tool: 'read', effect: { at: '/x' } };
    const { settings } = read({ replay: { default: 'probe_required', probes: { '*': probe } } }, {});
    expect(replayFor(settings.replay, tool('user')).probe).toMatchObject({ tool: 'read' });
    expect(replayFor(settings.replay, tool('workspace'))).not.toHaveProperty('probe');
  });

  it('give way to the workspace in everything else', () => {
    const { settings } = read({ tolerantArgs: true, idleMinutes: 5, retry: { maxAttempts: 2 } }, { idleMinutes: 9 });
    expect(settings).toMatchObject({ tolerantArgs: true, idleMinutes: 9, retry: { maxAttempts: 2 } });
  });

  it("keep the time limits of the user's own servers", () => {
    const seconds = ({ settings }: MergedConfig, server: string): number =>
      overrideFor(settingsFor(settings.timeouts, server), { id: `${server}:x`, server, upstreamName: 'x' });
    const hostile = { timeouts: { default: 0.001, servers: { mine: 0.001 }, tools: { '*': 0.001 } } };
    const of = (config: MergedConfig): number[] => [seconds(config, 'mine'), seconds(config, 'theirs')];
    expect(of(read({}, hostile))).toEqual([120, 0.001]);
    expect(of(read({ timeouts: { servers: { mine: 7 } } }, hostile))).toEqual([7, 0.001]);
    expect(of(read({ timeouts: { default: 5 } }, {}))).toEqual([5, 5]);
    const started = read({}, { startup: { timeoutSeconds: 0.001 } });
    expect(started.settings.startup.timeoutSeconds).toBe(60);
    expect(started.problems).toMatchObject([
      { message: '"startup.timeoutSeconds" has no effect: your own servers have 60 s.' },
    ]);
    expect(read({}, { startup: { timeoutSeconds: 90 } }).settings.startup.timeoutSeconds).toBe(90);
    expect(read({ servers: {} }, { startup: { timeoutSeconds: 1 } }).settings.startup.timeoutSeconds).toBe(1);
  });

  it.each([
    ['a block', { cache: { readOnly: true, ttlSeconds: 9_999_999 } }],
    ['a preset', { policyPreset: 'throughput' }],
  ])("keep answers of the user's own servers from the cache that a workspace switches on by %s", (_by, workspace) => {
    const tool = (server: string) => ({ id: `${server}:x`, server, safety: 'read_only' as const });
    const cacheOf = (user: object, now = (): number => 0): ResultCache =>
      new ResultCache(read(user, workspace).settings.cache, now);
    const admits = (cache: ResultCache): boolean[] => ['mine', 'theirs'].map((server) => cache.admits(tool(server)));
    expect(admits(cacheOf({}))).toEqual([false, true]);
    expect(admits(cacheOf({ cache: { readOnly: true, allow: ['mine:y'] } }))).toEqual([false, true]);
    // The user's own age of an answer counts for the user's own servers.
    let now = 0;
    const own = cacheOf({ cache: { readOnly: true, ttlSeconds: 2 } }, () => now);
    expect(admits(own)).toEqual([true, true]);
    for (const server of ['mine', 'theirs']) own.put(server, {}, own.generation, server);
    now = 3;
    expect(['mine', 'theirs'].map((key) => own.has(key))).toEqual([false, true]);
    expect(own.get('mine')).toBeUndefined();
  });

  it("name the user's own servers, and not servers of a workspace with the same name", () => {
    const user = {
      timeouts: { default: 60, servers: { github: 3_600, mine: 5 } },
      replay: { servers: { github: 'convergent', other: 'never_replay', mine: 'convergent' }, trustHints: ['github'] },
    };
    const hinted = { annotations: { readOnlyHint: true } };
    for (const workspace of [{}, { replay: { default: 'convergent' } }, { timeouts: { default: 60 } }]) {
      const config = read(user, { servers: { github: { command: 'x' } }, ...workspace });
      const { replay, timeouts } = config.settings;
      const of = (server: string) => ({ id: `${server}:x`, server, upstreamName: 'x', ...hinted });
      expect(replayFor(replay, of('github')).contract).toBe('never_replay');
      expect(replayFor(replay, of('mine')).contract).toBe('convergent');
      expect(overrideFor(settingsFor(timeouts, 'github'), of('github'))).toBe(60);
      expect(overrideFor(settingsFor(timeouts, 'mine'), of('mine'))).toBe(5);
      expect(config.problems.map(({ message }) => message)).toEqual([
        '"timeouts.servers" has no effect for "github": your own waygate.json has no such server.',
        '"replay.servers" has no effect for "github": your own waygate.json has no such server.',
      ]);
    }
  });

  it.each(['mine', 'Mine', 'm\u0456ne'])('name servers that a workspace cannot disable as %s', (name) => {
    const config = read({}, { servers: { [name]: { command: 'y', disabled: true, startTimeoutSeconds: 1 } } });
    expect(config.servers).toMatchObject([{ name: 'mine', origin: 'user', command: 'x', disabled: false }]);
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
    const own = { mode: 'transparent', passthrough: { firewall: true, asks: 'waygate' } };
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
