import { GatewayError } from '../../errors/gatewayError.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { didYouMean } from '../../text/nearest.ts';
import type { RenderMode } from '../../text/normalise.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { ToolDefinition } from './gatewayTools.ts';

/** Arguments of a gateway tool after the check: names and types are those of its schema. */
export type CheckedArguments = Readonly<Record<string, unknown>>;

/** Range of `top_k`, the only number. The schema does not name it, because some clients check it themselves. */
export const TOP_K = { least: 1, most: 50 };

/** Checks the arguments of a gateway tool. Throws ARGS_INVALID with the place and the expected type. */
export function checkArguments(definition: ToolDefinition, args: unknown): CheckedArguments {
  if (!isRecord(args)) throw argsInvalid(`The arguments of ${definition.name} must be an object.`, []);
  const { properties, required = [] } = definition.inputSchema;
  const names = Object.keys(properties);
  for (const [name, value] of Object.entries(args)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!schema) {
      const hint = didYouMean(name, names, `it takes ${names.join(', ')}.${inArgs(properties)}`);
      throw argsInvalid(`${definition.name} has no argument "${oneLine(name, 64)}"; ${hint}`, [name]);
    }
    // The pipeline judges a tool's own arguments: a model may have sent them as text (G6.7).
    const expected = name === 'args' ? undefined : mismatch(schema, value);
    if (expected) throw argsInvalid(`"${name}" of ${definition.name} must be ${expected}.`, [name]);
  }
  for (const name of required) {
    if (args[name] === undefined) throw argsInvalid(`${definition.name} needs "${name}".`, []);
  }
  return args;
}

/** Returns a hint for a call that has the arguments of a server's tool in the wrong place. */
function inArgs(properties: ToolDefinition['inputSchema']['properties']): string {
  return 'args' in properties ? ' Arguments of the tool itself belong into "args".' : '';
}

/** Returns the form that a call asks for. Its arguments may be anything. */
export function renderMode(args: unknown): RenderMode {
  return (args as CheckedArguments | null | undefined)?.render === 'json' ? 'json' : 'porcelain';
}

/** Makes the error for wrong arguments of a gateway tool. `path` becomes `details.path` (G4.3). */
export function argsInvalid(message: string, path: readonly (string | number)[]): GatewayError {
  return new GatewayError('ARGS_INVALID', message, { details: { path } });
}

/** Returns the expected type in plain words if the value has another one. */
function mismatch(schema: Record<string, unknown>, value: unknown): string | undefined {
  switch (schema.type) {
    case 'string': {
      const choices = schema.enum as string[] | undefined;
      if (choices) return choices.includes(value as string) ? undefined : choices.map((c) => `"${c}"`).join(' or ');
      return typeof value === 'string' ? undefined : 'a string';
    }
    case 'integer': {
      const fits = Number.isInteger(value) && Number(value) >= TOP_K.least && Number(value) <= TOP_K.most;
      return fits ? undefined : `a whole number from ${TOP_K.least} to ${TOP_K.most}`;
    }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    default:
      return isRecord(value) ? undefined : 'an object';
  }
}
