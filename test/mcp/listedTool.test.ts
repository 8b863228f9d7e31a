import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { listedTool } from '../../src/mcp/wire/listedTool.ts';

const WHOLE = {
  name: 'a',
  title: 'A',
  description: 'Does it.',
  inputSchema: { type: 'object', properties: { x: { type: 'string' } }, additionalProperties: false },
  annotations: { readOnlyHint: true },
  _meta: { own: 1 },
  more: 'of the server',
};

describe('a tool in the form for clients', () => {
  it('is the same object if it is valid', () => {
    expect(listedTool(WHOLE)).toBe(WHOLE);
  });

  it.each<[string, object, object]>([
    ['a title that is null', { title: null }, { title: undefined }],
    ['a description that is a number', { description: 7 }, { description: undefined }],
    ['a "_meta" that is null', { _meta: null }, { _meta: undefined }],
    ['annotations that are a list', { annotations: [] }, { annotations: undefined }],
    ['a hint that is a string', { annotations: { readOnlyHint: 'yes' } }, { annotations: undefined }],
    ['an output schema of another type', { outputSchema: { type: 'string' } }, { outputSchema: undefined }],
    ['no input schema', { inputSchema: undefined }, { inputSchema: { type: 'object' } }],
    ['an input schema that is a string', { inputSchema: 'any' }, { inputSchema: { type: 'object' } }],
    ['an input schema that is null', { inputSchema: null }, { inputSchema: { type: 'object' } }],
    [
      'an input schema without a type',
      { inputSchema: { properties: { x: {} } } },
      { inputSchema: { type: 'object', properties: { x: {} } } },
    ],
    ['invalid properties', { inputSchema: { type: 'object', properties: 7 } }, { inputSchema: { type: 'object' } }],
    [
      'a property with a boolean schema',
      { inputSchema: { type: 'object', properties: { x: { type: 'string' }, y: true, z: false }, required: ['x'] } },
      {
        inputSchema: { type: 'object', properties: { x: { type: 'string' }, y: {}, z: { not: {} } }, required: ['x'] },
      },
    ],
    [
      '`required` that is null',
      { inputSchema: { type: 'object', properties: { x: {} }, required: null } },
      { inputSchema: { type: 'object', properties: { x: {} } } },
    ],
  ])('is listed without members that clients reject: %s', (_, flaw, mended) => {
    const listed = listedTool({ ...WHOLE, ...flaw });
    expect(listed).toEqual({ ...WHOLE, ...mended });
    expect(ListToolsResultSchema.safeParse({ tools: [listed] }).success).toBe(true);
  });

  it('is missing if it is not an object or has no name', () => {
    expect([{ ...WHOLE, name: 7 }, null, 'a', [WHOLE]].map(listedTool)).toEqual(Array(4).fill(undefined));
  });
});
