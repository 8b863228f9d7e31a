import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isRecord } from '../../lib/isRecord.ts';
import { once } from '../../lib/once.ts';
import { oneLine } from '../../text/porcelain.ts';
import { Refusal, type RefusalCode } from './answers.ts';
import { filterParams } from './filters.ts';
import { TOOLS, type ToolName } from './tools.ts';

/** Compiles on the first call: a session that only lists the tools needs no validator. */
const checks = once(() => {
  const ajv = new Ajv();
  return new Map<string, ValidateFunction>(TOOLS.map(({ name, inputSchema }) => [name, ajv.compile(inputSchema)]));
});

/** Error codes of arguments that have codes of their own. */
const CODES: Readonly<Record<string, RefusalCode>> = {
  filter: 'invalid_filter',
  expand: 'invalid_expand',
  expand_limit: 'invalid_expand',
};

/** Throws a `Refusal` for arguments that the tool does not take. Nothing is sent for them. */
export function checkArguments(tool: ToolName, args: unknown): void {
  const check = checks().get(tool) as ValidateFunction;
  if (check(args)) return;
  const [first] = check.errors as ErrorObject[];
  const { instancePath, keyword, params, message = 'is invalid' } = first as ErrorObject;
  const [argument = ''] = instancePath.slice(1).split('/');
  // The form of a filter has an error with more words than the validator's.
  if (argument === 'filter' && isRecord(args)) filterParams((args as { filter?: unknown }).filter);
  const code = CODES[argument] ?? 'invalid_request';
  const param = argument === '' ? undefined : argument;
  throw new Refusal(code, sentence(tool, instancePath, keyword, params, message), param === undefined ? {} : { param });
}

function sentence(
  tool: ToolName,
  path: string,
  keyword: string,
  params: Readonly<Record<string, unknown>>,
  message: string,
): string {
  const taken = Object.keys((TOOLS.find(({ name }) => name === tool) as (typeof TOOLS)[number]).inputSchema.properties);
  if (keyword === 'additionalProperties' && path === '') {
    const given = oneLine(String(params.additionalProperty), 60);
    return `${tool} takes no argument "${given}"; it takes ${taken.join(', ')}.`;
  }
  if (keyword === 'required') return `${tool} needs the argument "${String(params.missingProperty)}".`;
  const where = path === '' ? 'The arguments' : `"${oneLine(path.slice(1).replaceAll('/', '.'), 80)}"`;
  if (keyword === 'enum') return `${where} must be one of ${(params.allowedValues as string[]).join(', ')}.`;
  return `${where} ${message}.`;
}
