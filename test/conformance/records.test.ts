import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { firstFailure, type Observed } from './records/expectations.ts';
import { isRecordCases, type RecordCaseFile, runRecordCases } from './records/recordCases.ts';

const file = JSON.parse(readFileSync('test/fixtures/conformance/records.json', 'utf8')) as RecordCaseFile;

describe('the conformance cases of the record surface', () => {
  it.each(file.adapter_cases.map(({ id }) => id))('%s', async (id) => {
    const cases = file.adapter_cases.filter((one) => one.id === id);
    expect(await runRecordCases({ ...file, adapter_cases: cases })).toEqual([
      { id, group: 'records', outcome: 'passed', why: '' },
    ]);
  });

  it('are all there', () => {
    expect(file.adapter_cases).toHaveLength(112);
    expect(isRecordCases(file)).toBe(true);
    expect(isRecordCases({ groups: {} })).toBe(false);
  });
});

describe('the runner of record cases', () => {
  const observed: Observed = {
    result: { isError: true, content: [{ type: 'text', text: 'abc' }], structuredContent: { error: { code: 'x' } } },
    seen: [{ path: '/v1/schema', query: { fields: ['a', 'b'] }, headers: { authorization: 'Bearer t' } }],
  };

  it.each([
    [{ is_error: false }, 'is_error'],
    [{ error_code: 'y' }, 'error_code'],
    [{ text_contains: ['d'] }, 'text_contains'],
    [{ text_max_bytes: 2 }, 'text_max_bytes'],
    [{ rs_call_count: 0 }, 'rs_call_count'],
    [{ rs_calls: [{ path: '/v1/schema', query: {} }] }, 'rs_calls'],
    [{ rs_headers: { authorization: 'Bearer u' } }, 'rs_headers'],
    [{ structured: [['/error/code', 'absent']] }, 'structured'],
    [{ structured: [['/error', 'keys', ['message']]] }, 'structured'],
    [{ structured: [['/error', 'unheard_of', 1]] }, 'structured'],
    [{ unheard_of: true }, 'unheard_of'],
  ] as [Record<string, unknown>, string][])('fails %j', (expectation, name) => {
    expect(firstFailure(expectation, observed)).toMatch(new RegExp(`^${name}: `));
  });

  it('passes what holds, and takes fields as a list or with commas', () => {
    const calls = [{ path: '/v1/schema', query: { fields: ['a,b'] } }];
    const structured = [
      ['/error/code', 'equals', 'x'],
      ['/error', 'keys', ['code']],
      ['/none', 'absent'],
    ];
    expect(firstFailure({ is_error: true, rs_calls: calls, structured, text_not_contains: ['d'] }, observed)).toBe(
      undefined,
    );
  });
});
