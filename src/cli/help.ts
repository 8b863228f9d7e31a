import { userConfigFile } from '../config/state/stateFolder.ts';

export const HELP = (): string => `waygate: one small door to all your MCP servers

  waygate serve  [--workspace DIR]           the MCP server on stdio that your client starts
  waygate serve  --mode gateway | transparent | passthrough
                                             how this client sees the servers: three tools for all of them, their
                                             tools without arguments, or everything as it is
  waygate serve  --catalog FILE              the tools, resources and prompts that a file (JSON, YAML) lists, with
                                             canned answers, and no server at all
  waygate serve  --http [--port N] [--token-file FILE | --no-token]
                                             the same on a URL of this machine, with a bearer token
  waygate status                             the workspace's gateway, its servers and sessions
  waygate health [--follow]                  how it and its servers fare; again at every change
  waygate telemetry [--follow]               what it did, in numbers; then each event as it comes
  waygate reload                             a new gateway takes over when it is ready; no session ends
  waygate stop                               stops the gateway and all its servers
  waygate browse QUERY | /path [--explain]   what a model would find, and why
  waygate catalog [--stats]                  every tool by its path; or what it all would cost a model
  waygate learned [--forget TOOL_ID | --forget-all]
                                             what use has taught the ranking here, and how to erase it
  waygate approve [--all | NAME…]            shows what the servers of a workspace would run; lets them
  waygate approve --revoke --all | NAME… | TOOL_ID…
                                             takes that back, of servers and of tools that run unasked
  waygate secret set NAME | list | delete NAME
                                             what \${secret:NAME} stands for, or \${input:ID} (its name is input:ID)
  waygate login [NAME] | logout NAME         signs you in to a server at a URL that asks for it; or out again
  waygate import [NAME…] [--from CLIENT | FILE] [--all] [--dry-run] [--remove-from-source]
                                             brings the servers of other MCP clients here
  waygate client-config CLIENT               what that client needs to use Waygate for DIR
  waygate skill install [--into DIR] [--replace]
                                             puts the mcp-bootstrap skill where this workspace's agent finds it, or
                                             into DIR: how to build an MCP server that survives its own crashes
  waygate --version | --help

DIR is the current folder unless given. Every command takes --workspace DIR, and --config FILE: a gateway of its own
that FILE alone configures; those that need no server take --catalog FILE too. Commands print lines for a
reader, or the same as data with --json. Servers stand in DIR/.vscode/waygate.json:
  { "servers": { "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] } } }

CLIENT is vscode, claude-code, claude-desktop, cursor, windsurf, codex, gemini, zed or copilot-cli.
A server that DIR's file names runs once you have approved it. Your own waygate.json, for every workspace, is
${userConfigFile()}; what stands there, or in FILE, is approved by that. DIR's file counts over yours, by
the name of a server and by block, but for what yours forbids.
State is kept in WAYGATE_STATE_DIR, or where your system keeps such things.
`;
