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

describe('a tool that clients read', () => {
  it('is the very same where they can read it as it is', () => {
    expect(listedTool(WHOLE)).toBe(WHOLE);
  });

  it.each<[string, object, object]>([
    ['a title that is null', { title: null }, { title: undefined }],
    ['a description that is a number', { description: 7 }, { description: undefined }],
    ['a "_meta" that is null', { _meta: null }, { _meta: undefined }],
    ['annotations that are a list', { annotations: [] }, { annotations: undefined }],
    ['a hint that is a text', { annotations: { readOnlyHint: 'yes' } }, { annotations: undefined }],
    ['an output schema of another type', { outputSchema: { type: 'string' } }, { outputSchema: undefined }],
    ['no input schema', { inputSchema: undefined }, { inputSchema: { type: 'object' } }],
    ['an input schema that is a text', { inputSchema: 'any' }, { inputSchema: { type: 'object' } }],
    ['an input schema that is null', { inputSchema: null }, { inputSchema: { type: 'object' } }],
    [
      'an input schema without a type',
      { inputSchema: { properties: { x: {} } } },
      { inputSchema: { type: 'object', properties: { x: {} } } },
    ],
    [
      'properties that are none',
      { inputSchema: { type: 'object', properties: 7 } },
      { inputSchema: { type: 'object' } },
    ],
    [
      'a property that may be anything',
      { inputSchema: { type: 'object', properties: { x: { type: 'string' }, y: true, z: false }, required: ['x'] } },
      {
        inputSchema: { type: 'object', properties: { x: { type: 'string' }, y: {}, z: { not: {} } }, required: ['x'] },
      },
    ],
    [
      'nothing required, as null',
      { inputSchema: { type: 'object', properties: { x: {} }, required: null } },
      { inputSchema: { type: 'object', properties: { x: {} } } },
    ],
  ])('is listed without what they would refuse the list for: %s', (_, flaw, mended) => {
    const listed = listedTool({ ...WHOLE, ...flaw });
    expect(listed).toEqual({ ...WHOLE, ...mended });
    expect(ListToolsResultSchema.safeParse({ tools: [listed] }).success).toBe(true);
  });

  it('is none where it is no object, or has no name', () => {
    expect([{ ...WHOLE, name: 7 }, null, 'a', [WHOLE]].map(listedTool)).toEqual(Array(4).fill(undefined));
  });
});
