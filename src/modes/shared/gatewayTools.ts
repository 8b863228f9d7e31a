import type { ReplayContract } from '../../replay/replay.ts';
import type { EventName } from '../../telemetry/diagnosticEvent.ts';

/**
 * Tool as an MCP client sees it (G5.2). Names, descriptions and schemas are part of the product: Copilot finds tools by
 * an embedding of name and description, and one schema it dislikes ends every turn, so these stay plain (M5.1). Clients
 * check arguments before the gateway can correct them, so schemas require little and forbid nothing (M5.7). A title is a
 * noun, because Copilot puts "Run" and "Ran" before it.
 */
export interface ToolDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: {
    type: 'object';
    properties: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  annotations: { title: string; readOnlyHint: boolean; openWorldHint?: boolean };
}

/** Condition for a tool in the list of gateway mode: always, or if a server has resources or prompts (G5.2, G10.5). */
export type ListCondition = 'always' | 'resources' | 'prompts';

/**
 * Declaration of a tool of the gateway: data only, because the host loads it and runs no tools. The table in
 * `modes/gateway/toolTable.ts` joins it with the code that runs the tool.
 */
export interface GatewayTool<Name extends string = string> {
  definition: ToolDefinition & { name: Name };
  /** Modes that have the tool. Transparent mode may describe it in other words. */
  modes: { gateway?: ListCondition; transparent?: { description?: string } };
  /** Other names of its arguments, by their letters (O10.1). Arguments of a server's tool are never renamed. */
  aliases: Readonly<Record<string, string>>;
  /** Argument with the id of what the tool runs or reads, for the recent calls and for errors. */
  id?: string;
  /** Rate limit that counts its calls (G7.8). */
  limit: 'tool_browse' | 'tool_execute' | 'tool_view' | 'none';
  /** Contract of a call that is lost before its server's tool is known (O3.5). */
  contract: ReplayContract;
  /** First part of the names of its events (O8.7). */
  event: EventFamily;
}

/** Events that the event log has for calls of tools. */
type EventFamily = EventName extends infer Event ? (Event extends `${infer Family}.completed` ? Family : never) : never;

const RENDER = { type: 'string', enum: ['porcelain', 'json'] };

const BROWSE_INPUT: ToolDefinition['inputSchema'] = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    path: { type: 'string' },
    top_k: { type: 'integer' },
    render: RENDER,
  },
};
const BROWSE_ALIASES = { q: 'query', limit: 'top_k' };
const ARGS_ALIASES = { arguments: 'args', params: 'args', parameters: 'args' };

const reads = (title: string) => ({ title, readOnlyHint: true, openWorldHint: false });
/** Keeps the literal name of a declared tool for the type of all names. */
const declared = <const Name extends string>(tool: GatewayTool<Name>): GatewayTool<Name> => tool;

export const TOOL_HYDRATE = declared({
  definition: {
    name: 'tool_hydrate',
    title: 'Tool schema',
    description:
      'Show what arguments a listed tool takes: its whole input schema. Do this before tool_execute unless you know them already.',
    inputSchema: {
      type: 'object',
      properties: { tool_id: { type: 'string' }, render: RENDER },
      required: ['tool_id'],
    },
    annotations: reads('Tool schema'),
  },
  modes: { transparent: {} },
  aliases: {},
  id: 'tool_id',
  limit: 'none',
  contract: 'convergent',
  event: 'hydrate',
});

/** Agents phrase a request like an API if the definition asks for it, which is worth more than any ranking. */
export const TOOL_BROWSE = declared({
  definition: {
    name: 'tool_browse',
    title: 'Tool search',
    description:
      'Find the tool for a job among all connected MCP servers: files, folders, code search, git, GitHub issues, Linear, databases, web, browser, search, cloud, buckets, logs, mail, calendar, messages, documents, spreadsheets, notes, customers, REST APIs, external APIs, memory and recall. Search with "query" in English API words, and again in others ("git stash changes | save working tree"), one capability at a time, or look around with "path": "/" lists the servers, "/github" what one offers.',
    inputSchema: BROWSE_INPUT,
    annotations: reads('Tool search'),
  },
  modes: { gateway: 'always' },
  aliases: BROWSE_ALIASES,
  limit: 'tool_browse',
  contract: 'convergent',
  event: 'browse',
});

export const TOOL_EXECUTE = declared({
  definition: {
    name: 'tool_execute',
    title: 'Tool call',
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
      required: ['tool_id'],
    },
    annotations: { title: 'Tool call', readOnlyHint: false },
  },
  modes: {
    gateway: 'always',
    transparent: {
      description:
        'Run a listed tool: "tool_id" is its name in the list, or its whole tool_id; "args" are that tool\'s own arguments, which tool_hydrate shows. With "dry_run" the call is checked and not made.',
    },
  },
  aliases: ARGS_ALIASES,
  id: 'tool_id',
  limit: 'tool_execute',
  contract: 'never_replay',
  event: 'execute',
});

export const TOOL_VIEW = declared({
  definition: {
    name: 'tool_view',
    title: 'Result view',
    description:
      'Read a part of a long result by its handle, with a selector: {"type": "head", "chars": 2000}, {"type": "lines", "start": 0, "end": 80}, {"type": "rows", "start": 0, "end": 20}, {"type": "grep", "pattern": "^id:"} or {"type": "json_keys", "keys": ["items"]}. The handle "schema:<tool_id>" shows the arguments a tool takes.',
    inputSchema: {
      type: 'object',
      properties: { handle: { type: 'string' }, selector: { type: 'object' }, render: RENDER },
      required: ['handle'],
    },
    annotations: reads('Result view'),
  },
  modes: { gateway: 'always', transparent: {} },
  aliases: {},
  id: 'handle',
  limit: 'tool_view',
  contract: 'convergent',
  event: 'view',
});

export const RESOURCE_BROWSE = declared({
  definition: {
    name: 'resource_browse',
    title: 'Resource search',
    description:
      'Find resources that the connected MCP servers offer to read: documents, notes, files, records, logs, database schemas, guides. Search with "query" in a few words, or look around with "path": "/" lists the servers that have some.',
    inputSchema: BROWSE_INPUT,
    annotations: reads('Resource search'),
  },
  modes: { gateway: 'resources' },
  aliases: BROWSE_ALIASES,
  limit: 'tool_browse',
  contract: 'convergent',
  event: 'browse',
});

export const RESOURCE_READ = declared({
  definition: {
    name: 'resource_read',
    title: 'Resource content',
    description:
      'Read a resource found with resource_browse: "resource_id" is its whole id, or an address (URI). In the address of a template replace each {part}: "log://app/{day}" becomes "log://app/monday".',
    inputSchema: {
      type: 'object',
      properties: { resource_id: { type: 'string' }, render: RENDER },
      required: ['resource_id'],
    },
    annotations: reads('Resource content'),
  },
  modes: { gateway: 'resources' },
  aliases: { uri: 'resource_id' },
  id: 'resource_id',
  limit: 'tool_view',
  contract: 'convergent',
  event: 'read',
});

export const PROMPT_BROWSE = declared({
  definition: {
    name: 'prompt_browse',
    title: 'Prompt search',
    description:
      'Find prompts that the connected MCP servers offer: ready-made instructions, checklists and workflows for a task. Search with "query" in a few words, or look around with "path": "/" lists the servers that have some.',
    inputSchema: BROWSE_INPUT,
    annotations: reads('Prompt search'),
  },
  modes: { gateway: 'prompts' },
  aliases: BROWSE_ALIASES,
  limit: 'tool_browse',
  contract: 'convergent',
  event: 'browse',
});

export const PROMPT_GET = declared({
  definition: {
    name: 'prompt_get',
    title: 'Prompt text',
    description:
      'Get a prompt found with prompt_browse, by its whole prompt_id, filled in with "args": texts by name. tool_view with the handle "schema:<prompt_id>" shows which.',
    inputSchema: {
      type: 'object',
      properties: { prompt_id: { type: 'string' }, args: { type: 'object' }, render: RENDER },
      required: ['prompt_id'],
    },
    annotations: reads('Prompt text'),
  },
  modes: { gateway: 'prompts' },
  aliases: ARGS_ALIASES,
  id: 'prompt_id',
  limit: 'tool_view',
  contract: 'convergent',
  event: 'read',
});

/** Tools of all modes, in the order in which clients see them. */
export const DECLARED_TOOLS = [
  TOOL_HYDRATE,
  TOOL_BROWSE,
  TOOL_EXECUTE,
  TOOL_VIEW,
  RESOURCE_BROWSE,
  RESOURCE_READ,
  PROMPT_BROWSE,
  PROMPT_GET,
] as const;

export type GatewayToolName = (typeof DECLARED_TOOLS)[number]['definition']['name'];

export const GATEWAY_TOOL_NAMES: readonly GatewayToolName[] = DECLARED_TOOLS.map(({ definition }) => definition.name);

const BY_NAME: ReadonlyMap<string, GatewayTool<GatewayToolName>> = new Map(
  DECLARED_TOOLS.map((tool) => [tool.definition.name, tool]),
);

export function gatewayTool(name: string): GatewayTool<GatewayToolName> | undefined {
  return BY_NAME.get(name);
}

/** Returns the tools that gateway mode lists under these conditions. */
export function listedTools(...conditions: readonly ListCondition[]): readonly ToolDefinition[] {
  return DECLARED_TOOLS.filter(({ modes }: GatewayTool) => modes.gateway && conditions.includes(modes.gateway)).map(
    ({ definition }) => definition,
  );
}

/** Tools that gateway mode always lists. */
export const GATEWAY_TOOLS = listedTools('always');
/** Tools that gateway mode runs, whether they are listed or not. */
export const ALL_TOOLS = listedTools('always', 'resources', 'prompts');
/** Tools that transparent mode lists beside those of the servers (G5.5). */
export const TRANSPARENT_TOOLS: readonly ToolDefinition[] = DECLARED_TOOLS.flatMap(
  ({ definition, modes }: GatewayTool) => (modes.transparent ? { ...definition, ...modes.transparent } : []),
);
