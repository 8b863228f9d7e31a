/**
 * Build of this code. esbuild inserts both values; code that runs from source (unit tests) counts as the oldest build.
 * A build reads `version+yyyymmddhhmmss`, so that two builds of one version have an order too.
 */
declare const __WAYGATE_VERSION__: string | undefined;
declare const __WAYGATE_BUILD__: string | undefined;

export const VERSION: string = typeof __WAYGATE_VERSION__ === 'string' ? __WAYGATE_VERSION__ : '0.0.0';
export const BUILD: string = typeof __WAYGATE_BUILD__ === 'string' ? __WAYGATE_BUILD__ : `${VERSION}+0`;

/**
 * Compares builds: negative when `a` is older than `b`. A worker gives way to a newer build only, because two builds
 * that replaced each other would never come to rest. Text that is no build is older than any.
 */
export function compareBuilds(a: string, b: string): number {
  const left = numbersOf(a);
  const right = numbersOf(b);
  for (let i = 0; i < 4; i++) {
    const difference = (left[i] ?? -1) - (right[i] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(build: string): number[] {
  const parts = /^(\d+)\.(\d+)\.(\d+)(?:-[^+]*)?\+(\d+)$/.exec(build);
  return parts ? parts.slice(1, 5).map(Number) : [];
}
