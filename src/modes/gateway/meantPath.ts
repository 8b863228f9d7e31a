import type { ChoiceGraph } from '../../catalog/choiceGraph.ts';
import { fitSegment, formatPath } from '../../catalog/path.ts';

type Graph = Pick<ChoiceGraph, 'resolve'>;

/** Limit of a path that is corrected. */
const MAX_PATH = 512;

/** Separators of segments: slashes of either kind; then dots and colons too, which no segment has. */
const SEPARATORS = [/[\\/]+/, /[\\/.:]+/];

/**
 * Corrects a path in another style (O10.5): `github/issues`, `/github/issues/`, `\\github\\issues`, `GitHub.issues`.
 * Returns the path unchanged where it is right, leads nowhere in any style, or leads to different places in two: the
 * grammar of paths is strict, and a violation is PATH_INVALID (G3.2).
 */
export function meantPath(path: string, graph: Graph): string {
  if (path.length > MAX_PATH || leads(path, graph)) return path;
  const styles = SEPARATORS.map((separator) =>
    path
      .trim()
      .split(separator)
      .filter((segment) => segment !== ''),
  );
  const meant = new Set(
    styles
      .filter((segments) => segments.length > 0)
      .map((segments) => formatPath(segments.map(meantSegment)))
      .filter((one) => leads(one, graph)),
  );
  const [only, ...others] = meant;
  return only === undefined || others.length > 0 ? path : only;
}

function meantSegment(given: string): string {
  return /[a-z0-9]/i.test(given) ? fitSegment(given.trim()) : given;
}

function leads(path: string, graph: Graph): boolean {
  try {
    graph.resolve(path);
    return true;
  } catch {
    return false;
  }
}
