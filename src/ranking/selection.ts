/**
 * Selection contract (G12): constrains a model's choice with a schema before, and validates it after, without guessing.
 */
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

export type SelectionRepair = 'strip' | 'case_fold' | 'prefix';

export interface SelectionValidation {
  status: 'accepted' | 'repaired' | 'rejected';
  selectedId: string | null;
  rawId: string;
  repair: SelectionRepair | null;
  reason: 'empty_selection' | 'ambiguous_case_fold' | 'ambiguous_prefix' | 'not_a_candidate' | null;
}

/**
 * Matches exactly, then trimmed, then the only candidate that matches without case, then the only prefix. Rejects
 * ambiguity.
 */
export function validateSelection(
  id: string | null | undefined,
  offered: readonly string[],
  options: { repair?: boolean } = {},
): SelectionValidation {
  const rawId = id ?? '';
  const candidates = [...new Set(offered)];
  const rejected = (reason: NonNullable<SelectionValidation['reason']>): SelectionValidation => ({
    status: 'rejected',
    selectedId: null,
    rawId,
    repair: null,
    reason,
  });
  const repaired = (selectedId: string, repair: SelectionRepair): SelectionValidation => ({
    status: 'repaired',
    selectedId,
    rawId,
    repair,
    reason: null,
  });
  const stripped = rawId.trim();
  if (stripped === '') return rejected('empty_selection');
  if (candidates.includes(stripped)) {
    if (stripped === rawId) return { status: 'accepted', selectedId: stripped, rawId, repair: null, reason: null };
    return repaired(stripped, 'strip');
  }
  if (options.repair === false) return rejected('not_a_candidate');
  const folded = stripped.toLowerCase();
  const sameFolded = candidates.filter((candidate) => candidate.toLowerCase() === folded);
  if (sameFolded.length === 1) return repaired(sameFolded[0] as string, 'case_fold');
  if (sameFolded.length > 1) return rejected('ambiguous_case_fold');
  const prefixed = candidates.filter((candidate) => candidate.toLowerCase().startsWith(folded));
  if (prefixed.length === 1) return repaired(prefixed[0] as string, 'prefix');
  return rejected(prefixed.length > 1 ? 'ambiguous_prefix' : 'not_a_candidate');
}
