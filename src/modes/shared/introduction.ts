/**
 * Introduction of the gateway for a client that has not asked anything yet. The host answers `initialize` with it, so
 * it imports no catalog and no worker.
 */
import { VERSION } from '../../lib/build.ts';

/** Copilot builds tool ids and the prefix of these instructions from the name: one lower-case word. */
export const SERVER_INFO = { name: 'waygate', title: 'waygate', version: VERSION } as const;

/** Declared for empty lists too: servers come and go during a session. */
export const SERVER_CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
} as const;

/** The first 512 characters suffice to use the three tools well: some clients show no more. */
export const INSTRUCTIONS = `All of this user's MCP servers (files, git, issues, databases, browsers, cloud, chat ...) are behind Waygate. Their tools are not listed: find them here.
1. tool_browse {"query": "github create issue | open ticket"} finds tools: one capability a query, in English API words (verb, object, product), another wording after " | ".
2. tool_execute {"tool_id": "<whole id from browse>", "args": {...}} runs one. Arguments: tool_view {"handle": "schema:<tool_id>"}.
3. A long result is a digest with a handle: tool_view reads more.
An answer that begins with Error says what to do next. If one of these tools is disabled or not listed, first call the tool activate_... that contains it.`;
