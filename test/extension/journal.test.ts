import { describe, expect, it } from 'vitest';
import { journal } from '../../src/extension/status/journal.ts';
import { attached, server, snapshot } from './fixtures.ts';

const FAILED = server('tickets', {
  state: 'failed',
  reason: 'It ended with code 3',
  stderr: ['Error: no\u001b[31m token'],
});
const PROBLEM = {
  severity: 'error' as const,
  code: 'wrong_value' as const,
  message: 'A comma is missing',
  location: { file: '/w/.vscode/waygate.json', line: 2, column: 9 },
};

describe('log', () => {
  it('lists the worker, each server and each problem with the first snapshot', () => {
    const configuration = { ...snapshot().configuration, problems: [PROBLEM] };
    expect(journal({ kind: 'attaching' }, attached({ servers: [server('files'), FAILED], configuration }))).toEqual([
      { level: 'info', text: 'Attached to gateway 0.1.0+1 (pid 42) of /work/project.' },
      { level: 'info', text: 'Server files: ready.' },
      { level: 'warn', text: 'Server tickets: failed. It ended with code 3.' },
      { level: 'warn', text: '  Error: no [31m token' },
      { level: 'error', text: '/w/.vscode/waygate.json:2:9 A comma is missing.' },
    ]);
  });

  it('names the step of the user', () => {
    const mail = server('mail', { state: 'needs_sign_in', remedy: { kind: 'sign_in' } });
    const [line] = journal(attached({ servers: [] }), attached({ servers: [mail] }));
    expect(line).toEqual({ level: 'warn', text: 'Server mail: needs sign-in. Sign in to it in the browser.' });
  });

  it('logs each change once, however many snapshots arrive', () => {
    const before = attached({ servers: [server('files'), FAILED] });
    expect(journal(before, attached({ servers: [server('files'), FAILED] }))).toEqual([]);
    expect(journal(before, attached({ servers: [server('files'), server('tickets')] }))).toEqual([
      { level: 'info', text: 'Server tickets: ready.' },
    ]);
  });

  it('starts again with another worker', () => {
    expect(journal(attached({}, 1), attached({}, 2)).map(({ text }) => text)).toEqual([
      'Attached to gateway 0.1.0+1 (pid 42) of /work/project.',
      'Server files: ready.',
      'Server memory: ready.',
    ]);
  });

  it('logs why the gateway exited and when the next attempt is', () => {
    expect(
      journal(attached(), { kind: 'waiting', attempt: 1, reason: 'The gateway has ended.', delayMs: 500 }),
    ).toEqual([{ level: 'warn', text: 'The gateway has ended. Trying again in 0.5 s.' }]);
    expect(journal(attached(), { kind: 'off', reason: 'untrusted' })).toEqual([
      { level: 'info', text: 'Waygate starts no servers until you trust this workspace.' },
    ]);
  });
});
