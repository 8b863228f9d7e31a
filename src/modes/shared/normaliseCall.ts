import { isRecord } from '../../lib/isRecord.ts';
import { integerFieldsOf, SELECTOR_TYPES } from '../../results/select/selectors.ts';
import { humanInteger, meantRenderMode, meantToken, meantTool, type Normalisation } from '../../text/normalise.ts';
import { oneLine } from '../../text/porcelain.ts';
import { TOP_K } from './arguments.ts';
import { DECLARED_TOOLS, type GatewayTool } from './gatewayTools.ts';

export interface NormalisedCall {
  name: string;
  args: unknown;
  /** Parts that were read as something else, in their order. */
  corrections: readonly Normalisation[];
}

type Correct = (rule: Normalisation['rule'], from: string, to: string) => void;

const MAX_FROM_CHARS = 64;

/** Tools of each mode by their names. */
const TOOLS_OF: Readonly<Record<keyof GatewayTool['modes'], ReadonlyMap<string, GatewayTool>>> = {
  gateway: toolsOf('gateway'),
  transparent: toolsOf('transparent'),
};

function toolsOf(mode: keyof GatewayTool['modes']): ReadonlyMap<string, GatewayTool> {
  const tools: readonly GatewayTool[] = DECLARED_TOOLS;
  return new Map(tools.filter(({ modes }) => modes[mode]).map((tool) => [tool.definition.name, tool]));
}

/** Arguments that models and clients add to any tool, to explain the call. */
const EXTRA = ['explanation', 'intent', 'purpose', 'reason', 'reasoning', 'thought', 'thoughts'];

/**
 * Corrects input with only one possible meaning (O10.1). Unclear input stays unchanged and is rejected where it is
 * wrong.
 */
export function normaliseCall(
  givenName: string,
  givenArgs: unknown,
  mode: keyof GatewayTool['modes'] = 'gateway',
): NormalisedCall {
  const corrections: Normalisation[] = [];
  const correct: Correct = (rule, from, to) => {
    corrections.push({ rule, from: oneLine(from, MAX_FROM_CHARS), to });
  };
  const tools = TOOLS_OF[mode];
  const name = meantTool(givenName, [...tools.keys()]) ?? givenName;
  if (name !== givenName) correct('token_alias', givenName, name);
  const tool = tools.get(name);
  if (!tool || !isRecord(givenArgs)) return { name, args: givenArgs, corrections };
  const args = renamedFields(givenArgs, tool, correct);
  const { properties } = (tool as GatewayTool).definition.inputSchema;
  // Beside absent "args" they may be arguments of the server's tool.
  const isWhole = !('args' in properties) || args.args !== undefined;
  for (const field of isWhole ? EXTRA : []) {
    if (!(field in args) || field in properties) continue;
    correct('extra_argument', field, '');
    delete args[field];
  }
  if (typeof args.render === 'string') {
    const render = meantRenderMode(args.render);
    if (render !== undefined && render !== args.render) {
      correct('token_alias', args.render, render);
      args.render = render;
    }
  }
  for (const [field, schema] of Object.entries(properties)) {
    if (schema.type !== 'integer') continue;
    integer(args, field, correct);
    const value = args[field];
    if (typeof value !== 'number' || !(value > TOP_K.most)) continue;
    correct('too_many', `${field}: ${value}`, String(TOP_K.most));
    args[field] = TOP_K.most;
  }
  if (properties.selector && isRecord(args.selector)) args.selector = normalisedSelector(args.selector, correct);
  return { name, args, corrections };
}

function renamedFields(
  given: Readonly<Record<string, unknown>>,
  { definition, aliases }: GatewayTool,
  correct: Correct,
): Record<string, unknown> {
  const known = Object.keys(definition.inputSchema.properties);
  const meanings = Object.keys(given).map((field) => meantToken(field, known, aliases) ?? field);
  const entries = Object.entries(given).map(([field, value], i): [string, unknown] => {
    const meant = meanings[i] as string;
    // Two names with one meaning stay: Waygate guesses at neither.
    if (meant === field || meanings.filter((other) => other === meant).length > 1) return [field, value];
    correct('field_alias', field, meant);
    return [meant, value];
  });
  // Some clients send every argument, and null for those that they do not mean.
  return Object.fromEntries(entries.filter(([field, value]) => value !== null || !known.includes(field)));
}

function integer(fields: Record<string, unknown>, field: string, correct: Correct): void {
  const text = fields[field];
  const value = typeof text === 'string' ? humanInteger(text) : undefined;
  if (value === undefined) return;
  correct('integer_text', `${field}: ${text}`, String(value));
  fields[field] = value;
}

function normalisedSelector(given: Readonly<Record<string, unknown>>, correct: Correct): Record<string, unknown> {
  const selector = { ...given };
  if (typeof selector.type !== 'string') return selector;
  const type = meantToken(selector.type, SELECTOR_TYPES);
  if (type === undefined) return selector;
  if (type !== selector.type) correct('token_alias', selector.type, type);
  selector.type = type;
  for (const field of integerFieldsOf(type)) integer(selector, field, correct);
  return selector;
}
