import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { shortened } from '../../text/porcelain.ts';
import type { ValidationVerdict } from './argumentValidator.ts';
import { type ArgumentProblem, explainErrors } from './explainErrors.ts';
import { schemaFragment } from './schemaFragment.ts';

/** Limit of one answer; the rest is counted. */
const MAX_PROBLEMS = 20;
const MAX_FRAGMENTS = 3;
/** Enough for a form, which shows deeper values as JSON. */
const MAX_PLACE_KEYS = 16;
const MAX_PLACE_KEY_CHARS = 100;

type Failed = Extract<ValidationVerdict, { kind: 'invalid' | 'bad_schema' }>;

/**
 * Returns `ARGS_INVALID` with everything the next attempt needs (G6.1), or `SCHEMA_INVALID` if the server's schema is
 * broken (G6.4).
 */
export function argumentError(
  tool: Pick<CatalogTool, 'id' | 'name' | 'server' | 'inputSchema'>,
  verdict: Failed,
  args: unknown,
  scrubSecrets: (text: string) => string,
): GatewayError {
  if (verdict.kind === 'bad_schema') {
    return new GatewayError(
      'SCHEMA_INVALID',
      `The server ${tool.server} declares a broken schema for ${tool.name}, so it cannot be called: ${scrubSecrets(verdict.problem)}. Use another tool, or report this to the server's author.`,
      { path: tool.id },
    );
  }
  // Messages quote the server's schema, which may contain secrets.
  const problems = explainErrors(verdict.errors, tool.inputSchema, args).map((problem) => ({
    ...problem,
    message: scrubSecrets(problem.message),
  }));
  const [first] = problems as [ArgumentProblem];
  const shown = problems.slice(0, MAX_PROBLEMS);
  const more = problems.length - shown.length;
  const others = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new GatewayError(
    'ARGS_INVALID',
    `Correct the arguments of ${tool.name} and call again: ${first.message}${others}.`,
    {
      path: tool.id,
      details: {
        path: numbered(first.path, args),
        problems: shown.map((problem) => problem.message),
        places: scrubbed(
          shown.map(({ place }) => numbered(place, args).slice(0, MAX_PLACE_KEYS).map(shortKey)),
          scrubSecrets,
        ),
        ...(more > 0 ? { more_problems: more } : {}),
        expected: scrubbed(fragments(shown, tool.inputSchema), scrubSecrets),
      },
    },
  );
}

/** Masks secrets in data. Recursion is safe because fragments of schemas have a depth limit. */
function scrubbed(value: unknown, scrubSecrets: (text: string) => string): unknown {
  if (typeof value === 'string') return scrubSecrets(value);
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, scrubSecrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, scrubbed(child, scrubSecrets)]));
}

/** Returns the schema fragments of the problems, by JSON pointer. */
function fragments(problems: readonly ArgumentProblem[], schema: unknown): Record<string, unknown> {
  const places = [...new Set(problems.map((problem) => problem.schemaAt))].slice(0, MAX_FRAGMENTS);
  return Object.fromEntries(
    places.flatMap((at) => {
      const fragment = schemaFragment(schema, at);
      return fragment === undefined ? [] : [[at, fragment]];
    }),
  );
}

function shortKey(key: string | number): string | number {
  return typeof key === 'string' ? shortened(key, MAX_PLACE_KEY_CHARS) : key;
}

/** Converts indices of arrays to numbers, as `details.path` and `details.places` have them (G6.1). */
function numbered(path: readonly (string | number)[], args: unknown): (string | number)[] {
  let value = args;
  return path.map((key) => {
    const inArray = Array.isArray(value);
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
    return inArray ? Number(key) : key;
  });
}
