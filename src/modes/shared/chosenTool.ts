import type { Catalog } from '../../catalog/catalog.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { validateSelection } from '../../ranking/selection.ts';
import { type ServerDirectory, unknownTool } from './unknownTool.ts';

/** Finds the tool that a `tool_id` names. Everything unclear is refused with the nearest id, because a call may have effects. */
export function chosenTool(id: string, catalog: Catalog, directory: ServerDirectory): CatalogTool {
  const chosen = meantChoice(id, catalog);
  if (chosen) return chosen;
  throw unknownTool(id, catalog, directory);
}

/**
 * Finds the tool, resource or prompt that an id names. Stray white space, another case, or a missing version and hash
 * are corrected where one alone can be meant (G5.12).
 */
export function meantChoice(
  id: string,
  catalog: { byId: ReadonlyMap<string, CatalogTool>; tools: readonly CatalogTool[] },
): CatalogTool | undefined {
  const exact = catalog.byId.get(id);
  if (exact) return exact;
  const { selectedId, repair } = validateSelection(
    id,
    catalog.tools.map((tool) => tool.id),
  );
  const tool = selectedId === null ? undefined : catalog.byId.get(selectedId);
  const wholeName = tool !== undefined && /^[@#]/.test(tool.id.slice(id.trim().length));
  return tool && (repair !== 'prefix' || wholeName) ? tool : undefined;
}
