import { CatalogError } from '../../catalog/catalogError.ts';
import type { ChoiceGraph } from '../../catalog/choiceGraph.ts';
import { GatewayError } from '../../ops/gatewayError.ts';
import { meantBy } from '../../ops/nearest.ts';

/** What is longer was not written as a path of ours. */
const MAX_PATH = 512;

/**
 * A path that leads nowhere, with the one that was most likely meant. It is never read as that one: the grammar of
 * paths is strict (000 §3.2), and what breaks it is PATH_INVALID (§3.4).
 */
export function pathError(error: unknown, path: string, graph: Pick<ChoiceGraph, 'resolve'>): unknown {
  if (!(error instanceof CatalogError)) return error;
  if (error.code === 'PATH_INVALID') {
    const meant = writtenRight(path, graph);
    if (meant === undefined) return new GatewayError(error.code, error.message, { path });
    return new GatewayError(error.code, `${error.message} Did you mean "${meant}"?`, {
      path,
      details: { nearest: meant },
    });
  }
  if (error.code !== 'PATH_NOT_FOUND' || !error.missing) return error;
  const { parent, label, siblings } = error.missing;
  const sibling = meantBy(label, siblings);
  const nearest = sibling === undefined ? parent : `${parent === '/' ? '' : parent}/${sibling}`;
  const message = `${error.message} The nearest is "${nearest}"; browse "${parent}" for all there.`;
  return new GatewayError(error.code, message, { path, details: { nearest } });
}

/** `github/issues`, `/github/issues/`, `\github\issues`, `GitHub.issues`: another style of a path that there is. */
function writtenRight(path: string, graph: Pick<ChoiceGraph, 'resolve'>): string | undefined {
  if (path.length > MAX_PATH) return undefined;
  const segments = path.toLowerCase().split(/[\s\\/.:]+/);
  const meant = `/${segments.filter((segment) => segment !== '').join('/')}`;
  try {
    graph.resolve(meant);
    return meant === '/' ? undefined : meant;
  } catch {
    return undefined;
  }
}
