import { GATEWAY_TOOLS, type ToolDefinition } from '../shared/definitions.ts';

const HYDRATE: ToolDefinition = {
  name: 'tool_hydrate',
  title: "Show a tool's arguments",
  description:
    'Show what arguments a listed tool takes: its whole input schema. Do this before tool_execute unless you know them already.',
  inputSchema: {
    type: 'object',
    properties: { tool_id: { type: 'string' }, render: { type: 'string', enum: ['porcelain', 'json'] } },
    required: ['tool_id'],
    additionalProperties: false,
  },
  annotations: { title: "Show a tool's arguments", readOnlyHint: true, openWorldHint: false },
};

const EXECUTE_DESCRIPTION =
  'Run a listed tool: "tool_id" is its name in the list, or its whole tool_id; "args" are that tool\'s own arguments, which tool_hydrate shows. With "dry_run" the call is checked and not made.';

/** Tools beside the list (G5.5): run a listed tool, read a long result. */
export const TRANSPARENT_TOOLS: readonly ToolDefinition[] = [
  HYDRATE,
  ...GATEWAY_TOOLS.filter(({ name }) => name === 'tool_execute' || name === 'tool_view').map((tool) =>
    tool.name === 'tool_execute' ? { ...tool, description: EXECUTE_DESCRIPTION } : tool,
  ),
];
