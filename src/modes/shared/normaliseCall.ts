import { integerFieldsOf, SELECTOR_TYPES } from '../../results/select/selectors.ts';
import { humanInteger, meantRenderMode, meantToken, meantTool, type Normalisation } from '../../text/normalise.ts';
import { oneLine } from '../../text/porcelain.ts';
import { ALL_TOOLS, type ToolDefinition } from './definitions.ts';

export interface NormalisedCall {
  name: string;
  args: unknown;
  /** What was read as something else, in the order in which it was. */
  told: readonly Normalisation[];
}

/** By the token of what was written, for each of the gateway's own tools. A tool's own arguments are never renamed. */
const FIELD_ALIASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tool_browse: { q: 'query', limit: 'top_k' },
  resource_browse: { q: 'query', limit: 'top_k' },
  prompt_browse: { q: 'query', limit: 'top_k' },
  resource_read: { uri: 'resource_id' },
  prompt_get: { arguments: 'args', params: 'args', parameters: 'args' },
  tool_execute: { arguments: 'args', params: 'args', parameters: 'args' },
  tool_view: {},
};
const TOLD_CHARS = 64;

/**
 * Corrects input with only one possible meaning (O10.1). Unclear input stays unchanged and is rejected where it is
 * wrong.
 */
export function normaliseCall(
  givenName: string,
  givenArgs: unknown,
  tools: readonly ToolDefinition[] = ALL_TOOLS,
): NormalisedCall {
  const told: Normalisation[] = [];
  const tell = (rule: Normalisation['rule'], from: string, to: string): void => {
    told.push({ rule, from: oneLine(from, TOLD_CHARS), to });
  };
  const names = tools.map((tool) => tool.name);
  const name = meantTool(givenName, names) ?? givenName;
  if (name !== givenName) tell('token_alias', givenName, name);
  const definition = tools.find((tool) => tool.name === name);
  if (!definition || !isObject(givenArgs)) return { name, args: givenArgs, told };
  const args = renamedFields(givenArgs, definition, tell);
  if (typeof args.render === 'string') {
    const render = meantRenderMode(args.render);
    if (render !== undefined && render !== args.render) {
      tell('token_alias', args.render, render);
      args.render = render;
    }
  }
  for (const [field, schema] of Object.entries(definition.inputSchema.properties)) {
    if (schema.type === 'integer') integer(args, field, tell);
  }
  if (name === 'tool_view' && isObject(args.selector)) args.selector = normalisedSelector(args.selector, tell);
  return { name, args, told };
}

type Tell = (rule: Normalisation['rule'], from: string, to: string) => void;

function renamedFields(
  given: Readonly<Record<string, unknown>>,
  { name: tool, inputSchema }: ToolDefinition,
  tell: Tell,
): Record<string, unknown> {
  const known = Object.keys(inputSchema.properties);
  const meanings = Object.keys(given).map((field) => meantToken(field, known, FIELD_ALIASES[tool]) ?? field);
  const entries = Object.entries(given).map(([field, value], i): [string, unknown] => {
    const meant = meanings[i] as string;
    // Two that mean one thing: neither is guessed at.
    if (meant === field || meanings.filter((other) => other === meant).length > 1) return [field, value];
    tell('field_alias', field, meant);
    return [meant, value];
  });
  return Object.fromEntries(entries);
}

function integer(fields: Record<string, unknown>, field: string, tell: Tell): void {
  const text = fields[field];
  const value = typeof text === 'string' ? humanInteger(text) : undefined;
  if (value === undefined) return;
  tell('integer_text', `${field}: ${text}`, String(value));
  fields[field] = value;
}

function normalisedSelector(given: Readonly<Record<string, unknown>>, tell: Tell): Record<string, unknown> {
  const selector = { ...given };
  if (typeof selector.type !== 'string') return selector;
  const type = meantToken(selector.type, SELECTOR_TYPES);
  if (type === undefined) return selector;
  if (type !== selector.type) tell('token_alias', selector.type, type);
  selector.type = type;
  for (const field of integerFieldsOf(type)) integer(selector, field, tell);
  return selector;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
