import { describe, expect, it } from 'vitest';
import { type Effect, type HistoryEvent, type Reply, violationsOf } from './historyChecker.ts';

const invoke = (id: number, contract: 'convergent' | 'never_replay' = 'never_replay'): HistoryEvent => ({
  event: 'invoke',
  id,
  nonce: `n${id}`,
  contract,
});
const reply = (id: number, outcome: Reply['outcome'], nonce = `n${id}`): HistoryEvent => ({
  event: 'reply',
  id,
  outcome,
  nonce,
});
const cancel = (id: number): HistoryEvent => ({ event: 'cancel', id });
const effect = (id: number, attempt = 1): Effect => ({ nonce: `n${id}`, attempt, pid: 1 });

describe('a history', () => {
  it.each<[string, HistoryEvent[], Effect[]]>([
    ['nothing', [], []],
    ['a call that was done', [invoke(1), reply(1, 'ok')], [effect(1)]],
    ['answers in another order', [invoke(1), invoke(2), reply(2, 'ok'), reply(1, 'ok')], [effect(1), effect(2)]],
    ['a repeated call that may be repeated', [invoke(1, 'convergent'), reply(1, 'ok')], [effect(1), effect(1, 2)]],
    ['an unknown outcome that had an effect', [invoke(1), reply(1, 'unknown')], [effect(1)]],
    ['an unknown outcome that had none', [invoke(1), reply(1, 'unknown')], []],
    ['a call that was not sent', [invoke(1), reply(1, 'not_dispatched')], []],
    ['a call that was refused', [invoke(1), reply(1, 'failed')], []],
    ['a cancelled call, with and without effect', [invoke(1), invoke(2), cancel(1), cancel(2)], [effect(1)]],
    ['a cancellation that came too late', [invoke(1), reply(1, 'ok'), cancel(1)], [effect(1)]],
  ])('of %s is correct', (_what, history, effects) => {
    expect(violationsOf(history, effects)).toEqual([]);
  });

  it.each<[string, HistoryEvent[], Effect[], RegExp]>([
    ['a call without an answer', [invoke(1)], [], /^id 1 \(n1\) was never answered$/],
    ['two answers', [invoke(1), reply(1, 'ok'), reply(1, 'ok')], [effect(1)], /answered 2 times/],
    ['the answer to another call', [invoke(1), reply(1, 'ok', 'n2')], [effect(1)], /answered with n2 instead of n1/],
    ['an answer to nothing', [reply(7, 'ok')], [], /never invoked/],
    ['an id that is used twice', [invoke(1), invoke(1), reply(1, 'ok')], [effect(1)], /invoked twice/],
    ['a convergent call that was lost', [invoke(1, 'convergent'), reply(1, 'unknown')], [], /was lost \(unknown\)/],
    ['a convergent call not sent', [invoke(1, 'convergent'), reply(1, 'not_dispatched')], [], /was lost/],
    ['a repeated effect', [invoke(1), reply(1, 'ok')], [effect(1), effect(1, 2)], /ran 2 times/],
    [
      'a repeated effect of an unknown outcome',
      [invoke(1), reply(1, 'unknown')],
      [effect(1), effect(1)],
      /ran 2 times/,
    ],
    [
      'an effect of a call that was not sent',
      [invoke(1), reply(1, 'not_dispatched')],
      [effect(1)],
      /reported as not sent and ran/,
    ],
    ['an effect behind a plain failure', [invoke(1), reply(1, 'failed')], [effect(1)], /not reported as unknown/],
    ['success without an effect', [invoke(1), reply(1, 'ok')], [], /reported as done and never ran/],
    [
      'an answer after a cancellation',
      [invoke(1), cancel(1), reply(1, 'ok')],
      [effect(1)],
      /after it had been cancelled/,
    ],
    ['an unrequested effect', [], [effect(3)], /n3, which nobody asked for/],
  ])('with %s has a violation', (_what, history, effects, violation) => {
    expect(violationsOf(history, effects)).toEqual([expect.stringMatching(violation)]);
  });
});
