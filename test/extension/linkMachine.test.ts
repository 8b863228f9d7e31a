import { describe, expect, it } from 'vitest';
import {
  ATTACH_LIMIT_MS,
  type Conditions,
  LASTING_MS,
  type LinkEvent,
  type LinkPhase,
  linkTarget,
  RETRY_DELAYS_MS,
  STOP_LIMIT_MS,
  step,
} from '../../src/extension/gateway/linkMachine.ts';

const WORKSPACE = '/w';
const off: LinkPhase = { kind: 'off', reason: 'checking' };
const attaching = (attempt = 0): LinkPhase => ({ kind: 'attaching', workspace: WORKSPACE, attempt });
const attachedPhase = (attempt = 0): LinkPhase => ({ kind: 'attached', workspace: WORKSPACE, attempt });
const waiting = (attempt: number): LinkPhase => ({
  kind: 'waiting',
  workspace: WORKSPACE,
  attempt,
  delayMs: 100,
  reason: 'r',
});
const target: LinkEvent = { type: 'target', target: { workspace: WORKSPACE } };
const effectsOf = (phase: LinkPhase, event: LinkEvent): string[] => step(phase, event).effects.map(({ type }) => type);

describe('linkTarget', () => {
  const whole: Conditions = { workspace: WORKSPACE, trusted: true, configuration: 'present' };
  it.each<[string, Partial<Conditions>, ReturnType<typeof linkTarget>]>([
    ['everything is available', {}, { workspace: WORKSPACE }],
    ['no folder is open', { workspace: undefined, trusted: false }, { off: 'no_folder' }],
    ['the configuration was not looked for yet', { configuration: 'unknown' }, { off: 'checking' }],
    ['there is no configuration', { configuration: 'absent', trusted: false }, { off: 'no_configuration' }],
    ['the workspace is not trusted', { trusted: false }, { off: 'untrusted' }],
  ])('when %s', (_, over, expected) => {
    expect(linkTarget({ ...whole, ...over })).toEqual(expected);
  });
});

describe('link state machine', () => {
  it('attaches as soon as it has a target, with a time limit', () => {
    expect(step(off, target)).toEqual({
      phase: attaching(),
      effects: [
        { type: 'set_timer', ms: ATTACH_LIMIT_MS },
        { type: 'attach', workspace: WORKSPACE },
      ],
    });
  });

  it('stays unchanged when the same target is set again', () => {
    for (const phase of [attaching(), attachedPhase(), waiting(2)]) {
      expect(step(phase, target)).toEqual({ phase, effects: [] });
    }
  });

  it('detaches and attaches again when the workspace changes', () => {
    const { phase, effects } = step(attachedPhase(), { type: 'target', target: { workspace: '/other' } });
    expect(phase).toEqual({ kind: 'attaching', workspace: '/other', attempt: 0 });
    expect(effects.map(({ type }) => type)).toEqual(['clear_timer', 'detach', 'set_timer', 'attach']);
  });

  it('detaches when its target is withdrawn', () => {
    for (const phase of [attaching(), attachedPhase(), waiting(1)]) {
      const next = step(phase, { type: 'target', target: { off: 'untrusted' } });
      expect(next.phase).toEqual({ kind: 'off', reason: 'untrusted' });
      expect(next.effects).toEqual([{ type: 'clear_timer' }, { type: 'detach' }]);
    }
  });

  it('immediately replaces a worker that had lasted', () => {
    const next = step(attachedPhase(4), { type: 'closed', attachedForMs: LASTING_MS });
    expect(next.phase).toMatchObject({ kind: 'waiting', attempt: 1, delayMs: RETRY_DELAYS_MS[0] });
    expect(effectsOf(next.phase, { type: 'timer' })).toEqual(['set_timer', 'attach']);
  });

  it('keeps slowing down while workers crash soon after their start', () => {
    const delays: number[] = [];
    let phase: LinkPhase = attaching();
    for (let crash = 0; crash < RETRY_DELAYS_MS.length + 2; crash += 1) {
      phase = step(phase, { type: 'attached' }).phase;
      phase = step(phase, { type: 'closed', attachedForMs: LASTING_MS - 1 }).phase;
      if (phase.kind === 'waiting') delays.push(phase.delayMs);
      phase = step(phase, { type: 'timer' }).phase;
    }
    const last = RETRY_DELAYS_MS.at(-1) ?? 0;
    expect(delays).toEqual([...RETRY_DELAYS_MS, last, last]);
  });

  it('reports why an attachment failed, and tries again', () => {
    const next = step(attaching(1), { type: 'attach_failed', reason: 'The folder is read-only.' });
    expect(next.phase).toMatchObject({ kind: 'waiting', reason: 'The folder is read-only.', attempt: 2 });
    expect(next.effects.at(-1)).toEqual({ type: 'set_timer', ms: RETRY_DELAYS_MS[1] });
  });

  it('abandons an attachment that hangs', () => {
    const next = step(attaching(), { type: 'timer' });
    expect(next.phase).toMatchObject({ kind: 'waiting', reason: 'The gateway did not answer within 20 seconds.' });
    expect(next.effects.map(({ type }) => type)).toEqual(['clear_timer', 'detach', 'set_timer']);
  });

  it('restarts by stopping the worker first, and attaches when it has exited', () => {
    const stopping = step(attachedPhase(3), { type: 'restart' });
    expect(stopping.phase).toEqual({ kind: 'stopping', workspace: WORKSPACE });
    expect(stopping.effects).toEqual([{ type: 'set_timer', ms: STOP_LIMIT_MS }, { type: 'stop_worker' }]);
    expect(step(stopping.phase, { type: 'closed', attachedForMs: 1 }).phase).toEqual(attaching());
  });

  it('does not wait for ever for a worker that will not stop', () => {
    const next = step({ kind: 'stopping', workspace: WORKSPACE }, { type: 'timer' });
    expect(next.phase).toEqual(attaching());
    expect(next.effects.map(({ type }) => type)).toEqual(['clear_timer', 'detach', 'set_timer', 'attach']);
  });

  it('attaches to a successor at once and resets the retry delay', () => {
    const next = step(attachedPhase(3), { type: 'replaced' });
    expect(next.phase).toEqual({ kind: 'moving', workspace: WORKSPACE, attempt: 0 });
    // The last state stays visible until the successor's first snapshot.
    expect(next.effects.map(({ type }) => type)).toEqual(['hand_over', 'set_timer', 'attach']);
    expect(step(next.phase, { type: 'attached' }).phase).toEqual(attachedPhase(0));
    expect(step(next.phase, { type: 'replaced' })).toEqual({ phase: next.phase, effects: [] });
    for (const event of [{ type: 'timer' }, { type: 'attach_failed', reason: 'It is gone.' }] as const)
      expect(step(next.phase, event).phase).toMatchObject({ kind: 'waiting', attempt: 1 });
    expect(step(waiting(5), { type: 'replaced' }).phase).toEqual(attaching());
    const untrusted: LinkPhase = { kind: 'off', reason: 'untrusted' };
    expect(step(untrusted, { type: 'replaced' })).toEqual({ phase: untrusted, effects: [] });
  });

  it('restarts at once when no worker is attached', () => {
    expect(step(waiting(5), { type: 'restart' }).phase).toEqual(attaching());
    expect(step({ kind: 'off', reason: 'untrusted' }, { type: 'restart' })).toEqual({
      phase: { kind: 'off', reason: 'untrusted' },
      effects: [],
    });
  });

  it('ignores late events', () => {
    for (const event of [
      { type: 'attached' },
      { type: 'attach_failed', reason: 'late' },
      { type: 'closed', attachedForMs: 0 },
    ] satisfies LinkEvent[]) {
      expect(step(waiting(1), event)).toEqual({ phase: waiting(1), effects: [] });
    }
  });

  it('ignores every event after its disposal', () => {
    const ended = step(attachedPhase(), { type: 'dispose' });
    expect(ended.effects).toEqual([{ type: 'clear_timer' }, { type: 'detach' }]);
    expect(step(ended.phase, target)).toEqual({ phase: { kind: 'disposed' }, effects: [] });
    expect(step(ended.phase, { type: 'timer' }).effects).toEqual([]);
  });
});
