import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/calls/policy/policy.ts';
import type { KeptTexts } from '../../src/config/configLayers.ts';
import { Configuration } from '../../src/worker/configuration/configuration.ts';
import { type Handover, isChanged } from '../../src/worker/configuration/handover.ts';
import { temporaryFolder } from '../support/workspace.ts';

const DENY = { rules: [{ action: 'deny', tool: 'x' }] };

function place() {
  const workspace = temporaryFolder('waygate-configuration-');
  const configFile = join(workspace, 'given.json');
  const write = (content: object | string): void =>
    writeFileSync(configFile, typeof content === 'string' ? content : JSON.stringify(content));
  const read = (handover?: Handover, lastGood?: () => KeptTexts): Configuration =>
    new Configuration({ workspace, configFile, handover, lastGood });
  return { write, read };
}
const names = ({ current }: Configuration): string[] => current.servers.map(({ name }) => name);
const denies = ({ calls }: Configuration): boolean =>
  calls.policy !== undefined && decide(calls.policy, { meta_tool: 'tool_execute', tool_name: 'x' }).action === 'deny';
/** As it goes through the pipe. */
const sent = ({ handover }: Configuration): Handover => JSON.parse(JSON.stringify(handover)) as Handover;

describe('the configuration of a worker', () => {
  it('is what it was at the start, whatever is written; only where it stands is kept up', () => {
    const { write, read } = place();
    write({ servers: { one: { command: 'a' } }, idleMinutes: 3 });
    const configuration = read();
    write('// Mine.\n{ "idleMinutes": 3, "servers": {\n "one": { "command": "a" } } }');
    expect(configuration.look()).toBe(false);
    expect(configuration.current.servers[0]?.location.line).toBe(3);
    for (const other of [
      { servers: { one: { command: 'b' } }, idleMinutes: 3 },
      { servers: { one: { command: 'a' } }, idleMinutes: 4 },
      { servers: { one: { command: 'a' } }, idleMinutes: 3, policy: DENY },
      { servers: { one: { command: 5 } }, idleMinutes: 3 },
    ]) {
      write(other);
      expect(configuration.look(), JSON.stringify(other)).toBe(true);
      expect(configuration.current).toMatchObject({ servers: [{ command: 'a' }], idleMinutes: 3 });
      expect(denies(configuration)).toBe(false);
    }
    // A session's own affair.
    write({ servers: { one: { command: 'a' } }, idleMinutes: 3, mode: 'passthrough' });
    expect(configuration.look()).toBe(false);
    expect(configuration.current.mode).toBe('passthrough');
  });

  it('says why what is written is not in force, until it is put back', () => {
    const { write, read } = place();
    write({ servers: {} });
    const configuration = read();
    write({ servers: { one: { command: 'a' } } });
    expect(configuration.look()).toBe(true);
    configuration.refuse('it ended.');
    expect(configuration.current.problems.map(({ message }) => message)).toEqual([
      'What is written now is not in force, the gateway serves on as it was: it ended.',
    ]);
    expect(configuration.look()).toBe(true);
    expect(configuration.refusal).toBe('it ended.');
    write({ servers: {} });
    expect(configuration.look()).toBe(false);
    expect(configuration.current.problems).toEqual([]);
  });

  it('that breaks says nothing new, and hands on what was last right, from one worker to the next', () => {
    const { write, read } = place();
    write({ servers: { one: { command: 'a' } }, policy: DENY });
    const first = read();
    expect(sent(first).kept).toEqual({});
    write('{ "servers": ');
    expect(first.look()).toBe(false);
    const second = read(sent(first));
    expect([names(second), denies(second), second.flaw]).toEqual([['one'], true, undefined]);
    expect(second.current.problems).toHaveLength(1);
    const third = read(sent(second));
    expect([names(third), denies(third), third.flaw]).toEqual([['one'], true, undefined]);
    // Nobody has handed it anything.
    expect(read().flaw).toMatch(/given\.json:1:\d+: This is not JSON/);
  });

  it('that is broken is what it was for the last worker, where that could hand nothing on', () => {
    const { write, read } = place();
    write({ servers: { one: { command: 'a' } }, policy: DENY });
    const { inForce } = read();
    for (const text of ['{ "servers": ', { servers: { one: { command: 'a' } }, policy: { rules: 'none' } }]) {
      write(text);
      const next = read(undefined, () => inForce);
      expect([names(next), denies(next)]).toEqual([['one'], true]);
      expect(next.current.problems).toHaveLength(1);
      // And hands on the same rules in its turn.
      const callsOf = (texts: KeptTexts) => Object.values(texts).map(({ calls }) => calls);
      expect(callsOf(next.inForce)).toEqual(callsOf(inForce));
    }
    // What can be read counts, whatever was before.
    write({ servers: { two: { command: 'a' } } });
    expect(names(read(undefined, () => inForce))).toEqual(['two']);
  });

  it('whose blocks about calls break keeps their last good ones, from one worker to the next', () => {
    const { write, read } = place();
    write({ servers: { one: { command: 'a' } }, policy: DENY });
    const first = read();
    write({ servers: { two: { command: 'a' } }, policy: { rules: 'none' } });
    expect(first.look()).toBe(true);
    const second = read(sent(first));
    const third = read(sent(second));
    for (const one of [second, third]) expect([names(one), denies(one), one.flaw]).toEqual([['two'], true, undefined]);
    expect(second.look()).toBe(false);
    expect(read().flaw).toMatch(/"policy\.rules"/);
  });

  it('of which nothing was ever right is no reason for the next worker to stay away', () => {
    const { write, read } = place();
    write({ servers: {}, policy: { rules: 'none' } });
    const first = read();
    write({ servers: { one: { command: 'a' } }, policy: { rules: 'none' } });
    expect(read(sent(first)).flaw).toBeUndefined();
    write('{');
    const broken = read();
    expect(read(sent(broken)).flaw).toBeUndefined();
  });

  it('tells the next worker which of its servers are others now', () => {
    const { write, read } = place();
    write({ servers: { same: { command: 'a' }, other: { command: 'a' }, gone: { command: 'a' } } });
    const handover = sent(read());
    write({
      servers: { come: { command: 'a' }, same: { command: 'a', tools: { include: ['x'] } }, other: { command: 'b' } },
    });
    const { servers } = read(handover).current;
    expect(servers.filter((server) => isChanged(handover, server)).map(({ name }) => name)).toEqual(['other']);
  });
});
