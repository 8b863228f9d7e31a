/** Input schemas of the three tools whose tokens the cases count. The product's own schemas may say more. */
export const EXPOSED_SCHEMAS = [
  {
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        path: { type: 'string' },
        top_k: { type: 'integer', minimum: 1, maximum: 50 },
      },
      additionalProperties: false,
    },
  },
  {
    inputSchema: {
      type: 'object',
      properties: { tool_id: { type: 'string' }, args: { type: 'object' }, dry_run: { type: 'boolean' } },
      required: ['tool_id', 'args'],
      additionalProperties: false,
    },
  },
  {
    inputSchema: {
      type: 'object',
      properties: { handle: { type: 'string' }, selector: { type: 'object' } },
      required: ['handle', 'selector'],
      additionalProperties: false,
    },
  },
];
