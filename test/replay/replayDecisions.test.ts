import { describe, expect, it } from 'vitest';
import { completedByProbe, judgeProbe, type Probe, probeArguments } from '../../src/replay/probe.ts';
import {
  contractOf,
  type ExecutionKnowledge,
  mayRepeat,
  RESUMED_META,
  type ReplayContract,
} from '../../src/replay/replay.ts';
import { dispositionOf, type ProbeResolution, type RequestDisposition } from '../../src/replay/requestDisposition.ts';
import { toolReplay } from '../../src/replay/toolReplay.ts';

const KNOWLEDGE: ExecutionKnowledge[] = ['not_dispatched', 'in_flight', 'completed', 'outcome_unknown'];
const CONTRACTS: ReplayContract[] = ['convergent', 'probe_required', 'never_replay'];
const PROBES: (ProbeResolution | undefined)[] = [undefined, 'already_completed', 'safe_to_replay', 'unresolved'];

/** Complete table of O3.6 for an unknown outcome: [may replay, may not]. */
const AFTER_LOSS: Record<ReplayContract, Record<string, [RequestDisposition, RequestDisposition]>> = {
  convergent: { undefined: ['replay', 'reject_replay_exhausted'] },
  probe_required: {
    undefined: ['hold_for_probe', 'hold_for_probe'],
    already_completed: ['complete_from_probe', 'complete_from_probe'],
    safe_to_replay: ['replay', 'reject_replay_exhausted'],
    unresolved: ['reject_ambiguous_outcome', 'reject_ambiguous_outcome'],
  },
  never_replay: { undefined: ['reject_ambiguous_outcome', 'reject_ambiguous_outcome'] },
};
const OTHERWISE: Partial<Record<ExecutionKnowledge, RequestDisposition>> = {
  not_dispatched: 'first_dispatch',
  in_flight: 'await_terminal',
  completed: 'completed',
};

describe('the decision about a request', () => {
  const cells = KNOWLEDGE.flatMap((knowledge) =>
    CONTRACTS.flatMap((contract) =>
      PROBES.flatMap((probe) => [true, false].map((mayReplay) => ({ knowledge, contract, probe, mayReplay }))),
    ),
  );

  it.each(cells)('$knowledge, $contract, probe: $probe, may replay: $mayReplay', (cell) => {
    const { knowledge, contract, probe, mayReplay } = cell;
    const lost = AFTER_LOSS[contract][String(probe)]?.[mayReplay ? 0 : 1];
    const otherwise = probe === undefined ? OTHERWISE[knowledge] : undefined;
    const expected = knowledge === 'outcome_unknown' ? lost : otherwise;
    expect(dispositionOf(cell)).toBe(expected ?? 'reject_unexpected_probe_resolution');
  });

  it('covers every cell of the table', () => {
    expect(cells).toHaveLength(4 * 3 * 4 * 2);
  });
});

describe('the replay contract of a request', () => {
  it.each([
    'tools/list',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'resources/subscribe',
    'resources/unsubscribe',
    'prompts/list',
    'prompts/get',
    'completion/complete',
    'logging/setLevel',
    'tasks/get',
    'tasks/result',
    'tasks/cancel',
  ])('%s is convergent', (method) => {
    expect(contractOf(method)).toBe('convergent');
  });

  it.each(['tools/call', 'initialize', 'of/somebody', ''])('%j is never repeated', (method) => {
    expect(contractOf(method)).toBe('never_replay');
  });

  it('marks a repeated subscription in a way that hosts and workers of other builds know', () => {
    expect(RESUMED_META).toBe('waygate/resumed');
  });

  it('permits to repeat what was not dispatched, and what converges', () => {
    const permitted = KNOWLEDGE.flatMap((knowledge) =>
      CONTRACTS.filter((contract) => mayRepeat(contract, knowledge)).map((contract) => `${contract}, ${knowledge}`),
    );
    expect(permitted).toEqual([
      'convergent, not_dispatched',
      'probe_required, not_dispatched',
      'never_replay, not_dispatched',
      'convergent, in_flight',
      'convergent, completed',
      'convergent, outcome_unknown',
    ]);
  });
});

const PROBE: Probe = { tool: 'find', arguments: { key: { $arg: '/key' } }, effect: { at: '/id' } };

describe('the replay contract of a tool', () => {
  it('is never_replay unless the user configures another, whatever the server declares', () => {
    const hints = { readOnlyHint: true, idempotentHint: true };
    expect(toolReplay({})).toEqual({ contract: 'never_replay', source: 'default' });
    expect(toolReplay({ hints })).toEqual({ contract: 'never_replay', source: 'default' });
    expect(toolReplay({ hints, trustHints: false })).toEqual({ contract: 'never_replay', source: 'default' });
  });

  it.each([
    [{ readOnlyHint: true }, 'convergent'],
    [{ idempotentHint: true }, 'convergent'],
    [{ readOnlyHint: false, idempotentHint: false }, 'never_replay'],
    [{ readOnlyHint: 'true' }, 'never_replay'],
    [{ idempotentHint: 1 }, 'never_replay'],
    [{}, 'never_replay'],
    [undefined, 'never_replay'],
  ])('follows from the hints %j if the user trusts them: %s', (hints, contract) => {
    expect(toolReplay({ hints, trustHints: true }).contract).toBe(contract);
  });

  it('is the most specific configured one, which precedes any hint', () => {
    const hints = { readOnlyHint: true };
    const server = { contract: 'never_replay' } as const;
    expect(toolReplay({ hints, trustHints: true })).toEqual({ contract: 'convergent', source: 'hints' });
    expect(toolReplay({ server, hints, trustHints: true })).toEqual({ contract: 'never_replay', source: 'server' });
    expect(toolReplay({ tool: { contract: 'convergent' }, server })).toEqual({
      contract: 'convergent',
      source: 'tool',
    });
    // A tool that configures only a probe keeps the contract of its server.
    expect(toolReplay({ tool: { probe: PROBE }, server: { contract: 'probe_required' } })).toEqual({
      contract: 'probe_required',
      probe: PROBE,
      source: 'server',
    });
  });

  it('has a probe only if the contract requires one', () => {
    const other = { ...PROBE, tool: 'other' };
    const server = { contract: 'probe_required', probe: PROBE } as const;
    expect(toolReplay({ server }).probe).toBe(PROBE);
    expect(toolReplay({ server, tool: { probe: other } }).probe).toBe(other);
    expect(toolReplay({ server, tool: { contract: 'convergent' } })).not.toHaveProperty('probe');
    expect(toolReplay({ server: { contract: 'probe_required' } })).not.toHaveProperty('probe');
  });
});

describe('the arguments of a probe', () => {
  const withArguments = (template: Record<string, unknown>): Probe => ({ ...PROBE, arguments: template });

  it('are the configured ones, with values of the lost call', () => {
    const probe = withArguments({
      q: { $arg: '/a/0/b~1c~0d' },
      all: { $arg: '' },
      list: [{ $arg: '/n' }, 1, null],
      literal: { $arg: '/n', more: true },
      text: { $arg: 5 },
    });
    const call = { a: [{ 'b/c~d': 'x' }], n: 0 };
    expect(probeArguments(probe, call)).toEqual({
      q: 'x',
      all: call,
      list: [0, 1, null],
      literal: { $arg: '/n', more: true },
      text: { $arg: 5 },
    });
  });

  it.each(['/missing', '/n/deeper', 'n', '/__proto__', '/constructor', '/a/length/x', 'xn', '/s/length', '/z/deeper'])(
    'are missing if the call has no value at %s',
    (pointer) => {
      expect(
        probeArguments(withArguments({ q: { $arg: pointer } }), { n: 1, a: [], s: 'text', z: null }),
      ).toBeUndefined();
    },
  );

  it('distinguish an error in the configuration from a missing value', () => {
    const hostile = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: () => {
          throw new RangeError('ours');
        },
      },
    );
    expect(() => probeArguments(PROBE, hostile)).toThrow(RangeError);
  });
});

describe('the result of a probe', () => {
  const at = (effect: Probe['effect']) => (result: { isError?: unknown; structuredContent?: unknown }) =>
    judgeProbe({ ...PROBE, effect }, result);
  const present = at({ at: '/id' });
  const paid = at({ at: '/order/state', equals: 'paid' });

  it('shows the effect or its absence', () => {
    expect(present({ structuredContent: { id: 0 } })).toBe('already_completed');
    expect(present({ structuredContent: { id: '' } })).toBe('already_completed');
    expect(present({ structuredContent: {} })).toBe('safe_to_replay');
    expect(present({ structuredContent: { id: null } })).toBe('safe_to_replay');
    expect(present({ structuredContent: { id: false } })).toBe('safe_to_replay');
    expect(paid({ structuredContent: { order: { state: 'paid' } } })).toBe('already_completed');
    expect(paid({ structuredContent: { order: { state: 'open' } } })).toBe('safe_to_replay');
    expect(present({ isError: false, structuredContent: { id: 1 } })).toBe('already_completed');
  });

  it('without an answer proves nothing', () => {
    expect(present({ isError: true, structuredContent: {} })).toBe('unresolved');
    expect(present({})).toBe('unresolved');
    expect(present({ structuredContent: null })).toBe('unresolved');
    expect(present({ structuredContent: 'text' })).toBe('unresolved');
    expect(paid({ structuredContent: { order: {} } })).toBe('unresolved');
    expect(paid({ structuredContent: {} })).toBe('unresolved');
  });
});

describe('a call that a probe completes', () => {
  it('has a result that forbids another call', () => {
    expect(completedByProbe('put', PROBE)).toEqual({
      content: [
        {
          type: 'text',
          text: 'The server was lost during this call, but find shows that the call has taken effect. The answer of put itself is lost; do not repeat the call.',
        },
      ],
      _meta: { 'waygate/outcome': 'completed_by_probe' },
    });
  });
});
