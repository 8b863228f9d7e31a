/**
 * The three tools an MCP client sees (000 §4.2). Names, descriptions and schemas are part of the product: Copilot finds
 * tools by an embedding of name and description, and one schema it dislikes ends every turn, so these stay plain.
 */
export interface ToolDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: {
    type: 'object';
    properties: Record<string, Record<string, unknown>>;
    required?: string[];
    additionalProperties: false;
  };
  annotations: { title: string; readOnlyHint: boolean; openWorldHint?: boolean };
}

const RENDER = { type: 'string', enum: ['porcelain', 'json'] };

export const GATEWAY_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'tool_browse',
    title: 'Find tools',
    description:
      'Find the tool for a job among all connected MCP servers: files, code search, git, GitHub issues and tickets, databases, web, browser clicks, cloud machines, logs, mail, calendar, chat, documents, spreadsheets, save and recall memory. Search with "query" in a few words, one capability at a time ("list pull requests"), or look around with "path": "/" lists the servers, "/github" what one offers.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        path: { type: 'string' },
        top_k: { type: 'integer', minimum: 1, maximum: 50 },
        render: RENDER,
      },
      additionalProperties: false,
    },
    annotations: { title: 'Find tools', readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'tool_execute',
    title: 'Run a tool',
    description:
      'Run a tool found with tool_browse, by its whole tool_id. "args" are that tool\'s own arguments. With "dry_run" the call is checked and not made.',
    inputSchema: {
      type: 'object',
      properties: {
        tool_id: { type: 'string' },
        args: { type: 'object' },
        dry_run: { type: 'boolean' },
        render: RENDER,
      },
      required: ['tool_id', 'args'],
      additionalProperties: false,
    },
    annotations: { title: 'Run a tool', readOnlyHint: false },
  },
  {
    name: 'tool_view',
    title: 'Read more of a result',
    description:
      'Read a part of a long result by its handle, with a selector: {"type": "head", "chars": 2000}, {"type": "lines", "start": 0, "end": 80}, {"type": "rows", "start": 0, "end": 20}, {"type": "grep", "pattern": "^id:"} or {"type": "json_keys", "keys": ["items"]}. The handle "schema:<tool_id>" shows the arguments a tool takes.',
    inputSchema: {
      type: 'object',
      properties: { handle: { type: 'string' }, selector: { type: 'object' }, render: RENDER },
      required: ['handle', 'selector'],
      additionalProperties: false,
    },
    annotations: { title: 'Read more of a result', readOnlyHint: true, openWorldHint: false },
  },
];
