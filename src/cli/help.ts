import { userConfigFile } from '../config/state/stateFolder.ts';

export const HELP = (): string => `waygate: a local gateway to all your MCP servers

  waygate serve  [--workspace DIR]           MCP server on stdio, started by your client
  waygate serve  --mode gateway | transparent | passthrough
                                             gateway: three tools for all servers; transparent: every tool,
                                             without its parameters; passthrough: everything unchanged
  waygate serve  --catalog FILE              tools, resources and prompts from a file (JSON, YAML) with canned
                                             answers; no servers are started
  waygate serve  --http [--port N] [--token-file FILE | --no-token]
                                             the same at a URL of this machine, with a bearer token
  waygate status                             the workspace's gateway, its servers and sessions
  waygate health [--follow]                  health of the gateway and its servers; prints every change
  waygate telemetry [--follow]               counts of requests, errors and tokens; prints every event
  waygate reload                             replaces the gateway when a new one is ready; no session ends
  waygate stop                               stops the gateway and all its servers
  waygate browse QUERY | /path [--explain]   shows what a model would find, and why
  waygate catalog [--stats]                  lists every tool by its path; or their cost for a model
  waygate scan [NAME] [--sarif]              looks for hidden instructions in what servers list; exits with 10 for
                                             findings to look at, 11 for findings to act on
  waygate trust                              what each server lists, compared with what you approved
  waygate trust diff NAME | TOOL_ID          shows changes, and the pin that accepts exactly them
  waygate trust accept NAME | TOOL_ID [--pin HHHHHHHH]
                                             accepts what diff showed; without --pin it shows and asks
  waygate trust block NAME | TOOL_ID         offers a tool no longer, or nothing of a server
  waygate trust quarantine | release NAME    offers nothing of a server until its release
  waygate trust log | verify                 your decisions; exits with 1 where the log was changed
  waygate lock [--check] [--run]             writes waygate.lock, which pins the workspace's servers for your team;
                                             or compares with it, and exits with 10 if anything differs. --run
                                             starts unapproved servers for this run alone (CI)
  waygate allow | deny NAME | TOOL_ID [--here]
                                             adds a rule to your waygate.json, or here to DIR's
  waygate learned [--forget TOOL_ID | --forget-all]
                                             shows or erases the effects of use on the ranking
  waygate approve [--all | NAME…] [--hash H] shows what the workspace's servers run; asks and approves
  waygate approve --revoke --all | NAME… | TOOL_ID…
                                             revokes approvals of servers, and of tools that run without asking
  waygate secret set NAME | list | delete NAME
                                             values for \${secret:NAME}, and for \${input:ID} (NAME is input:ID)
  waygate login [NAME] | logout NAME         signs you in to a server that requires it, or out
  waygate import [NAME…] [--from CLIENT | FILE] [--all] [--dry-run] [--remove-from-source]
                                             imports the servers of other MCP clients
  waygate client-config CLIENT               prints the entry that a client needs to use Waygate for DIR
  waygate skill install [--into DIR] [--replace]
                                             installs the mcp-bootstrap skill for this workspace's agent, or into
                                             DIR: how to build an MCP server that survives its own crashes
  waygate --version | --help

DIR is the current folder by default. Every command takes --workspace DIR. With --config FILE it addresses a separate
gateway that only FILE configures; commands that need no servers also take --catalog FILE. Commands print text, or
data with --json. Servers are configured in DIR/.vscode/waygate.json:
  { "servers": { "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "\${userHome}"] } } }

CLIENT is vscode, claude-code, claude-desktop, cursor, windsurf, codex, gemini, zed,
copilot-cli, cline, roo, continue, kiro, opencode or lm-studio.
A server in DIR's file runs only after you have approved it. Your own waygate.json, for every workspace, is
${userConfigFile()}. Servers in it or in FILE need no approval. Blocks of DIR's file override yours, except
for what yours forbids.
State is kept in WAYGATE_STATE_DIR, or in your system's usual place.
`;
