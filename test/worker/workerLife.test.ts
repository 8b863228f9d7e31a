import { describe, expect, it } from 'vitest';
import { type Succession, WorkerLife } from '../../src/worker/process/workerLife.ts';
import { temporaryFolder } from '../support/workspace.ts';

const PREDECESSOR = { link: 1, pid: 1, socket: '/s', token: 't', version: '1', build: 'b', startedAt: 0 };

describe('the record for the next worker', () => {
  it('reports whether an editor watched to the end, since it will return', () => {
    const folder = temporaryFolder('waygate-life-');
    const begun = (succession: Succession = { kind: 'loss', of: PREDECESSOR, hangs: false }): WorkerLife => {
      const life = new WorkerLife(folder);
      life.begin(succession);
      return life;
    };
    const first = begun({ kind: 'first' });
    expect(first.watched).toBe(false);
    first.noteWatched(true);
    const second = begun();
    expect([second.watched, second.generation]).toEqual([true, 2]);
    second.noteWatched(false);
    expect(begun().watched).toBe(false);
  });
});
