import { CatalogError } from './catalogError.ts';
import { isNamespace } from './toolId.ts';

const SEGMENT = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Segment for "all children at this level", allowed only at the end (G3.2). */
export const ALL_CHILDREN = '*';

/** Returns the segments of a path; `/` has none. Throws PATH_INVALID (G3.2). */
export function parsePath(path: unknown): string[] {
  if (typeof path !== 'string') throw invalid(path, 'a path is a text such as "/github/issues"');
  if (!path.startsWith('/')) throw invalid(path, 'it must start with "/"');
  if (path === '/') return [];
  if (path.endsWith('/')) throw invalid(path, 'it must not end with "/"');
  const segments = path.slice(1).split('/');
  segments.forEach((segment, index) => {
    if (segment === '') throw invalid(path, 'two slashes follow each other');
    if (segment === ALL_CHILDREN) {
      if (index < segments.length - 1) throw invalid(path, '"*" can only be the last segment');
    } else if (!SEGMENT.test(segment)) {
      throw invalid(path, `segment "${segment.slice(0, 64)}" must be lower-case a-z, 0-9, "_", "-", at most 64`);
    } else if (index === 0 && !isNamespace(segment)) {
      throw invalid(path, `namespace "${segment}" must start with a letter`);
    }
  });
  return segments;
}

/** Returns the path of segments. */
export function formatPath(segments: readonly string[]): string {
  return `/${segments.join('/')}`;
}

/** Fits any text to a legal segment: lower case, "-" for all other characters. */
export function fitSegment(text: string): string {
  const lower = text.toLowerCase();
  if (SEGMENT.test(lower)) return lower;
  const fitted = lower.replaceAll(/[^a-z0-9_-]+/g, '-').replaceAll(/^[-_]+|[-_]+$/g, '');
  return fitted.slice(0, 64).replace(/[-_]+$/, '') || 'tool';
}

function invalid(path: unknown, why: string): CatalogError {
  const shown = typeof path === 'string' ? `"${path.slice(0, 120)}"` : typeof path;
  return new CatalogError('PATH_INVALID', `Path ${shown} is not valid: ${why}.`);
}
