import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decide } from '../../src/calls/policy/policy.ts';
import type { KeptTexts } from '../../src/config/state/keptTexts.ts';
import { ConfigurationEdits } from '../../src/worker/configuration/applyConfiguration.ts';
import { Configuration } from '../../src/worker/configuration/configuration.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

const DENY = { rules: [{ action: 'deny', tool: 'x' }] };
const ONE = { one: { command: 'a' } };

function place() {
  const workspace = temporaryFolder('waygate-configuration-');
  const configFile = join(workspace, 'given.json');
  const write = (content: object | string): void =>
    writeFileSync(configFile, typeof content === 'string' ? content : JSON.stringify(content));
  const read = (lastGood?: () => KeptTexts): Configuration => new Configuration({ workspace, configFile, lastGood });
  return { write, read, configFile };
}
const names = ({ current }: Configuration): string[] => current.servers.map(({ name }) => name);
const denies = ({ current }: Configuration): boolean =>
  decide(current.settings.policy, { metaTool: 'tool_execute', toolName: 'x' }).action === 'deny';

describe('the configuration in force', () => {
  it('is one immutable value of the files as they were read', () => {
    const { write, read } = place();
    write({ servers: ONE, idleMinutes: 3 });
    const configuration = read();
    const before = configuration.current;
    write({ servers: { ...ONE, two: { command: 'b' } }, idleMinutes: 4, policy: DENY, mode: 'passthrough' });
    expect([names(configuration), denies(configuration)]).toEqual([['one'], false]);
    expect(configuration.read()).toBe(true);
    expect([names(configuration), denies(configuration)]).toEqual([['one', 'two'], true]);
    expect(configuration.current).toMatchObject({ settings: { idleMinutes: 4, mode: 'passthrough' } });
    expect(before).toMatchObject({ settings: { idleMinutes: 3 }, servers: [{ name: 'one' }] });
  });

  it('is unchanged if only positions changed, which are updated', () => {
    const { write, read } = place();
    write({ servers: ONE, idleMinutes: 3 });
    const configuration = read();
    write('// Mine.\n{ "idleMinutes": 3, "servers": {\n "one": { "command": "a" } } }');
    expect(configuration.read()).toBe(false);
    expect(configuration.current.servers[0]?.location.line).toBe(3);
  });

  it('keeps the last readable content of a file and of its call blocks, in this worker and the next', () => {
    const { write, read } = place();
    write({ servers: ONE, policy: DENY });
    const running = read();
    const { texts } = running;
    for (const text of ['{ "servers": ', { servers: ONE, policy: { rules: 'none' } }]) {
      write(text);
      expect(running.read()).toBe(false);
      const next = read(() => texts);
      for (const one of [running, next]) {
        expect([names(one), denies(one)]).toEqual([['one'], true]);
        expect(one.current.problems).toHaveLength(1);
      }
      // The worker after that gets the same rules.
      expect(denies(read(() => next.texts))).toBe(true);
    }
    // Readable content wins over earlier content.
    write({ servers: { two: { command: 'a' } } });
    expect(names(read(() => texts))).toEqual(['two']);
    expect(running.read()).toBe(true);
    expect([names(running), denies(running), running.current.problems]).toEqual([['two'], false, []]);
  });

  it('denies every call if the rules were never readable, in this worker and the next', () => {
    const { write, read } = place();
    for (const text of ['{', { servers: ONE, policy: { rules: 'none' } }]) {
      write(text);
      const first = read();
      const next = read(() => first.texts);
      for (const one of [first, next]) expect(denies(one)).toBe(true);
    }
  });
});

describe('a broken entry', () => {
  const limited = { command: 'a', tools: { exclude: ['x'] } };
  const started = ({ current }: Configuration) =>
    current.servers.map((one) => [one.name, one.type === 'stdio' && one.command]);
  /** Reads a good entry, then this one: in the running worker and in the next. */
  function edited(entry: unknown, before: object = limited) {
    const { write, read } = place();
    const two = { command: 'b' };
    write({ servers: { one: before, two } });
    const running = read();
    const text = typeof entry === 'string' ? entry : `{"one": ${JSON.stringify(entry)}, "two": {"command": "c"}}`;
    write(`{"servers": ${text}}`);
    running.read();
    const next = read(() => running.texts);
    return [running, next, read(() => next.texts)];
  }

  it.each<[string, object]>([
    ['a wrong value', { ...limited, args: 'x' }],
    ['an unknown key that resembles a known one', { ...limited, comand: 'b' }],
    ['a missing key', { tools: limited.tools }],
    ['a missing variable', { ...limited, command: `\${env:WAYGATE_NO_SUCH_VARIABLE}` }],
    ['a missing file of variables', { ...limited, envFile: 'no-such-file' }],
  ])('keeps its last readable version: %s', (_, entry) => {
    for (const configuration of edited(entry)) {
      expect(started(configuration)).toEqual([
        ['one', 'a'],
        ['two', 'c'],
      ]);
      expect(configuration.current.servers[0]).toMatchObject({ tools: limited.tools });
      const { broken, problems } = configuration.current;
      const stays = expect.stringMatching(/ Until then the last readable version of this entry stays in force\.$/);
      expect([broken, problems]).toEqual([[], [expect.objectContaining({ severity: 'error', message: stays })]]);
    }
  });

  it.each<[string, unknown]>([
    ['other tools', { args: 'x', command: 'a', tools: { exclude: ['x', 'y'] } }],
    ['broken tools', { command: 'a', tools: { exclude: 'x' } }],
    ['other walls', { args: 'x', command: 'a', tools: { exclude: ['x'] }, sandbox: true }],
    ['broken walls', { command: 'a', tools: { exclude: ['x'] }, sandbox: 'yes' }],
    ['a misspelled `tools`', { command: 'a', tool: { exclude: ['x'] } }],
    ['an unknown key', { ...limited, forbidden: ['y'] }],
    ['a broken `disabled`', { ...limited, disabled: 'yes' }],
    ['a disabled server with an error', { ...limited, disabled: true, args: 'x' }],
    ['two entries', '{"one": {"command": "a"}, "one": {"command": "b"}, "two": {"command": "c"}}'],
  ])('ends its server if its limits are not those of the last readable version: %s', (_, entry) => {
    for (const configuration of edited(entry)) {
      expect(started(configuration)).toEqual([['two', 'c']]);
      expect(configuration.current.broken).toMatchObject([{ name: 'one' }]);
    }
  });

  it.each([5, false, null, [], [[1, 2]]])('ends its server if it is no object: %j', (entry) => {
    for (const one of edited(entry, { command: 'a' })) expect(started(one)).toEqual([['two', 'c']]);
  });

  it('without an earlier version starts nothing', () => {
    const { write, read } = place();
    write({ servers: { one: { comand: 'a' } } });
    expect([names(read()), read().current.broken.length]).toEqual([[], 1]);
  });
});

describe('an edit of the configuration', () => {
  function applied(content: object) {
    const { write, read, configFile } = place();
    write(content);
    const configuration = read();
    const steps: string[] = [];
    const kept: KeptTexts[] = [];
    const edits = new ConfigurationEdits({
      configuration,
      adoptSettings: () => void steps.push('settings'),
      reconcileServers: () => void steps.push('servers'),
      keep: (texts) => void kept.push(texts),
      onChange: () => void steps.push('shown'),
      log: (line) => void steps.push(line),
      paces: { pollMs: 10, quietMs: 1 },
    });
    onTestFinished(() => edits.stop());
    return { write, steps, kept, edits, configuration, folder: dirname(configFile) };
  }

  it('is detected and applied: settings, servers, texts for the next worker, watchers', async () => {
    const { write, steps, kept, edits } = applied({ servers: ONE });
    edits.watch({ succeeds: true });
    write({ servers: {} });
    await until('the edit', () => steps.includes('shown') && steps.includes('settings'));
    expect(steps.filter((step) => step !== 'shown')).toEqual([
      'settings',
      'servers',
      'the edited configuration is in force',
    ]);
    const entries = kept.map((texts) => Object.values(texts).map((text) => JSON.parse(text).servers));
    expect(entries).toEqual([[ONE], [{}]]);
  });

  it('that cannot be read changes nothing, and is logged once', () => {
    const { write, steps, kept, edits } = applied({ servers: ONE });
    write('{');
    for (let i = 0; i < 3; i++) edits.apply();
    expect(steps.filter((step) => step !== 'shown')).toEqual([expect.stringMatching(/^error: .*given\.json:1:2: /)]);
    expect(kept).toEqual([]);
  });

  it('is not the moment between deleting a file and writing it anew', async () => {
    const { write, configFile, read } = place();
    write({ servers: ONE, policy: DENY });
    const configuration = read();
    const seen: boolean[] = [];
    const edits = new ConfigurationEdits({
      configuration,
      adoptSettings: () => void seen.push(denies(configuration)),
      reconcileServers: () => undefined,
      keep: () => undefined,
      onChange: () => undefined,
      log: () => undefined,
      paces: { pollMs: 10, quietMs: 1, goneMs: 60_000 },
    });
    onTestFinished(() => edits.stop());
    edits.watch({ succeeds: true });
    rmSync(configFile);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([denies(configuration), seen]).toEqual([true, []]);
    write({ servers: ONE, policy: DENY, idleMinutes: 4 });
    await until('the new file', () => seen.length > 0);
    expect(seen).toEqual([true]);
  });

  it('is in force in a worker that was prepared before it and serves after it', () => {
    const { write, read } = place();
    write({ servers: ONE });
    const kept = { texts: {} as KeptTexts };
    const prepared = read(() => kept.texts);
    write({ servers: ONE, policy: DENY });
    // The serving worker applies the edit and keeps it; then the file breaks.
    kept.texts = read().texts;
    write('{');
    const edits = new ConfigurationEdits({
      configuration: prepared,
      adoptSettings: () => undefined,
      reconcileServers: () => undefined,
      keep: (texts) => {
        kept.texts = texts;
      },
      onChange: () => undefined,
      log: () => undefined,
    });
    onTestFinished(() => edits.stop());
    edits.watch({ succeeds: true });
    expect(denies(prepared)).toBe(true);
    expect(denies(read(() => kept.texts))).toBe(true);
  });

  it('is the one that a worker read at its start, if its file breaks before the worker follows edits', () => {
    const { write, read } = place();
    write({ servers: ONE });
    const ofTheLastWorker = read().texts;
    write({ servers: ONE, policy: DENY });
    const started = read(() => ofTheLastWorker);
    write('{');
    const edits = new ConfigurationEdits({
      configuration: started,
      adoptSettings: () => undefined,
      reconcileServers: () => undefined,
      keep: () => undefined,
      onChange: () => undefined,
      log: () => undefined,
    });
    onTestFinished(() => edits.stop());
    edits.watch({ succeeds: false });
    expect(denies(started)).toBe(true);
  });

  it('of a file of variables is applied, also if the file was missing or an edit has just named it', async () => {
    const { write, steps, edits, configuration, folder } = applied({ servers: ONE });
    const valueOfA = () => configuration.current.servers.map((one) => one.type === 'stdio' && one.env.A)[0];
    const variables = join(folder, 'one.env');
    edits.watch({ succeeds: true });
    write({ servers: { one: { command: 'a', envFile: variables }, two: { command: 'b' } } });
    // The file is missing, and the last readable version had no variables.
    await until('the error', () => steps.some((step) => /one\.env cannot be read \(ENOENT\)/.test(step)));
    writeFileSync(variables, 'A=1');
    await until('the new file', () => valueOfA() === '1');
    writeFileSync(variables, 'A=second');
    await until('the edited file', () => valueOfA() === 'second');
    write({ servers: ONE });
    await until('the edit', () => configuration.current.servers.length === 1);
    expect(configuration.files).not.toContain(variables);
  });

  it('is ignored once this worker has stopped', () => {
    const { write, steps, edits, configuration } = applied({ servers: ONE });
    edits.stop();
    write({ servers: {} });
    edits.apply();
    expect(steps).toEqual([]);
    expect(names(configuration)).toEqual(['one']);
  });
});
