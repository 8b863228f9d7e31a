import { describe, expect, it } from 'vitest';
import { approvalText, pendingApprovals } from '../../src/extension/approvalText.ts';
import { server, snapshot } from './fixtures.ts';

describe('what the editor asks to approve', () => {
  const long = `runs node ${'x'.repeat(5_000)}`;
  const waiting = server('ten', { state: 'needs_approval', approval: { hash: 'h', lines: [long, 'in /work'] } });

  it('is what waits, and nothing that runs', () => {
    expect(pendingApprovals(snapshot({ servers: [server('files'), waiting] }))).toEqual([
      { name: 'ten', hash: 'h', lines: [long, 'in /work'] },
    ]);
  });

  it('is shown whole', () => {
    const text = approvalText(pendingApprovals(snapshot({ servers: [waiting] })));
    expect(text).toContain(`"ten"\n  ${long}\n  in /work\n`);
  });
});
