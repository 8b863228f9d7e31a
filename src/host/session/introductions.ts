import type { Face } from '../../link/mode.ts';
import { INSTRUCTIONS, SERVER_CAPABILITIES, SERVER_INFO } from '../../modes/shared/introduction.ts';
import { TRANSPARENT_CAPABILITIES, TRANSPARENT_INSTRUCTIONS } from '../../modes/transparent/introduction.ts';

export interface Introduction {
  capabilities: object;
  serverInfo: object;
  instructions: string;
}

/**
 * What `initialize` is answered with before there is a worker. In passthrough mode there is none: what the servers
 * behind it can do is theirs to say, so there a client waits for the worker, which knows it from them or their snapshots.
 */
export const INTRODUCTIONS: Readonly<Record<Face, Introduction | undefined>> = {
  gateway: { capabilities: SERVER_CAPABILITIES, serverInfo: SERVER_INFO, instructions: INSTRUCTIONS },
  transparent: {
    capabilities: TRANSPARENT_CAPABILITIES,
    serverInfo: SERVER_INFO,
    instructions: TRANSPARENT_INSTRUCTIONS,
  },
  passthrough: undefined,
};
