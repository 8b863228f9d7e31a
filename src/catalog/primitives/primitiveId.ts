import { CatalogError } from '../catalogError.ts';
import { formatToolId, parseToolId, type ToolIdParts } from '../toolId.ts';

export type PrimitiveKind = 'tool' | 'resource' | 'prompt';

export interface PrimitiveIdParts extends ToolIdParts {
  kind: PrimitiveKind;
}

const KIND_SEPARATOR = '::';

/** `resource::` or `prompt::` and then the grammar of §1; a tool's kind is implied and never written (000 §9.1). */
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

/** Inverse of `formatPrimitiveId`, for canonical ids only: a `~N` id is an opaque key and is refused (000 §9.1). */
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

/** The first of equal ids keeps it; later ones, in order, become `id~2`, `id~3` (000 §9.3). Same length as the input. */
export function resolveCollisions(ids: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return ids.map((id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id}~${count}`;
  });
}
