export const HELP = `waygate: one small door to all your MCP servers

  waygate serve  [--workspace DIR]           the MCP server on stdio that your client starts
  waygate status [--workspace DIR] [--json]  the workspace's gateway, its servers and sessions
  waygate stop   [--workspace DIR]           stops the gateway and all its servers
  waygate --version | --help

DIR is the current folder unless given. Servers stand in DIR/.vscode/waygate.json:
  { "servers": { "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] } } }

State is kept in WAYGATE_STATE_DIR, or where your system keeps such things.
`;
