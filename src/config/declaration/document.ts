import type { SettingsOf } from './block.ts';
import { CALL_BLOCKS, POLICY_PRESET } from './callBlocks.ts';
import { objectSchema } from './collections.ts';
import { type JsonSchema, type Shape, text } from './field.ts';
import { GATEWAY_BLOCKS, INPUTS } from './gatewayBlocks.ts';
import { SERVER_KEYS, SERVER_TYPE } from './server.ts';

/** Blocks of waygate.json with settings for the gateway or for calls. */
export const BLOCKS = { ...GATEWAY_BLOCKS, ...CALL_BLOCKS };
export type Settings = SettingsOf<typeof BLOCKS>;
export type BlockName = keyof typeof BLOCKS;
export const BLOCK_NAMES = Object.keys(BLOCKS) as readonly BlockName[];

/** Settings if no file sets anything. */
export const DEFAULT_SETTINGS = Object.freeze(
  Object.fromEntries(BLOCK_NAMES.map((name) => [name, BLOCKS[name].defaultValue])),
) as unknown as Settings;

/** Top-level keys of waygate.json. */
export const TOP_LEVEL_KEYS: readonly string[] = ['$schema', 'servers', 'inputs', 'policyPreset', ...BLOCK_NAMES];

const snippet = (label: string, description: string, body: object) => ({ label, description, body });
const npm = (name: string) => ({ command: 'npx', args: ['-y', name] });

/** Forbids the keys of another kind of server. */
const without = (keys: Shape) => Object.fromEntries(Object.keys(keys).map((key) => [key, false]));

const SERVER: JsonSchema = {
  ...objectSchema({
    type: SERVER_TYPE,
    ...SERVER_KEYS.stdio,
    ...SERVER_KEYS.records,
    ...SERVER_KEYS.http,
    ...SERVER_KEYS.shared,
  }),
  required: undefined,
  markdownDescription:
    'A program that speaks MCP on its standard input and output (`command`), a server at an address (`url`), or the records of this machine (`type` `records` alone).',
  oneOf: [
    {
      required: ['command'],
      properties: {
        ...without({ ...SERVER_KEYS.http, ...SERVER_KEYS.records }),
        type: { const: 'stdio' },
        command: {},
      },
    },
    {
      required: ['url'],
      properties: {
        ...without({ ...SERVER_KEYS.stdio, ...SERVER_KEYS.records }),
        type: { enum: ['http', 'sse'] },
        url: {},
      },
    },
    {
      required: ['type', 'url', 'tokens'],
      properties: {
        ...without({ ...SERVER_KEYS.stdio, ...SERVER_KEYS.http }),
        type: { const: 'records' },
        url: {},
        tokens: { type: 'array', minItems: 1 },
      },
    },
    {
      required: ['type'],
      properties: {
        ...without({ ...SERVER_KEYS.stdio, ...SERVER_KEYS.http, ...SERVER_KEYS.records }),
        type: { const: 'records' },
      },
    },
  ],
  defaultSnippets: [snippet('Server from npm', 'An MCP server that npx fetches and runs', npm('${1:package}'))],
};

const SERVERS: JsonSchema = {
  type: 'object',
  markdownDescription:
    "The MCP servers by name. A server's name becomes the namespace of its tools: the tools of `files` are under `/files`.",
  default: {},
  propertyNames: { pattern: '\\S' },
  additionalProperties: { $ref: '#/definitions/server' },
  defaultSnippets: [
    snippet('Server from npm', 'An MCP server that npx fetches and runs', { '${1:name}': npm('${2:package}') }),
    snippet('Server at an address', 'An MCP server over HTTP', {
      '${1:name}': { url: '${2:https://example.com/mcp}' },
    }),
    snippet('Server from a program', 'An MCP server that is a program on this machine', {
      '${1:name}': { command: '${2:program}', args: ['$3'] },
    }),
  ],
};

/** Address of the schema of a file, for editors that do not know it. */
export const SCHEMA_REFERENCE = text({ doc: 'The schema of this file, for editors that do not know it.' });

/** Returns the JSON Schema by which editors complete and explain waygate.json. */
export function documentSchema(): JsonSchema {
  const { tolerantArgs, ...calls } = CALL_BLOCKS;
  const schemasOf = (blocks: Readonly<Record<string, { field: { schema: JsonSchema } }>>) =>
    Object.fromEntries(Object.entries(blocks).map(([name, { field }]) => [name, field.schema]));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Waygate',
    description:
      'The MCP servers behind Waygate: in this workspace (.vscode/waygate.json), or in all of them (your own waygate.json).',
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: SCHEMA_REFERENCE.schema,
      servers: SERVERS,
      inputs: INPUTS.schema,
      ...schemasOf(GATEWAY_BLOCKS),
      tolerantArgs: tolerantArgs.field.schema,
      policyPreset: POLICY_PRESET.schema,
      ...schemasOf(calls),
    },
    defaultSnippets: [
      snippet('Servers', 'A configuration with one server', {
        servers: { '${1:name}': { command: '${2:npx}', args: ['-y', '${3:package}'] } },
      }),
    ],
    definitions: { server: SERVER },
  };
}
