import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { CatalogTool } from '../catalog/types.ts';
import { GatewayError } from '../ops/gatewayError.ts';
import { oneLine } from '../ops/porcelain.ts';

/**
 * Arguments are checked against the tool's own schema before they leave (000 §4.4). Not in strict mode: that refuses
 * one real tool in eighteen for keywords it does not know.
 */
const OPTIONS = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  addUsedSchema: false,
  logger: false,
} as const;
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
/** A schema beyond this is not compiled: compiling is what a hostile one would attack (000 §4.4). */
const MAX_SCHEMA_BYTES = 65_536;

const validators = new WeakMap<CatalogTool, ValidateFunction | null>();

export function argumentError(tool: CatalogTool, args: Record<string, unknown>): GatewayError | undefined {
  const validate = validatorOf(tool);
  if (validate === null || validate(args)) return undefined;
  const errors = validate.errors ?? [];
  const first = errors[0];
  const told = errors.slice(0, 5).map(describe).join('; ');
  return new GatewayError('ARGS_INVALID', oneLine(`The arguments do not fit ${tool.name}: ${told}.`), {
    path: tool.id,
    details: { path: pathOf(first), schema: `tool_view {"handle": "schema:${tool.id}", "selector": {}}` },
  });
}

/** `null`: nothing to check against, the server judges by itself. */
function validatorOf(tool: CatalogTool): ValidateFunction | null {
  const known = validators.get(tool);
  if (known !== undefined) return known;
  const validator = compile(tool);
  validators.set(tool, validator);
  return validator;
}

function compile(tool: CatalogTool): ValidateFunction | null {
  const schema = tool.inputSchema;
  if (typeof schema !== 'object' || schema === null || JSON.stringify(schema).length > MAX_SCHEMA_BYTES) return null;
  const { $schema: dialect, $id: _id, ...rest } = schema as Record<string, unknown>;
  const ajv = dialect === undefined || dialect === DRAFT_2020 ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS);
  try {
    return ajv.compile(rest);
  } catch (error) {
    throw new GatewayError(
      'SCHEMA_INVALID',
      oneLine(`The schema of ${tool.name} is not valid: ${(error as Error).message}.`),
      {
        path: tool.id,
      },
    );
  }
}

function describe(error: ErrorObject): string {
  const place = error.instancePath === '' ? '' : `${error.instancePath.slice(1).replaceAll('/', '.')} `;
  if (error.keyword === 'additionalProperties')
    return `${place}"${error.params['additionalProperty']}" is not an argument`;
  if (error.keyword === 'required') return `${place}"${error.params['missingProperty']}" is missing`;
  if (error.keyword === 'enum') return `${place}must be one of ${JSON.stringify(error.params['allowedValues'])}`;
  return `${place}${error.message ?? 'is not valid'}`;
}

function pathOf(error: ErrorObject | undefined): string[] {
  const pointer = error?.instancePath ?? '';
  return pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
