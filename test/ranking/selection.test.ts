import { describe, expect, test } from 'vitest';
import { validateSelection } from '../../src/ranking/selection.ts';
import { SelectionError, selectionSchema } from '../conformance/reference/selectionSchema.ts';

const ISSUE = 'github:create_issue@1#a1b2c3d4';
const LIST = 'github:list_issues@1#deadbeef';
const OFFERED = [ISSUE, LIST];

describe('schema of the candidates (G12.1)', () => {
  const schema = {
    type: 'object',
    properties: { tool_id: { type: 'string', enum: OFFERED } },
    required: ['tool_id'],
    additionalProperties: false,
  };

  test('is available as JSON Schema, for OpenAI and for Anthropic', () => {
    expect(selectionSchema(OFFERED)).toEqual(schema);
    expect(selectionSchema(OFFERED, 'openai')).toEqual({
      type: 'json_schema',
      json_schema: { name: 'tool_selection', strict: true, schema },
    });
    expect(selectionSchema(OFFERED, 'anthropic')).toMatchObject({ name: 'tool_selection', input_schema: schema });
  });

  test('contains each id once, in the given order', () => {
    expect(selectionSchema(['b:two', 'a:one', 'b:two'])).toMatchObject({
      properties: { tool_id: { enum: ['b:two', 'a:one'] } },
    });
  });

  test('accepts any property name, even of a prototype', () => {
    const { properties } = selectionSchema(['a:b'], 'json_schema', { propertyName: '__proto__' });
    expect(Object.keys(properties as object)).toEqual(['__proto__']);
  });

  test('an unknown provider is reported before an empty list', () => {
    const codeOf = (run: () => unknown) => {
      try {
        run();
      } catch (error) {
        return error instanceof SelectionError ? error.code : error;
      }
      return undefined;
    };
    expect(codeOf(() => selectionSchema([], 'cohere'))).toBe('CONFIG_ERROR');
    expect(codeOf(() => selectionSchema([]))).toBe('ROUTE_ERROR');
  });
});

describe('a selection is repaired only if the repair is certain', () => {
  test.each([
    [ISSUE, 'accepted', ISSUE, null, null],
    [`  ${ISSUE}\n`, 'repaired', ISSUE, 'strip', null],
    [ISSUE.toUpperCase(), 'repaired', ISSUE, 'case_fold', null],
    ['GITHUB:CREATE', 'repaired', ISSUE, 'prefix', null],
    ['github:', 'rejected', null, null, 'ambiguous_prefix'],
    ['gitlab:create_issue', 'rejected', null, null, 'not_a_candidate'],
    ['   ', 'rejected', null, null, 'empty_selection'],
    [null, 'rejected', null, null, 'empty_selection'],
  ])('%j', (given, status, selectedId, repair, reason) => {
    expect(validateSelection(given, OFFERED)).toEqual({ status, selectedId, rawId: given ?? '', repair, reason });
  });

  test('ids that differ only in case are ambiguous', () => {
    expect(validateSelection('A:B', ['a:b', 'a:B'])).toEqual({
      status: 'rejected',
      selectedId: null,
      rawId: 'A:B',
      repair: null,
      reason: 'ambiguous_case_fold',
    });
  });

  test('without repair only white space is removed', () => {
    expect(validateSelection(ISSUE.toUpperCase(), OFFERED, { repair: false })).toMatchObject({
      reason: 'not_a_candidate',
    });
    expect(validateSelection(` ${ISSUE}`, OFFERED, { repair: false })).toMatchObject({
      status: 'repaired',
      repair: 'strip',
    });
  });
});
