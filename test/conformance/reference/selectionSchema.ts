/** Form in which a model provider takes the schema of a choice (G12.1). No mode of Waygate sends it. */
export type SelectionProvider = 'json_schema' | 'openai' | 'anthropic';

/** `ROUTE_ERROR`: there are no candidates. `CONFIG_ERROR`: the provider is unknown. */
export class SelectionError extends Error {
  readonly code: 'ROUTE_ERROR' | 'CONFIG_ERROR';
  constructor(code: 'ROUTE_ERROR' | 'CONFIG_ERROR', message: string) {
    super(message);
    this.name = 'SelectionError';
    this.code = code;
  }
}

export interface SelectionSchemaOptions {
  propertyName?: string;
  schemaName?: string;
  description?: string;
}

const PROVIDERS: readonly string[] = ['json_schema', 'openai', 'anthropic'] satisfies SelectionProvider[];

export function selectionSchema(
  ids: readonly string[],
  provider: string = 'json_schema',
  options: SelectionSchemaOptions = {},
): Record<string, unknown> {
  if (!PROVIDERS.includes(provider)) {
    throw new SelectionError(
      'CONFIG_ERROR',
      `There is no selection schema for the provider "${provider}": use ${PROVIDERS.join(', ')}.`,
    );
  }
  const offered = [...new Set(ids)];
  if (offered.length === 0) {
    throw new SelectionError('ROUTE_ERROR', 'There is nothing to select from: browse again with other words.');
  }
  const property = options.propertyName ?? 'tool_id';
  const name = options.schemaName ?? 'tool_selection';
  const schema = {
    type: 'object',
    properties: Object.fromEntries([[property, { type: 'string', enum: offered }]]),
    required: [property],
    additionalProperties: false,
  };
  if (provider === 'openai') return { type: 'json_schema', json_schema: { name, strict: true, schema } };
  if (provider === 'anthropic') {
    return { name, description: options.description ?? 'Select exactly one tool by its id.', input_schema: schema };
  }
  return schema;
}
