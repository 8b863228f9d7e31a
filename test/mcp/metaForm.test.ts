import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it } from 'vitest';
import { isMeta } from '../../src/mcp/metaForm.ts';

const TASK = 'io.modelcontextprotocol/related-task';
const VALUES: unknown[] = [
  ...[undefined, null, true, 7, 'text', [], {}, { own: [null] }],
  ...[undefined, null, 'a', 7, 1.5, Number.MAX_SAFE_INTEGER + 1, {}].map((progressToken) => ({ progressToken })),
  ...[undefined, null, 'a', {}, { taskId: 7 }, { taskId: 'a' }, { taskId: 'a', more: 1 }].map((task) => ({
    [TASK]: task,
  })),
];

it.each(VALUES.map((value) => [JSON.stringify(value), value]))(
  'a "_meta" is valid as MCP’s own schema says: %s',
  (_, _meta) => {
    expect(isMeta(_meta)).toBe(ResultSchema.safeParse({ _meta }).success);
  },
);
