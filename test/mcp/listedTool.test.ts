import { ListToolsResultSchema, ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { isUsual, listedTool } from '../../src/mcp/wire/listedTool.ts';

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

describe('a tool of the usual form', () => {
  const ODD: unknown[] = [
    null,
    true,
    7,
    'text',
    [],
    [7],
    {},
    { type: 'object' },
    { title: 7 },
    { taskSupport: 'never' },
  ];
  const SCHEMAS = [{ type: 'object' }, { type: 'object', properties: { x: {} }, required: ['x'], $defs: {} }];
  const members = [
    'name',
    'title',
    'description',
    'icons',
    'inputSchema',
    'outputSchema',
    'annotations',
    'execution',
    '_meta',
  ];
  const hints = ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
  const tools = [
    WHOLE,
    { name: 'a', inputSchema: SCHEMAS[0] },
    ...members.flatMap((member) => [undefined, ...ODD, ...SCHEMAS].map((value) => ({ ...WHOLE, [member]: value }))),
    ...hints.flatMap((hint) => ODD.map((value) => ({ ...WHOLE, annotations: { [hint]: value } }))),
    ...['inputSchema', 'outputSchema'].flatMap((member) =>
      ['type', 'properties', 'required'].flatMap((part) =>
        [...ODD, { x: null }, { x: true }, ['x', null]].map((value) => ({
          ...WHOLE,
          [member]: { type: 'object', [part]: value },
        })),
      ),
    ),
    ...[undefined, 'required', 'optional', 'forbidden', ...ODD].map((taskSupport) => ({
      ...WHOLE,
      execution: { taskSupport },
    })),
  ];

  it('is valid by MCP’s own schema', () => {
    expect(tools.filter((tool) => isUsual(tool) && !ToolSchema.safeParse(tool).success)).toEqual([]);
  });

  it('is every tool but those with icons, lists for objects and flaws', () => {
    const unusual = tools.filter((tool) => !isUsual(tool) && ToolSchema.safeParse(tool).success);
    const lists = unusual.filter((tool) => !('icons' in tool));
    expect(lists.every((tool) => JSON.stringify(tool).includes('[7]'))).toBe(true);
    expect(tools.filter(isUsual).length).toBeGreaterThan(30);
  });
});
