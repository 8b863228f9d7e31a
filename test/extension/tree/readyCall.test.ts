import { describe, expect, it } from 'vitest';
import { readyCall } from '../../../src/extension/tree/readyCall.ts';
import { oddSchemas } from '../../fixtures/catalog/oddSchemas.ts';

const callOf = (inputSchema: unknown): unknown => JSON.parse(readyCall('a:b#1', { inputSchema }).replace(/^\S+ /, ''));

describe('a call that is ready to copy', () => {
  it('has the required arguments, with an example of each type', () => {
    const properties = {
      text: { type: 'string' },
      whole: { type: 'integer' },
      part: { type: 'number' },
      flag: { type: 'boolean' },
      list: { type: 'array' },
      shape: { type: 'object' },
      usual: { type: 'string', default: 'x' },
      choice: { type: 'string', enum: ['first', 'second'] },
      only: { const: 'this' },
      any: {},
      optional: { type: 'string' },
    };
    const required = Object.keys(properties).filter((name) => name !== 'optional');
    expect(callOf({ type: 'object', properties, required })).toEqual({
      tool_id: 'a:b#1',
      args: {
        ...{ text: '', whole: 0, part: 0, flag: false, list: [], shape: {} },
        ...{ usual: 'x', choice: 'first', only: 'this', any: null },
      },
    });
  });

  it.each(Object.entries(oddSchemas()))('is JSON for %s', (_, schema) => {
    expect(callOf(schema)).toMatchObject({ tool_id: 'a:b#1', args: expect.any(Object) });
  });

  it('takes nothing from prototypes', () => {
    const schema = JSON.parse('{"properties": {"x": {}}, "required": ["constructor", "__proto__"]}');
    expect(readyCall('a:b#1', { inputSchema: schema })).toContain('{"constructor":null,"__proto__":null}');
    expect(readyCall('a:b#1', undefined)).toBe('tool_execute {"tool_id":"a:b#1","args":{}}');
  });
});
