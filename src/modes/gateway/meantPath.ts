import type { ChoiceGraph } from '../../catalog/choiceGraph.ts';
import { fitSegment, formatPath } from '../../catalog/path.ts';

type Graph = Pick<ChoiceGraph, 'resolve'>;

/** What is longer was not written as a path of ours. */
const MAX_PATH = 512;

/** What stands between two segments: a slash of either kind; then a dot or a colon too, which no segment has. */
const SEPARATORS = [/[\\/]+/, /[\\/.:]+/];

/**
 * The path that can only be meant (004, Normalization): `github/issues`, `/github/issues/`, `\\github\\issues`,
 * `GitHub.issues`. Itself where it is right, where it leads nowhere in any style, or to different places in two: the
 * grammar of paths is strict (000 §3.2), and what breaks it is PATH_INVALID (§3.4).
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
