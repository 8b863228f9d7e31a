/** What *Create Configuration* writes: valid as it stands, and it tells what can be said. */
export const CONFIGURATION_TEMPLATE = `{
  // The MCP servers behind Waygate. Your agent sees three tools and finds what it needs through them.
  "servers": {
    // A server is a program that speaks MCP on its standard input and output:
    //
    // "files": {
    //   "command": "npx",
    //   "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]
    // }
    //
    // It may also have "env", "envFile", "cwd", and "disabled": true.
  },
  // Arguments that a model sends in the wrong form ("3" for 3) are repaired where their meaning is plain.
  "tolerantArgs": true
}
`;
