import type { Catalog } from '../../catalog/catalog.ts';
import { GatewayError, type GatewayErrorCode } from '../../ops/gatewayError.ts';
import { meantBy } from '../../ops/nearest.ts';

/** A tool_id that the catalog does not hold: told with the id that was most likely meant, which is never guessed at. */
export function unknownTool(
  toolId: string,
  catalog: Catalog,
  code: GatewayErrorCode = 'HYDRATE_FAILED',
  path = toolId,
): GatewayError {
  const ids = catalog.tools.map((tool) => tool.id);
  // A model that forgets the hash means the one tool that begins so.
  const meant = meantBy(toolId, ids);
  const remedy = meant ? `Did you mean "${meant}"?` : 'Find its id with tool_browse.';
  return new GatewayError(code, `There is no tool ${JSON.stringify(toolId.slice(0, 120))}. ${remedy}`, {
    path,
    ...(meant ? { details: { nearest: meant } } : {}),
  });
}
