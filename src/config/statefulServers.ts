/** Well-known servers that remember what their client did: pages of a browser, a chain of thoughts. */
const STATEFUL =
  /sequential-?thinking|@playwright\/mcp|playwright-mcp|mcp-playwright|mcp\/playwright|chrome-devtools-mcp|puppeteer|browser-?mcp|selenium/i;

/** Whether the command of a server is known to need a process for each client session. */
export function isKnownStateful(command: string, args: readonly string[] = []): boolean {
  return [command, ...args].some((word) => STATEFUL.test(word));
}
