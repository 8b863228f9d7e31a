import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/control/activityContract.ts';
import type { ToolDetails } from '../../src/control/toolContract.ts';
import { argumentsOf, outcomeOf, pastCalls, triedTool, verdictOf } from '../../src/extension/try/verdict.ts';

const record = (more: Partial<CallRecord> = {}): CallRecord => ({
  id: 1,
  at: 5,
  session: 'you',
  client: 'you',
  metaTool: 'tool_execute',
  subject: 'one:echo#00000000',
  phase: 'done',
  durationMs: 118,
  outcome: 'ok',
  attempts: 1,
  effect: 'done',
  handles: [],
  ...more,
});
const answer = (structuredContent: object, isError = false) => ({
  content: [{ type: 'text', text: 'words' }],
  structuredContent,
  ...(isError && { isError }),
});
const report = (more: object) =>
  answer({ dry_run: true, checks: [], server: { name: 'one', state: 'ready' }, ...more });

describe('the verdict of a dry run', () => {
  it('is valid, with what the user should know before the call', () => {
    expect(verdictOf(report({}))).toEqual({ kind: 'valid', notes: ['Arguments are valid'] });
    const more = {
      checks: [
        { name: 'schema_validation', status: 'skipped', reason: 'its schema is too large' },
        { name: 'policy', status: 'AUTH_REQUIRED' },
      ],
      arg_repairs: [{ path: '$.n', rule: 'str_to_integer' }],
      policy: { action: 'require_approval', rule_index: 0 },
      server: { name: 'one', state: 'not_started' },
      expected: { duration_ms: { median: 117.6 } },
    };
    expect(verdictOf(report(more))).toEqual({
      kind: 'valid',
      notes: [
        'Not checked: its schema is too large',
        '$.n would be repaired by str_to_integer',
        'asks you first',
        'server: asleep',
        'usually 118 ms',
      ],
    });
  });

  it('names the state of the server as the tree does', () => {
    const notesIn = (state: string) => {
      const verdict = verdictOf(report({ server: { name: 'one', state } }));
      return verdict.kind === 'valid' ? verdict.notes : [];
    };
    expect(notesIn('failed')).toEqual(['Arguments are valid', 'server: failed']);
    expect(notesIn('needs_sign_in')).toEqual(['Arguments are valid', 'server: needs sign-in']);
    expect(notesIn('half_open')).toEqual(['Arguments are valid', 'server: half open']);
    expect(notesIn('ready')).toEqual(['Arguments are valid']);
  });

  it('is refused by a rule, by a limit or by an error that is not about arguments', () => {
    const denied = { checks: [{ name: 'policy', status: 'POLICY_DENIED', reason: 'rule 2' }] };
    expect(verdictOf(report(denied))).toEqual({ kind: 'refused', reason: 'Would not be sent (policy: rule 2)' });
    const limited = {
      checks: [{ name: 'rate_limit', status: 'fail' }],
      policy: { action: 'require_approval', remembered: true },
    };
    expect(verdictOf(report(limited))).toEqual({ kind: 'refused', reason: 'Would not be sent (rate_limit)' });
    const gone = { error: 'HYDRATE_FAILED', message: 'There is no\ntool.' };
    expect(verdictOf(answer(gone, true))).toEqual({ kind: 'refused', reason: 'There is no tool.' });
    expect(verdictOf({ content: [{ type: 'text', text: 'broken' }] })).toEqual({ kind: 'refused', reason: 'broken' });
  });

  it('is invalid, with the place of each problem where it is known', () => {
    const details = { problems: ['a must be x', 'b is missing'], places: [['a', 0]], more_problems: 3 };
    expect(verdictOf(answer({ error: 'ARGS_INVALID', message: 'No.', details }, true))).toEqual({
      kind: 'invalid',
      problems: [
        { path: ['a', '0'], message: 'a must be x' },
        { path: [], message: 'b is missing' },
      ],
      more: 3,
    });
  });
});

describe('a run', () => {
  it('ends with the answer and the figures of its call', () => {
    const content = [{ type: 'text', text: 'one' }, { type: 'image' }];
    expect(outcomeOf({ content }, 9, undefined)).toEqual({
      isError: false,
      answer: ['one', '[image]'],
      figures: { durationMs: 9, handles: [] },
    });
    const counted = record({ tokensIn: 3_000, tokensOut: 40, handles: ['artifact:1'] });
    expect(outcomeOf({ content: [], isError: true }, 9, counted)).toEqual({
      isError: true,
      answer: [],
      figures: { durationMs: 118, handles: ['artifact:1'], tokens: { came: 3_000, shown: 40 } },
    });
  });

  it('shows earlier calls that ended', () => {
    const calls = [
      record({ id: 3, phase: 'running' }),
      record({ id: 2, session: 's1', client: 'claude-code', outcome: 'error' }),
      record({ metaTool: 'tool_view' }),
      record(),
    ];
    expect(pastCalls(calls)).toEqual([
      { id: 2, at: 5, client: 'claude-code', isError: true, durationMs: 118 },
      { id: 1, at: 5, client: 'you', isError: false, durationMs: 118 },
    ]);
  });

  it('takes the arguments of a call with or without the tool id around them', () => {
    expect(argumentsOf({ tool_id: 'one:echo#0', args: { a: 1 } })).toBe('{"a":1}');
    expect(argumentsOf({ tool_id: 'one:echo#0', arguments: { a: 1 } })).toBe('{"a":1}');
    expect(argumentsOf({ tool_id: 'one:echo#0' })).toBe('{}');
    expect(argumentsOf({ a: 1 })).toBe('{"a":1}');
    for (const kept of [undefined, null, 'x', [1], { tool_id: 'x', args: 'y' }])
      expect(argumentsOf(kept)).toBeUndefined();
  });
});

describe('a tried tool', () => {
  it('has the schema of its definition, or one that takes anything', () => {
    const details = { toolId: 'a', name: 'b', description: 'c', server: 'd', safety: '' } as ToolDetails;
    const schemaOf = (definition: unknown) => triedTool('waygate', { ...details, definition }).schema;
    expect(schemaOf({ inputSchema: { type: 'object' } })).toEqual({ type: 'object' });
    for (const definition of [undefined, null, 'x', {}, []]) expect(schemaOf(definition)).toEqual({});
  });
});
