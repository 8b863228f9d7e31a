import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateJson, writePrivateJson } from '../../config/state/privateFile.ts';
import { BUILD, compareBuilds } from '../../lib/build.ts';

/** Beside the rendezvous: every host of this build would prepare it again, and it would fail again. */
const FILE = 'failedBuild.json';
/** What made it fail may be gone by then. */
const RETRY_AFTER_MS = 10 * 60_000;

/** Why this build could not take over a while ago; `undefined` where it may be tried. */
export function failedLately(folder: string, now = Date.now()): string | undefined {
  const { build, reason, at } = (readPrivateJson(join(folder, FILE)) ?? {}) as Record<string, unknown>;
  if (build !== BUILD || typeof reason !== 'string' || typeof at !== 'number') return undefined;
  // A clock that was set back must not keep a build away for ever.
  return at <= now && now - at < RETRY_AFTER_MS ? reason : undefined;
}

/** Of the same build the person hears himself: he, or his configuration, has asked for it. */
export function noteFailure(folder: string, serving: string, error: unknown): void {
  if (compareBuilds(serving, BUILD) >= 0) return;
  try {
    writePrivateJson(join(folder, FILE), { build: BUILD, reason: (error as Error).message, at: Date.now() });
  } catch {
    // A disk that refuses costs another attempt.
  }
}

/** It serves, or somebody else does. */
export function forgetFailure(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}
