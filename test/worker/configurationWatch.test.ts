import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigurationWatch } from '../../src/worker/configuration/configurationWatch.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

let watch: ConfigurationWatch | undefined;
afterEach(() => watch?.stop());

/** A watch over what is written and what is in force; rollouts end when the test says so. */
function watched(paces: { restMs?: number } = {}) {
  const file = join(temporaryFolder('waygate-watch-'), 'waygate.json');
  const state = { written: 'a', inForce: 'a', started: [] as string[], refused: [] as string[] };
  const open: { resolve(): void; reject(error: Error): void }[] = [];
  watch = new ConfigurationWatch({
    files: [file],
    look: () => state.written !== state.inForce,
    onLooked: () => undefined,
    rollOut: () => {
      state.started.push(state.written);
      return new Promise<void>((resolve, reject) => open.push({ resolve, reject }));
    },
    onRefused: (reason) => state.refused.push(reason),
    paces: { pollMs: 10, quietMs: 1, restMs: 0, ...paces },
  });
  const write = (text: string): void => {
    state.written = text;
    writeFileSync(file, text);
  };
  return { watch, state, open, write };
}

describe('the watch over a configuration', () => {
  it('looks when a file changes, and begins one rollout', async () => {
    const { watch, state, write } = watched();
    watch.start(false);
    write('b');
    await until('the rollout', () => state.started.length > 0);
    expect(state.started).toEqual(['b']);
  });

  it('begins none where what is written says the same', async () => {
    const { watch, state } = watched();
    await watch.look();
    expect(state.started).toEqual([]);
  });

  it('begins one more where something else was written meanwhile, however often', async () => {
    const { watch, state, open } = watched();
    state.written = 'b';
    const first = watch.look();
    await until('the rollout', () => state.started.length === 1);
    const later = ['c', 'd', 'e'].map((text) => {
      state.written = text;
      return watch.look();
    });
    open[0]?.reject(new Error('too late'));
    await first;
    await until('the next', () => state.started.length === 2);
    state.inForce = 'e';
    open[1]?.resolve();
    await Promise.all(later);
    expect(state.started).toEqual(['b', 'e']);
    expect(state.refused).toEqual(['too late']);
  });

  it('begins none where what was written is taken back before it is its turn', async () => {
    const { watch, state } = watched({ restMs: 50 });
    watch.start(true);
    state.written = 'b';
    const looked = watch.look();
    state.written = 'a';
    await looked;
    expect(state.started).toEqual([]);
  });

  it('says why one has failed, and begins another with the next look alone', async () => {
    const { watch, state, open } = watched();
    state.written = 'b';
    const first = watch.look();
    await until('the rollout', () => open.length === 1);
    open[0]?.reject(new Error('it ended'));
    await first;
    expect(state.refused).toEqual(['it ended']);
    expect(state.started).toEqual(['b']);
    void watch.look();
    await until('another', () => open.length === 2);
  });

  it('does nothing any more once it has stopped', async () => {
    const { watch, state, open, write } = watched();
    watch.start(false);
    state.written = 'b';
    const first = watch.look();
    await until('the rollout', () => open.length === 1);
    watch.stop();
    write('c');
    const second = watch.look();
    open[0]?.reject(new Error('it is over'));
    await Promise.all([first, second]);
    expect(state).toMatchObject({ started: ['b'], refused: [] });
  });
});
