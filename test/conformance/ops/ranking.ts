/** Operations of the selection contract (G12). */
import { validateSelection } from '../../../src/ranking/selection.ts';
import type { OperationTable } from '../conformance.ts';
import { SelectionError, type SelectionProvider, selectionSchema } from '../reference/selectionSchema.ts';

interface SchemaInput {
  candidates: string[];
  provider?: string;
  property_name?: string;
  schema_name?: string;
  description?: string;
}

export const routingOperations: OperationTable = {
  selection_schema: {
    selection_schema: {
      run: (input, { expected }) => {
        const { candidates, provider, property_name, schema_name, description } = input as SchemaInput;
        try {
          const schema = selectionSchema(candidates, (provider ?? 'json_schema') as SelectionProvider, {
            ...(property_name === undefined ? {} : { propertyName: property_name }),
            ...(schema_name === undefined ? {} : { schemaName: schema_name }),
            ...(description === undefined ? {} : { description }),
          });
          // Some cases pin only the candidates.
          if (typeof expected === 'object' && expected !== null && 'enum' in expected) return { enum: enumOf(schema) };
          return { ok: schema };
        } catch (error) {
          if (error instanceof SelectionError) return { error: error.code };
          throw error;
        }
      },
    },
  },
  selection_validate: {
    validate_selection: {
      run: (input) => {
        const { selected, candidates, repair } = input as {
          selected: string | null;
          candidates: string[];
          repair?: boolean;
        };
        const validation = validateSelection(selected, candidates, repair === undefined ? {} : { repair });
        return {
          status: validation.status,
          selected_id: validation.selectedId,
          raw_id: validation.rawId,
          repair: validation.repair,
          reason: validation.reason,
        };
      },
    },
  },
};

function enumOf(schema: object): unknown {
  for (const value of Object.values(schema)) {
    if (typeof value !== 'object' || value === null) continue;
    if ('enum' in value) return value.enum;
    const deeper = enumOf(value);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
