import { describe, expect, it } from 'vitest';
import type { ServerStatus } from '../../../src/control/contract.ts';
import { chosenFilter, filterChoices, filterMessage, matches } from '../../../src/extension/activity/callFilter.ts';
import { callRow, callTooltip, groupRow, mainPart, partRows } from '../../../src/extension/activity/callRows.ts';
import { server } from '../fixtures.ts';
import { AT, call, FAILED, RUNNING, TOOL } from './calls.ts';

describe('the row of a call', () => {
  it('has the tool, the server, the time and the tokens', () => {
    expect(callRow(call(), AT)).toEqual({
      id: 'call:42:1',
      label: 'customer_delete',
      description: 'erp · 118 ms · 3.1k → 412 tokens',
      icon: { id: 'pass', color: 'charts.green' },
      contextValue: 'waygate.call.ok.tool',
      accessibilityLabel: 'customer_delete, erp, ok, 118 milliseconds',
    });
  });

  it('of a failed call has the code, and says it to a screen reader', () => {
    expect(callRow(call(FAILED), AT)).toMatchObject({
      description: 'erp · UPSTREAM_ERROR · 118 ms · 3.1k → 412 tokens',
      icon: { id: 'error' },
      contextValue: 'waygate.call.failed.tool',
      accessibilityLabel: 'customer_delete, erp, failed, UPSTREAM_ERROR, 118 milliseconds',
    });
  });

  it('warns where the effect is unknown', () => {
    expect(callRow(call({ ...FAILED, effect: 'unknown' }), AT).icon.id).toBe('warning');
  });

  it('of a running call counts its seconds from the last report', () => {
    const running = call({ ...RUNNING, durationMs: 900, seenAt: AT });
    const { outcome: _, tokensIn: __, tokensOut: ___, ...unfinished } = running;
    expect(callRow(unfinished, AT + 2_300)).toMatchObject({
      description: 'erp · running · 3 s',
      icon: { id: 'sync~spin' },
      contextValue: 'waygate.call.running.tool',
    });
    expect(callRow({ ...unfinished, phase: 'waiting' }, AT)).toMatchObject({
      description: 'erp · waits for you · 0 s',
      icon: { id: 'question' },
    });
    expect(callRow({ ...unfinished, lost: true }, AT + 60_000)).toMatchObject({
      description: 'erp · lost',
      contextValue: 'waygate.call.lost.tool',
    });
  });

  it('rounds the time', () => {
    expect(callRow(call({ durationMs: 0.0877 }), AT).description).toMatch(/· 0\.1 ms ·/);
    expect(callRow(call({ durationMs: 1_204.4 }), AT).description).toMatch(/· 1\.2 s ·/);
  });

  it('of a gateway tool has its subject', () => {
    const { toolId: _, server: __, ...browse } = call({ metaTool: 'tool_browse', subject: 'delete a customer' });
    expect(callRow(browse, AT)).toMatchObject({
      label: 'tool_browse',
      description: 'delete a customer · 118 ms · 3.1k → 412 tokens',
      contextValue: 'waygate.call.ok.browse',
    });
  });

  it('cannot be disguised by names of servers and clients', () => {
    const row = callRow(call({ server: '$(verified)\u202e\nerp', toolId: 'erp:[x](command:y)#1a2b3c4d' }), AT);
    expect(`${row.label} ${row.description}`).not.toMatch(/\$\(|\]\(|\u202e|\n/);
  });

  it('opens the fault of a failed or lost call, else the answer, else the request', () => {
    expect(mainPart(call())).toBe('answer.txt');
    expect(mainPart(call(FAILED))).toBe('fault.md');
    expect(mainPart(call({ ...RUNNING, lost: true }))).toBe('fault.md');
    const { outcome: _, ...running } = call({ ...RUNNING });
    expect(mainPart(running)).toBe('request.json');
    expect(partRows(call(FAILED)).map(({ label }) => label)).toEqual([
      'Request',
      'Answer as the model saw it',
      'Fault',
      'Attempts',
    ]);
    expect(partRows(running).map(({ label }) => label)).toEqual(['Request']);
  });

  it('says once under the pointer what to do after a failure', () => {
    const textsOf = (over: Parameters<typeof call>[0], server?: ServerStatus) =>
      callTooltip(call(over), { server }).map(({ text }) => text);
    const unknown = 'The server erp ended. It may have taken effect: check before you repeat it.';
    expect(textsOf({ ...FAILED, effect: 'unknown', errorMessage: unknown })).toEqual([
      'customer_delete: UPSTREAM_ERROR',
      TOOL,
      unknown,
    ]);
    expect(textsOf({ ...FAILED, effect: 'none' }).at(-1)).toBe('Look at the arguments, and try the tool by hand.');
    const locked = server('erp', { state: 'needs_approval', remedy: { kind: 'approve' } });
    expect(textsOf({ ...FAILED, effect: 'none' }, locked).at(-1)).toBe(
      'Approve the command of the server; until then it does not start.',
    );
    expect(textsOf({ ...RUNNING, lost: true }).slice(2)).toEqual([
      'The gateway ended during the call, so its end is unknown.',
      'Check at the server whether the call took effect. Repeat it only if it did not.',
    ]);
    expect(textsOf({ ...FAILED, errorCode: 'CANCELLED', effect: 'none' })).toHaveLength(3);
    expect(textsOf({})).toHaveLength(2);
  });

  it('has the beginning of its request under the pointer', () => {
    const textsOf = (request: string) => callTooltip(call(), { request }).map(({ text }) => text);
    expect(textsOf('{"id":7,"note":"a\u202eb"}')).toEqual([
      'customer_delete: ok',
      TOOL,
      expect.stringMatching(/^\{"id":7,"note":"a[^\u202e]*b"\}$/),
    ]);
    expect(textsOf(`{"body":"${'x'.repeat(9_000)}"}`)[2]?.length).toBeLessThanOrEqual(81);
    expect(textsOf('{}')).toHaveLength(2);
  });

  it('stands under its client and the time of its first call', () => {
    const group = { key: 'g', client: 'claude-code', at: AT, calls: [call(), call({ id: 2 })] };
    expect(groupRow(group, () => '12:01')).toMatchObject({
      label: 'claude-code · 12:01',
      description: '2 calls',
      accessibilityLabel: 'claude-code, since 12:01, 2 calls',
    });
    expect(groupRow(group, () => '12:01', 'api').description).toBe('2 calls · api');
    expect(groupRow({ ...group, client: 'you' }, () => '12:01').label).toBe('You · 12:01');
  });
});

describe('the filter of calls', () => {
  const calls = [call(), call({ id: 2, ...FAILED }), call({ id: 3, server: 'mail', toolId: 'mail:send#1a2b3c4d' })];

  it('offers each server, tool, outcome and client with its number of calls', () => {
    expect(
      filterChoices(calls, { outcome: ['failed'] }).map(({ label, description, picked }) => [
        label,
        description,
        picked,
      ]),
    ).toEqual([
      ['erp', 'server · 2 calls', false],
      ['mail', 'server · 1 call', false],
      ['customer_delete', 'tool · 2 calls', false],
      ['send', 'tool · 1 call', false],
      ['failed', 'outcome · 1 call', true],
      ['ok', 'outcome · 2 calls', false],
      ['claude-code', 'client · 3 calls', false],
    ]);
  });

  it('keeps calls that fit one value of each dimension', () => {
    const choices = filterChoices(calls, {}).filter(({ value }) => ['erp', 'mail', 'ok'].includes(value));
    const filter = chosenFilter(choices);
    expect(calls.filter((one) => matches(filter, one)).map(({ id }) => id)).toEqual([1, 3]);
    expect(filterMessage(filter, 2, 3)).toBe('2 of 3 calls: server erp or mail, outcome ok');
    expect(calls.every((one) => matches({}, one))).toBe(true);
    expect(filterMessage({}, 3, 3)).toBeUndefined();
  });
});
