import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/calls/policy/policy.ts';
import { RateLimiter } from '../../src/calls/policy/quota.ts';
import { replayFor } from '../../src/calls/settings/replaySettings.ts';
import { ConfigLayers, type MergedConfig } from '../../src/config/configLayers.ts';
import type { KeptTexts } from '../../src/config/state/keptTexts.ts';
import { temporaryFolder } from '../support/workspace.ts';

const LEVELS = ['user', 'workspace'] as const;
type Level = (typeof LEVELS)[number];

function place() {
  const root = temporaryFolder('wg-closed-');
  const folder = join(root, 'w');
  const env = { WAYGATE_CONFIG_DIR: join(root, 'user') };
  mkdirSync(join(folder, '.vscode'), { recursive: true });
  mkdirSync(env.WAYGATE_CONFIG_DIR);
  const files = { user: join(env.WAYGATE_CONFIG_DIR, 'waygate.json'), workspace: join(folder, '.vscode/waygate.json') };
  const write = (level: Level, content: object | string): void =>
    writeFileSync(files[level], typeof content === 'string' ? content : JSON.stringify(content));
  const layers = (kept?: KeptTexts): ConfigLayers => new ConfigLayers(folder, env, undefined, undefined, kept);
  return { files, write, layers };
}

/** Returns the treatment of a call of the tool `name`: by policy, by limits, and after a loss. */
function fateOf({ settings }: MergedConfig, name = 'any'): [policy: string, isInLimits: boolean, contract: string] {
  const { action } = decide(settings.policy, { metaTool: 'tool_execute', toolName: name });
  const { allowed } = new RateLimiter(settings.rateLimits).take({ session: {}, metaTool: 'tool_execute' });
  const { contract } = replayFor(settings.replay, { id: `one:${name}`, server: 'one', upstreamName: name });
  return [action, allowed, contract];
}

/** File that denies `drop`, limits no call of these tests, and lets lost calls run again. */
const GOOD = {
  servers: { one: { command: 'x' } },
  policy: { default: 'allow', rules: [{ action: 'deny', tool: 'drop' }] },
  replay: { default: 'convergent' },
};
const OPEN = ['allow', true, 'convergent'];
const messages = ({ problems }: MergedConfig): string[] => problems.map(({ message }) => message);

describe.each(LEVELS)('a file with an error, at the level of the %s', (level) => {
  const loaded = (content: object | string): MergedConfig => {
    const { write, layers } = place();
    write(level, content);
    return layers().load();
  };

  it('keeps other blocks in force despite a typo', () => {
    const config = loaded({ ...GOOD, cache: { ttlSecond: 5 }, retry: { max_attempts: 2 } });
    expect([fateOf(config), fateOf(config, 'drop')[0]]).toEqual([OPEN, 'deny']);
    expect(messages(config)).toEqual([
      expect.stringMatching(/^"cache\.ttlSecond" is not a key/),
      expect.stringMatching(/^"retry\.max_attempts" is not a key/),
    ]);
  });

  it.each([
    ['a typo in it', { ...GOOD, policy: { defualt: 'allow' } }],
    ['a wrong value in it', { ...GOOD, policy: { default: 'alow' } }],
    ['a wrong type', { ...GOOD, policy: [] }],
    ['an error in one of its rules', { ...GOOD, policy: { rules: [{ action: 'allow', tol: 'x' }] } }],
    ['a typo in its name', { servers: GOOD.servers, replay: GOOD.replay, polcy: GOOD.policy }],
    ['another ending of its name', { servers: GOOD.servers, replay: GOOD.replay, policies: GOOD.policy }],
    ['its name twice', `{"policy": {}, "replay": {"default": "convergent"}, "policy": {"default": "deny"}}`],
    ['a key of it twice', `{"policy": {"default": "allow", "default": "deny"}, "replay": {"default": "convergent"}}`],
    ['an unknown preset', { servers: GOOD.servers, replay: GOOD.replay, policyPreset: 'saef' }],
    ['an unknown tag', { ...GOOD, policy: { rules: [{ action: 'deny', tags: ['destructve'] }] } }],
  ])('denies every call after an error in the policy: %s', (_, content) => {
    const config = loaded(content);
    expect(fateOf(config)[0]).toBe('deny');
    // Other blocks are not affected.
    expect(fateOf(config)[2]).toBe('convergent');
    expect(messages(config)[0]).toMatch(/Until then every call that no readable rule decides before is denied/);
  });

  it('keeps a readable policy despite an unknown preset', () => {
    const config = loaded({ ...GOOD, policyPreset: 'saef' });
    expect(fateOf(config)).toEqual(['allow', false, 'convergent']);
  });

  it('refuses every call and view after an error in the limits, and answers searches', () => {
    const config = loaded({ ...GOOD, rateLimits: { tool_execute: { maxCallsPerMinut: 9 } } });
    expect(fateOf(config)).toEqual(['allow', false, 'convergent']);
    const limiter = new RateLimiter(config.settings.rateLimits);
    const take = (metaTool: 'tool_browse' | 'tool_view') => limiter.take({ session: {}, metaTool }).allowed;
    expect([take('tool_view'), take('tool_browse')]).toEqual([false, true]);
  });

  it('uses no answer again after an error in the cache', () => {
    for (const cache of [{ readOnly: true, alow: ['one:read'] }, { readOnly: true, allow: 'one:read' }, null]) {
      const config = loaded({ ...GOOD, policyPreset: 'throughput', cache });
      expect([config.settings.cache.readOnly, fateOf(config)]).toEqual([false, OPEN]);
    }
  });

  it('repeats no lost call after an error in replay', () => {
    const config = loaded({ ...GOOD, replay: { default: 'convergent', tols: {} } });
    expect(fateOf(config)).toEqual(['allow', true, 'never_replay']);
  });

  it('masks every secret after an error in the artifacts, and keeps their readable bounds', () => {
    const config = loaded({ ...GOOD, artifacts: { maskSecrets: 'alwyas', shownChars: 300 } });
    expect(config.settings.artifacts).toMatchObject({ maskSecrets: 'always', maskOnDisk: true, shownChars: 300 });
    expect(fateOf(config)).toEqual(OPEN);
  });

  it.each([
    ['a typo in its filter', { one: { command: 'x', tools: { exclde: ['drop'] } } }],
    ['a wrong pattern in its filter', { one: { command: 'x', tools: { exclude: ['drop', 5] } } }],
    ['a wrong type of its filter', { one: { command: 'x', tools: 'drop' } }],
    ['a typo in the name of its filter', { one: { command: 'x', tool: { exclude: ['drop'] } } }],
  ])('offers nothing of a server after %s', (_, servers) => {
    const config = loaded({ ...GOOD, servers });
    expect([config.servers, config.broken.map(({ name }) => name), fateOf(config)]).toEqual([[], ['one'], OPEN]);
  });

  it('has no server after a wrong type of "servers", and its rules stay', () => {
    const config = loaded({ ...GOOD, servers: [] });
    expect([config.servers, fateOf(config), fateOf(config, 'drop')[0]]).toEqual([[], OPEN, 'deny']);
  });

  const BROKEN: [string, string][] = [
    ['a syntax error', '{ "policy": { "default": "allow" }, "servers": '],
    ['a wrong type', '[]'],
    ['nothing in it', ''],
  ];
  it.each(BROKEN)('refuses every call with %s', (_, text) => {
    const config = loaded(text);
    expect(fateOf(config)).toEqual(['deny', false, 'never_replay']);
    expect(config.settings.artifacts).toMatchObject({ maskSecrets: 'always' });
    expect(messages(config)).toEqual([expect.stringMatching(/Until then no tool can be called/)]);
  });

  it('refuses every call if it cannot be read', () => {
    const { files, layers } = place();
    symlinkSync('/nowhere/waygate.json', files[level]);
    const config = layers().load();
    expect(fateOf(config)).toEqual(['deny', false, 'never_replay']);
    expect(messages(config)).toEqual([
      expect.stringMatching(/^waygate\.json cannot be read \(ENOENT\)\. Until then no/),
    ]);
  });

  it('names file, line and error in the reason of a refusal', () => {
    const { files, write, layers } = place();
    write(level, '{\n"policy": {\n "defualt": "deny" } }');
    const { policy } = layers().load().settings;
    expect(decide(policy, { metaTool: 'tool_execute' })).toMatchObject({
      action: 'deny',
      unreadable: `${files[level]}:3:2: "policy.defualt" is not a key; did you mean "default"?`,
    });
  });
});

describe.each(LEVELS)('the last readable version of a file, at the level of the %s', (level) => {
  const CHANGES: [string, object | string][] = [
    ['a typo in another block', { ...GOOD, cache: { ttlSecond: 5 } }],
    ['a typo in the policy', { ...GOOD, policy: { defualt: 'deny' } }],
    ['a typo in its name', { servers: GOOD.servers, replay: GOOD.replay, polcy: {} }],
    ['an unknown preset', { servers: GOOD.servers, replay: GOOD.replay, policyPreset: 'saef' }],
    ['a wrong type of the policy', { ...GOOD, policy: 'deny' }],
    ['an error in replay', { ...GOOD, replay: { default: 'always' } }],
    ['a wrong type of "servers"', { ...GOOD, servers: [] }],
    ['a syntax error', '{ "servers": '],
    ['a wrong type', '[]'],
  ];
  it.each(CHANGES)('stays in force after %s, here and in the next process', (_, content) => {
    const { write, layers } = place();
    write(level, GOOD);
    const running = layers();
    running.load();
    write(level, content);
    const config = running.load();
    // The next process starts after this one, and one more after that.
    const next = layers(running.inForce);
    const after = next.load();
    for (const one of [config, after, layers(next.inForce).load()]) {
      expect([fateOf(one), fateOf(one, 'drop')[0]]).toEqual([OPEN, 'deny']);
      expect(one.servers.map(({ name }) => name)).toEqual(['one']);
      expect(one.problems).toHaveLength(1);
    }
  });

  it('stays in force if the file cannot be read', () => {
    const { files, write, layers } = place();
    write(level, GOOD);
    const running = layers();
    running.load();
    rmSync(files[level]);
    mkdirSync(files[level]);
    const config = running.load();
    expect([fateOf(config), fateOf(config, 'drop')[0]]).toEqual([OPEN, 'deny']);
  });

  it('stays in force for the broken block only: every other edit takes effect', () => {
    const { write, layers } = place();
    write(level, GOOD);
    const running = layers();
    running.load();
    write(level, { servers: { two: { command: 'y' } }, policy: { default: 5 }, browse: { topK: 3 } });
    const config = running.load();
    expect(fateOf(config, 'drop')).toEqual(['deny', true, 'never_replay']);
    expect(config.servers.map(({ name }) => name)).toEqual(['two']);
    expect(config.settings.browse.topK).toBe(3);
    expect(messages(config)).toEqual([
      expect.stringMatching(/^"policy\.default" must be .* Until then the last readable version of "policy" stays/),
    ]);
  });

  it('is never a version that was unreadable itself', () => {
    const { write, layers } = place();
    write(level, { ...GOOD, policy: { defualt: 'allow' } });
    const running = layers();
    expect(fateOf(running.load())[0]).toBe('deny');
    write(level, { ...GOOD, policy: 5, replay: 5 });
    expect(fateOf(running.load())).toEqual(['deny', true, 'convergent']);
    write(level, '{');
    expect(fateOf(running.load())).toEqual(['deny', true, 'convergent']);
    expect(fateOf(layers(running.inForce).load())).toEqual(['deny', true, 'convergent']);
    write(level, GOOD);
    expect(fateOf(running.load())).toEqual(OPEN);
  });

  it('ends with an edit that can be read, even if that removes the block', () => {
    const { write, layers } = place();
    write(level, { ...GOOD, policy: { default: 'deny' } });
    const running = layers();
    running.load();
    write(level, { servers: GOOD.servers });
    expect(fateOf(running.load())[0]).toBe('allow');
  });
});

describe('an unreadable file of one level', () => {
  it("leaves no opening for the other level's rules", () => {
    const { write, layers } = place();
    write('user', '{');
    write('workspace', {
      policyPreset: 'throughput',
      replay: { default: 'convergent' },
      artifacts: { maskSecrets: 'never' },
    });
    const config = layers().load();
    expect(fateOf(config)).toEqual(['deny', false, 'never_replay']);
    expect(config.settings.artifacts.maskSecrets).toBe('always');
  });

  it("lets the user's own rules decide first if it is the workspace's", () => {
    const { write, layers } = place();
    write('user', { policy: { default: 'require_approval', rules: [{ action: 'allow', tool: 'read_*' }] } });
    write('workspace', { policy: { rules: 5 } });
    const config = layers().load();
    expect([fateOf(config, 'read_file')[0], fateOf(config, 'other')[0]]).toEqual(['allow', 'deny']);
  });
});

describe('a file after an earlier version', () => {
  const next = (first: object | string | undefined, second: object | string): MergedConfig => {
    const { write, layers } = place();
    if (first !== undefined) write('workspace', first);
    const gateway = layers();
    gateway.load();
    write('workspace', second);
    return gateway.load();
  };

  it('denies every call if it is new and broken: an absent file is no readable version', () => {
    expect(fateOf(next(undefined, '{ "policy": {'))[0]).toBe('deny');
  });

  it('denies every call if a broken policy is new in it', () => {
    expect(fateOf(next({ servers: {} }, { servers: {}, policy: { defualt: 'deny' } }))[0]).toBe('deny');
  });

  it.each([
    [{ policyPreset: 'saef' }, { policy: { defualt: 'deny' } }],
    [{ policy: { defualt: 'deny' } }, { policyPreset: 'saef' }],
  ])('denies every call if it was never readable: %j, then %j', (first, second) => {
    expect(fateOf(next(first, second))[0]).toBe('deny');
  });

  it('is never more permissive than both versions', () => {
    const config = next({ policyPreset: 'safe' }, { policyPreset: 'balanced', policy: { defualt: 'deny' } });
    expect(fateOf(config)[0]).not.toBe('allow');
  });
});

describe('a safety block that the file puts in another place or under another name', () => {
  const loaded = (content: object | string): MergedConfig => {
    const { write, layers } = place();
    write('workspace', content);
    return layers().load();
  };

  it.each([
    [{ policyPreset: 'balanced', policies: { default: 'deny' } }],
    ['{"policy":{},"polcy":{"default":"deny"}}'],
    [{ servers: { one: { command: 'x' }, policy: { default: 'deny' } } }],
    [{ retry: { policy: { default: 'deny' } } }],
  ])('denies every call: %j', (content) => {
    const config = loaded(content);
    expect([fateOf(config)[0], config.problems.length > 0]).toEqual(['deny', true]);
  });

  /** Outcome with nothing but an unknown key: policy, limits, contract, mask, number of servers. */
  const OUTCOME = { policy: 'allow', limits: true, contract: 'convergent', mask: 'errors', servers: 1 };
  const DENIED = { policy: 'deny' };
  const LIMITED = { limits: false };
  const MASKED = { mask: 'always' };
  const ONCE = { contract: 'never_replay' };
  const PRESET = { ...DENIED, ...LIMITED };
  const MISPLACED: [string, object][] = [
    ['"default": "deny", "rules": []', { ...DENIED, ...ONCE }],
    ['"rules": []', DENIED],
    ['"Rules": []', DENIED],
    ['"deny": ["drop"]', DENIED],
    ['"approval": "always"', DENIED],
    ['"preset": "safe"', PRESET],
    ['"policy.default": "deny"', PRESET],
    ['"retryPolicy": {}', PRESET],
    ['"p\u043elicy": {}', DENIED],
    ['"\u0440\u043eli\u0441\u0443": {}', DENIED],
    ['"gateway": {"inner": [{"policy": {"default": "deny"}}]}', DENIED],
    ['"perTool": {}', LIMITED],
    ['"maxCallsPerMinute": 1', LIMITED],
    ['"callLimits": {}', LIMITED],
    ['"trustHints": []', ONCE],
    ['"maskSecrets": "always"', MASKED],
    ['"waygate.maskSecret": "always"', MASKED],
    ['"masking": true', MASKED],
    ['"browse": {"maskSecrets": "always"}', MASKED],
    ['"policy": {"maskSecrets": "always"}', { ...DENIED, ...MASKED }],
    ['"exclude": ["drop"]', { servers: 0 }],
    ['"disabled": true', { servers: 0 }],
    // Keys that belong to no block about safety.
    ['"comment": "deny, mask and limit nothing"', {}],
    ['"retries": 3', {}],
    ['"cache": {"maxEntrys": 3}', {}],
    ['"cache": {"default": "deny", "tags": []}', {}],
  ];
  const GOOD_TEXT = '"servers": {"one": {"command": "x"}}, "replay": {"default": "convergent"}';
  const outcomeOf = (config: MergedConfig): object => {
    const [policy, limits, contract] = fateOf(config);
    const { artifacts } = config.settings;
    return { policy, limits, contract, mask: artifacts.maskSecrets, servers: config.servers.length };
  };
  it.each(MISPLACED)('makes every block that it may belong to strict, and no other: {%s}', (misplaced, changes) => {
    const config = loaded(`{${GOOD_TEXT}, ${misplaced}}`);
    expect(outcomeOf(config)).toEqual({ ...OUTCOME, ...changes });
    expect(messages(config).length).toBeGreaterThan(0);
    expect(new Set(messages(config)).size).toBe(config.problems.length);
  });

  it.each(MISPLACED)('keeps the last readable version of these blocks, also in the next process: {%s}', (misplaced) => {
    const { write, layers } = place();
    const full = '"policy": {}, "rateLimits": {}, "artifacts": {}';
    write('user', `{${GOOD_TEXT}, ${full}}`);
    const running = layers();
    running.load();
    const rest = full.split(', ').filter((one) => !misplaced.startsWith(one.slice(0, 8)));
    write('user', `{${[GOOD_TEXT, misplaced, ...rest].join(', ')}}`);
    const after = running.load();
    for (const config of [after, layers(running.inForce).load()]) expect(outcomeOf(config)).toEqual(OUTCOME);
  });

  it('names the block that a key may belong to', () => {
    expect(messages(loaded('{"maskSecrets": "always", "browse": {"maskOnDisk": true}}'))).toEqual([
      '"maskSecrets" is not a key; it may belong into "artifacts". Until then secrets are masked in all results, kept ones included.',
      '"browse.maskOnDisk" has no effect here; it belongs into "artifacts".',
    ]);
  });

  it('leaves a server alone whose name is that of a block', () => {
    const config = loaded({ servers: { policy: { command: 'x' } } });
    expect([config.servers.map(({ name }) => name), config.problems]).toEqual([['policy'], []]);
  });
});

describe('a malformed entry', () => {
  const loaded = (content: object | string): MergedConfig => {
    const { write, layers } = place();
    write('workspace', content);
    return layers().load();
  };

  it.each([[{ two: [{ a: 1, b: 2 }] }], [{ two: [[1, 2]] }], [{ two: 'x' }], [{ two: null }]])(
    'is reported and breaks its server alone: %j',
    (entries) => {
      const config = loaded({ servers: { one: { command: 'x' }, ...entries } });
      expect([config.servers.map(({ name }) => name), config.broken.map(({ name }) => name)]).toEqual([
        ['one'],
        ['two'],
      ]);
    },
  );

  it('that stands twice under one name breaks that server, so that no restriction is lost', () => {
    const config = loaded('{"servers":{"one":{"command":"x"},"one":{"command":"x","tools":{"exclude":["drop"]}}}}');
    expect([config.servers, new Set(config.broken.map(({ name }) => name))]).toEqual([[], new Set(['one'])]);
  });

  it('among the inputs makes every input a secret', () => {
    const input = { id: 'tok', type: 'promptString', description: '' };
    const one = { command: 'x', args: ['${input:tok}'] };
    for (const more of [[{ ...input, passwrod: true }], [input, { ...input, password: true }], [input, { id: 'o' }]]) {
      const { servers } = loaded({ servers: { one }, inputs: more });
      expect(servers[0]?.inputs).toMatchObject([{ id: 'tok', password: true }]);
    }
  });
});

describe('a path that is no ordinary file', () => {
  it.skipIf(process.platform === 'win32').each([
    ['a dangling link', (file: string) => symlinkSync('/nowhere/waygate.json', file)],
    ['a link out of the workspace', (file: string) => symlinkSync('/etc/hostname', file)],
  ])('denies every call: %s', (_, make) => {
    const { files, layers } = place();
    make(files.workspace);
    expect(fateOf(layers().load())[0]).toBe('deny');
  });

  it.skipIf(process.platform === 'win32').each([
    ['a link to a device', (file: string) => symlinkSync('/dev/zero', file)],
    ['a folder', (file: string) => mkdirSync(file)],
  ])('denies every call in place of the own file of the user, and has no rules for a workspace: %s', (_, make) => {
    for (const level of ['user', 'workspace'] as const) {
      const { files, layers } = place();
      make(files[level]);
      const config = layers().load();
      expect(fateOf(config)[0]).toBe(level === 'user' ? 'deny' : 'allow');
      expect(messages(config)[0]).toMatch(/^waygate\.json cannot be read \(/);
    }
  });

  it('denies every call if the reader itself fails', () => {
    const { files } = place();
    const broken = new ConfigLayers(files.workspace, {}, files.workspace, () => {
      throw new RangeError('too deep');
    });
    expect(fateOf(broken.load())[0]).toBe('deny');
  });
});

it('shows no control character of a file in a message', () => {
  const { write, layers } = place();
  write('workspace', { '\u001b[31mred\nok': 1 });
  const shown = messages(layers().load()).join('');
  expect([shown.includes('red'), shown.includes('\u001b'), shown.includes('\n')]).toEqual([true, false, false]);
});
