/**
 * Tool as an MCP client sees it (G5.2). Names, descriptions and schemas are part of the product: Copilot finds tools by
 * an embedding of name and description, and one schema it dislikes ends every turn, so these stay plain (M5.1).
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

const BROWSE_INPUT: ToolDefinition['inputSchema'] = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    path: { type: 'string' },
    top_k: { type: 'integer', minimum: 1, maximum: 50 },
    render: RENDER,
  },
  additionalProperties: false,
};

export const GATEWAY_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'tool_browse',
    title: 'Find tools',
    description:
      'Find the tool for a job among all connected MCP servers: files, folders, code search, git, GitHub issues, Linear, databases, web, browser, search, cloud, buckets, logs, mail, calendar, messages, documents, spreadsheets, notes, customers, REST APIs, external APIs, memory and recall. Search with "query" in a few words, one capability at a time ("list pull requests"), or look around with "path": "/" lists the servers, "/github" what one offers.',
    inputSchema: BROWSE_INPUT,
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

const reads = (title: string) => ({ title, readOnlyHint: true, openWorldHint: false });

/** Tools for resources, advertised where some server has any (G10.5). */
export const RESOURCE_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'resource_browse',
    title: 'Find resources',
    description:
      'Find resources that the connected MCP servers offer to read: documents, notes, files, records, logs, database schemas, guides. Search with "query" in a few words, or look around with "path": "/" lists the servers that have some.',
    inputSchema: BROWSE_INPUT,
    annotations: reads('Find resources'),
  },
  {
    name: 'resource_read',
    title: 'Read a resource',
    description:
      'Read a resource found with resource_browse: "resource_id" is its whole id, or an address (URI). In the address of a template replace each {part} and give the result: for "log://app/{day}" it is "log://app/monday".',
    inputSchema: {
      type: 'object',
      properties: { resource_id: { type: 'string' }, render: RENDER },
      required: ['resource_id'],
      additionalProperties: false,
    },
    annotations: reads('Read a resource'),
  },
];

/** Tools for prompts, advertised where some server has any (G10.5). */
export const PROMPT_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'prompt_browse',
    title: 'Find prompts',
    description:
      'Find prompts that the connected MCP servers offer: ready-made instructions, checklists and workflows for a task. Search with "query" in a few words, or look around with "path": "/" lists the servers that have some.',
    inputSchema: BROWSE_INPUT,
    annotations: reads('Find prompts'),
  },
  {
    name: 'prompt_get',
    title: 'Get a prompt',
    description:
      'Get a prompt found with prompt_browse, by its whole prompt_id, filled in with "args": texts by name. Which it takes shows tool_view with the handle "schema:<prompt_id>".',
    inputSchema: {
      type: 'object',
      properties: { prompt_id: { type: 'string' }, args: { type: 'object' }, render: RENDER },
      required: ['prompt_id'],
      additionalProperties: false,
    },
    annotations: reads('Get a prompt'),
  },
];

export const ALL_TOOLS: readonly ToolDefinition[] = [...GATEWAY_TOOLS, ...RESOURCE_TOOLS, ...PROMPT_TOOLS];
