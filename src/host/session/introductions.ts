import type { Mode } from '../../link/mode.ts';
import { INSTRUCTIONS, SERVER_CAPABILITIES, SERVER_INFO } from '../../modes/shared/introduction.ts';
import { TRANSPARENT_CAPABILITIES, TRANSPARENT_INSTRUCTIONS } from '../../modes/transparent/introduction.ts';

export interface Introduction {
  capabilities: Readonly<Record<string, unknown>>;
  serverInfo: object;
  instructions: string;
}

/** Returns an introduction under the name that the client knows. */
export function named<T extends Introduction>(introduction: T, name: string | undefined): T {
  if (name === undefined) return introduction;
  return { ...introduction, serverInfo: serverInfoOf(name) };
}

/** Returns the identity of the server, under the name that the client knows. */
export function serverInfoOf(name: string | undefined): object {
  return name === undefined ? SERVER_INFO : { ...SERVER_INFO, name, title: name };
}

/** Returns the introduction of a mode that needs no worker. */
export function introductionOf(mode: Mode, name: string | undefined): Introduction | undefined {
  const introduction = INTRODUCTIONS[mode];
  return introduction && named(introduction, name);
}

/**
 * Answers to `initialize` that need no worker. Passthrough mode has none: the servers define its capabilities, so the
 * client waits for the worker, which knows them from the servers or their snapshots.
 */
const INTRODUCTIONS: Readonly<Record<Mode, Introduction | undefined>> = {
  gateway: { capabilities: SERVER_CAPABILITIES, serverInfo: SERVER_INFO, instructions: INSTRUCTIONS },
  transparent: {
    capabilities: TRANSPARENT_CAPABILITIES,
    serverInfo: SERVER_INFO,
    instructions: TRANSPARENT_INSTRUCTIONS,
  },
  passthrough: undefined,
};
