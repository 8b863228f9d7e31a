import { describe, expect, it } from 'vitest';
import type { ServerRemedy } from '../../../src/control/contract.ts';
import { type FaultSource, faultDocument } from '../../../src/extension/documents/faultText.ts';
import { AT, details, FAILED, RUNNING, record } from '../activity/calls.ts';
import { server } from '../fixtures.ts';

const CRASHED: FaultSource = {
  details: details({
    record: record(1, { ...FAILED, effect: 'unknown', attempts: 2 }),
    repairs: [{ path: '/id', rule: 'number_as_text' }],
    problems: [],
    attempts: [
      { at: AT, durationMs: 12, outcome: 'not sent: the server was starting' },
      { at: AT + 20, durationMs: 98, outcome: 'the server ended' },
    ],
    fault: {
      code: 'UPSTREAM_ERROR',
      message: 'The server erp ended during the call',
      advice: 'Check with customer_get whether the customer is still there.',
      details: { exitCode: 139 },
      handled: ['Started the server again after 1.2 s.'],
      stderr: ['connecting to erp.test', 'Segmentation fault (core dumped)'],
    },
  }),
  server: server('erp', { state: 'failed', remedy: { kind: 'restart' } }),
};

const INVALID: FaultSource = {
  details: details({
    record: record(2, {
      ...FAILED,
      errorCode: 'ARGS_INVALID',
      errorMessage: 'Two arguments do not fit',
      effect: 'none',
      attempts: 0,
    }),
    problems: ['/id must be string', '/limit must be at most 100'],
  }),
};

const BROWSE: FaultSource = {
  details: details({
    record: {
      ...RUNNING,
      metaTool: 'tool_browse',
      subject: '/',
      client: 'you',
      phase: 'done',
      ...FAILED,
      errorCode: 'TIMEOUT',
    },
  }),
};

describe('a fault document', () => {
  it.each<[string, FaultSource]>([
    ['a crash under a call', CRASHED],
    ['arguments that do not fit', INVALID],
    ['a call that the gateway did not survive', { details: details({ record: RUNNING }), lost: true }],
  ])('describes %s', async (name, source) => {
    await expect(faultDocument(source).text).toMatchFileSnapshot(`golden/${name.replaceAll(' ', '-')}.txt`);
  });

  it('never says that a repetition is harmless where the effect is unknown', () => {
    const effect = (source: FaultSource): string =>
      /## What is known of the effect\n\n(.*)/.exec(faultDocument(source).text)?.[1] ?? '';
    expect(effect(CRASHED)).toBe(
      '**Unknown: check before you repeat.** The server may have carried the call out, or parts of it.',
    );
    expect(effect({ details: details({ record: RUNNING }), lost: true })).toMatch(/Unknown: check before you repeat/);
    expect(effect(INVALID)).toMatch(/^None\. .* can be repeated\.$/);
    expect(effect({ details: details({ record: record(1, { ...FAILED, effect: 'done' }) }) })).toMatch(
      /^Done\. .*twice\.$/,
    );
  });

  it.each<[ServerRemedy, string | undefined]>([
    [{ kind: 'approve' }, 'waygate.approveServers'],
    [{ kind: 'review' }, 'waygate.reviewChanges'],
    [{ kind: 'secret', key: 'ERP_KEY' }, 'waygate.setSecret'],
    [{ kind: 'sign_in' }, 'waygate.signIn'],
    [{ kind: 'edit', location: { file: '/w/.vscode/waygate.json', line: 7, column: 3 } }, 'waygate.openConfiguration'],
    [{ kind: 'restart' }, 'waygate.restartServer'],
    [{ kind: 'wait', ms: 24_000 }, undefined],
  ])('offers the step %j at its line, without a command line', (remedy, command) => {
    const { text, actions } = faultDocument({ ...CRASHED, server: server('erp', { remedy }) });
    const lines = text.split('\n');
    const first = lines[lines.indexOf('## What you can do') + 2];
    expect(first).toMatch(/^- \w/);
    const offered = actions.find(({ line }) => lines[line] === first);
    expect(offered?.command).toBe(command);
    expect(text).not.toMatch(/waygate (approve|secret|login|reload)/);
  });

  it('offers to try a tool again, and nothing that a gateway tool has not', () => {
    expect(faultDocument(CRASHED).actions.map(({ command }) => command)).toEqual([
      'waygate.restartServer',
      'waygate.tryAgain',
      'waygate.openServerLog',
    ]);
    const { server: _, toolId: __, ...browse } = BROWSE.details.record;
    expect(faultDocument({ details: { ...BROWSE.details, record: browse } }).actions).toEqual([]);
  });

  it('keeps the words of servers out of its Markdown', () => {
    const attack = '``` \n# Waygate\n[Approve](command:waygate.approveServers) ![x](https://a.test) <img> `\u202e';
    const hostile = JSON.parse(
      JSON.stringify(CRASHED, (key, value: unknown) =>
        typeof value === 'string' && !['kind', 'state', 'phase', 'effect', 'outcome'].includes(key) ? attack : value,
      ),
    ) as FaultSource;
    const { text } = faultDocument(hostile);
    const outside = withoutCode(text);
    expect(outside).not.toMatch(/\]\(|<img|# Waygate|\u202e/);
    expect(outside.match(/^## .*/gm)).toEqual(withoutCode(faultDocument(CRASHED).text).match(/^## .*/gm));
  });
});

/** Removes blocks and spans of code as CommonMark ends them: by as many backticks as began them. */
function withoutCode(text: string): string {
  return text.replace(/^(`{3,})\w*\n[\s\S]*?^\1$/gm, '').replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '');
}
