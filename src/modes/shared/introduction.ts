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
export const INSTRUCTIONS = `Waygate is the door to all of this user's MCP servers (files, git, issues, databases, browsers, cloud, chat ...). Their tools are not listed: find them here.
1. tool_browse {"query": "create a github issue"} finds tools by what they do, one capability a query; {"path": "/"} lists servers, {"path": "/github"} what is inside.
2. tool_execute {"tool_id": "<an id from browse, whole>", "args": {...}} runs one. Arguments: tool_view {"handle": "schema:<tool_id>", "selector": {}}.
3. A long result comes as a digest with a handle: tool_view reads more of it.
If a server is still starting, browse again shortly. An answer that begins with Error says what to do next.`;
