import { describe, expect, it } from 'vitest';
import { approvalDocument, pendingApprovals } from '../../src/extension/approvals/approvalText.ts';
import { server, snapshot } from './fixtures.ts';

describe('approval document', () => {
  const long = `runs node ${'x'.repeat(5_000)}`;
  const waiting = server('ten', { state: 'needs_approval', approval: { hash: 'h', lines: [long, 'in /work'] } });

  it('contains the waiting servers, and no running server', () => {
    expect(pendingApprovals(snapshot({ servers: [server('files'), waiting] }))).toEqual([
      { name: 'ten', hash: 'h', lines: [long, 'in /work'] },
    ]);
  });

  it('shows the full commands, each with its button below', () => {
    const [pending] = pendingApprovals(snapshot({ servers: [waiting] }));
    const { text, offers } = approvalDocument(pending ? [pending] : []);
    expect(text).toContain(`"ten"\n  ${long}\n  in /work\n`);
    const lines = text.split('\n');
    expect(offers).toEqual([
      { action: 'approve', line: lines.indexOf('  in /work') + 1, title: 'Approve "ten"', names: ['ten'] },
    ]);
    expect(lines[offers[0]?.line ?? -1]).toBe('');
  });

  it('has the button for all servers below all commands', () => {
    const pending = ['one', 'two'].map((name) => ({ name, hash: name, lines: [`runs ${name}`] }));
    const { text, offers } = approvalDocument(pending);
    expect(offers.map(({ title, names }) => [title, names])).toEqual([
      ['Approve "one"', ['one']],
      ['Approve "two"', ['two']],
      ['Approve all 2 servers', ['one', 'two']],
    ]);
    const [, two, all] = offers.map(({ line }) => line);
    expect(text.split('\n').indexOf('  runs two')).toBeLessThan(two as number);
    expect(two).toBeLessThan(all as number);
  });

  it('has the button for all servers at the top too if there are more than three', () => {
    const pending = ['one', 'two', 'three', 'everything'].map((name) => ({
      name,
      hash: name,
      lines: [`runs ${name}`],
    }));
    const { text, offers } = approvalDocument(pending);
    const all = offers.filter(({ title }) => title === 'Approve all 4 servers');
    expect(all.map(({ names }) => names.length)).toEqual([4, 4]);
    expect(all[0]?.line).toBeLessThan(text.split('\n').indexOf('"one"'));
    // The name cannot be read as all servers.
    expect(offers.map(({ title }) => title)).toContain('Approve "everything"');
  });

  it('compares a changed server with its approved launch', () => {
    const change = { before: ['runs a'], now: ['runs b'] };
    const changed = server('one', {
      state: 'needs_approval',
      approval: { hash: 'h', lines: ['- runs a', '+ runs b'], change },
    });
    const pending = pendingApprovals(snapshot({ servers: [changed] }));
    expect(pending[0]?.change).toEqual(change);
    expect(approvalDocument(pending).offers.map(({ action, title, names }) => [action, title, names])).toEqual([
      ['approve', 'Approve "one"', ['one']],
      ['compare', 'Show what changed', ['one']],
    ]);
  });
});
