/** Capabilities in transparent mode (M4.4). The host answers `initialize` with these: no catalog, no worker. */
export const TRANSPARENT_CAPABILITIES = { tools: { listChanged: true }, logging: {} } as const;

export const TRANSPARENT_INSTRUCTIONS = `Waygate lists the tools of all of this user's MCP servers without their arguments.
1. tool_hydrate {"tool_id": "<a name from the list>"} shows what arguments a tool takes.
2. tool_execute {"tool_id": "<the same>", "args": {...}} runs it. Do not call the listed tools directly.
3. A long result comes as a digest with a handle: tool_view reads more of it.
An answer that begins with Error says what to do next.`;
