import { isRecord } from '../../lib/isRecord.ts';
import { integerFieldsOf, SELECTOR_TYPES } from '../../results/select/selectors.ts';
import { humanInteger, meantRenderMode, meantToken, meantTool, type Normalisation } from '../../text/normalise.ts';
import { oneLine } from '../../text/porcelain.ts';
import { DECLARED_TOOLS, type GatewayTool } from './gatewayTools.ts';

export interface NormalisedCall {
  name: string;
  args: unknown;
  /** Parts that were read as something else, in their order. */
  corrections: readonly Normalisation[];
}

type Correct = (rule: Normalisation['rule'], from: string, to: string) => void;

const MAX_FROM_CHARS = 64;

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
  const tools = DECLARED_TOOLS.filter(({ modes }: GatewayTool) => modes[mode] !== undefined);
  const names = tools.map(({ definition }) => definition.name);
  const name = meantTool(givenName, names) ?? givenName;
  if (name !== givenName) correct('token_alias', givenName, name);
  const tool = tools.find(({ definition }) => definition.name === name);
  if (!tool || !isRecord(givenArgs)) return { name, args: givenArgs, corrections };
  const args = renamedFields(givenArgs, tool, correct);
  if (typeof args.render === 'string') {
    const render = meantRenderMode(args.render);
    if (render !== undefined && render !== args.render) {
      correct('token_alias', args.render, render);
      args.render = render;
    }
  }
  const { properties } = (tool as GatewayTool).definition.inputSchema;
  for (const [field, schema] of Object.entries(properties)) {
    if (schema.type === 'integer') integer(args, field, correct);
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
  return Object.fromEntries(entries);
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
