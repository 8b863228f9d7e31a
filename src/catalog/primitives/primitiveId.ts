import { CatalogError } from '../catalogError.ts';
import { formatToolId, parseToolId, type ToolIdParts } from '../toolId.ts';

export type PrimitiveKind = 'tool' | 'resource' | 'prompt';

export interface PrimitiveIdParts extends ToolIdParts {
  kind: PrimitiveKind;
}

const KIND_SEPARATOR = '::';

/** Formats `resource::` or `prompt::` and the grammar of a `tool_id`. The kind of a tool is implied (G10.1). */
export function formatPrimitiveId(parts: PrimitiveIdParts): string {
  if (parts.kind === 'tool') return formatToolId(parts);
  if (parts.kind !== 'resource' && parts.kind !== 'prompt') {
    throw new CatalogError(
      'unknown_kind',
      `A primitive is a tool, a resource or a prompt, not "${String(parts.kind)}".`,
    );
  }
  return `${parts.kind}${KIND_SEPARATOR}${formatToolId(parts)}`;
}

/** Parses canonical ids, the inverse of `formatPrimitiveId`. An id with `~N` is an opaque key and rejected (G10.3). */
export function parsePrimitiveId(id: unknown): PrimitiveIdParts {
  if (typeof id !== 'string') throw new CatalogError('not_a_string', `A primitive id is a string, not ${typeof id}.`);
  const at = id.indexOf(KIND_SEPARATOR);
  if (at < 0) return { kind: 'tool', ...parseToolId(id) };
  const kind = id.slice(0, at);
  if (kind !== 'resource' && kind !== 'prompt') {
    throw new CatalogError('unknown_kind_prefix', `"${kind.slice(0, 40)}::" is neither "resource::" nor "prompt::".`);
  }
  return { kind, ...parseToolId(id.slice(at + KIND_SEPARATOR.length)) };
}

/**
 * Keeps the first of equal ids and makes later ones `id~2`, `id~3`, in order (G10.3). The result has the length of the
 * input.
 */
export function resolveCollisions(ids: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return ids.map((id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id}~${count}`;
  });
}
