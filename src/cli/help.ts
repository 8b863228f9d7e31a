import { userConfigFile } from '../config/state/stateFolder.ts';
import { CLIENT_IDS } from '../import/clientIds.ts';
import { COMMAND_NAMES, type CommandName, OPTIONS } from './commands.ts';

/** Options that mean the same for every command that takes them. */
const COMMON = {
  workspace: ['DIR', 'folder of the gateway; the current one by default'],
  config: ['FILE', 'a separate gateway that only FILE configures'],
  catalog: ['FILE', 'tools, resources and prompts from a file (JSON, YAML) with canned answers; starts no server'],
  json: ['', 'prints data instead of text'],
} as const;

type OwnOption<Name extends CommandName> = Exclude<keyof (typeof OPTIONS)[Name], keyof typeof COMMON>;

interface CommandHelp<Name extends CommandName> {
  /** Fits on one line beside the name. */
  purpose: string;
  /** Arguments of each form of the command. */
  forms: readonly string[];
  /** Placeholder and meaning of each option of its own. */
  options: { readonly [Option in OwnOption<Name>]: readonly [string, string] };
  /** Arguments of an example. */
  example: string;
  more?: string;
}

const BY_COMMAND: { readonly [Name in CommandName]: CommandHelp<Name> } = {
  serve: {
    purpose: 'runs the MCP server that your client starts',
    forms: ['', '--http'],
    options: {
      mode: [
        'MODE',
        'gateway: three tools for all servers; transparent: every tool without its arguments; passthrough',
      ],
      name: ['NAME', 'name of the server for this client; waygate by default'],
      http: ['', 'serves at a URL of this machine instead of stdio'],
      port: ['N', 'port of the URL, 7420 by default; 0 chooses a free one'],
      'token-file': ['FILE', 'bearer token of the URL; by default Waygate makes one'],
      'no-token': ['', 'lets every program of this machine use the URL'],
    },
    example: '--http --port 8080',
  },
  status: {
    purpose: 'shows the gateway of the workspace, its servers and sessions',
    forms: [''],
    options: {},
    example: '',
  },
  health: {
    purpose: 'shows the health of the gateway and of each server',
    forms: [''],
    options: { follow: ['', 'prints every change until Ctrl-C'] },
    example: '--follow',
  },
  telemetry: {
    purpose: 'counts requests, errors, latencies and tokens',
    forms: [''],
    options: { follow: ['', 'prints every event until Ctrl-C'] },
    example: '--follow',
  },
  reload: {
    purpose: 'replaces the gateway when a new one is ready; no session ends',
    forms: [''],
    options: {},
    example: '',
  },
  stop: { purpose: 'ends the gateway and all its servers', forms: [''], options: {}, example: '' },
  browse: {
    purpose: 'shows what a model would find',
    forms: ['QUERY', '/PATH'],
    options: { explain: ['', 'adds the reasons for the order'] },
    example: '"read a file" --explain',
  },
  catalog: {
    purpose: 'lists every tool by its path',
    forms: [''],
    options: { stats: ['', 'shows what the tools would cost a model, and what it pays through Waygate'] },
    example: '--stats',
  },
  scan: {
    purpose: 'looks for hidden instructions in what servers list',
    forms: ['[NAME]'],
    options: { sarif: ['', 'prints SARIF for code scanning'] },
    example: 'github',
    more: 'Exits with 10 for findings to look at, and with 11 for findings to act on.',
  },
  trust: {
    purpose: 'shows what servers changed since you approved them',
    forms: [
      '',
      'diff NAME | TOOL_ID',
      'accept NAME | TOOL_ID',
      'block NAME | TOOL_ID',
      'quarantine | release NAME',
      'log | verify',
    ],
    options: { pin: ['PIN', 'accepts exactly what diff showed; without it, accept shows the change and asks'] },
    example: 'diff github',
    more: 'Block offers a tool no longer, quarantine nothing of a server. Log shows your decisions; verify exits with 1 where the log was changed.',
  },
  lock: {
    purpose: "pins the workspace's servers in waygate.lock for your team",
    forms: [''],
    options: {
      check: ['', 'compares with waygate.lock, and exits with 10 if anything differs'],
      run: ['', 'starts unapproved servers for this run alone (CI)'],
    },
    example: '--check --run',
  },
  allow: {
    purpose: 'adds a rule that allows a server or a tool',
    forms: ['NAME | PATH | TOOL_ID'],
    options: { here: ['', "writes it into the workspace's waygate.json instead of yours"] },
    example: 'github --here',
  },
  deny: {
    purpose: 'adds a rule that denies a server or a tool',
    forms: ['NAME | PATH | TOOL_ID'],
    options: { here: ['', "writes it into the workspace's waygate.json instead of yours"] },
    example: 'github',
  },
  learned: {
    purpose: 'shows or erases the effects of use on the ranking',
    forms: [''],
    options: { forget: ['TOOL_ID', 'erases them for one tool'], 'forget-all': ['', 'erases all'] },
    example: '--forget-all',
  },
  approve: {
    purpose: "shows what the workspace's servers would run, asks and approves",
    forms: ['', 'NAME…', '--revoke NAME… | TOOL_ID…'],
    options: {
      all: ['', 'asks about every server, or with --revoke revokes every approval'],
      hash: ['H', 'approves without a question the command of this hash, which waygate approve shows'],
      revoke: ['', 'revokes approvals of servers, and of tools that run without asking'],
    },
    example: 'github',
  },
  secret: {
    purpose: 'keeps the values of secrets and inputs',
    forms: ['set NAME', 'set input:ID', 'list', 'delete NAME'],
    options: {},
    example: 'set github-token',
    more: 'NAME is that of \u0024{secret:NAME}, and ID that of \u0024{input:ID} in waygate.json. Set asks for the value without showing it, or reads it from stdin.',
  },
  login: {
    purpose: 'signs you in to a server that asks for it',
    forms: ['[NAME]'],
    options: {},
    example: 'issues',
  },
  logout: { purpose: 'signs you out of a server', forms: ['NAME'], options: {}, example: 'issues' },
  import: {
    purpose: 'imports the servers of other MCP clients',
    forms: ['[NAME…]'],
    options: {
      from: ['CLIENT | FILE', 'reads only this client or file; may be repeated'],
      all: ['', 'imports every server that is found'],
      'dry-run': ['', 'writes nothing, and shows the change'],
      'remove-from-source': ['', 'also removes the entries from the files of the clients; asks, and keeps a backup'],
      yes: ['', 'removes them without a question'],
    },
    example: '--from cursor --dry-run',
    more: `CLIENT is one of ${CLIENT_IDS.join(', ')}.`,
  },
  'client-config': {
    purpose: 'prints or writes the entry that a client needs to use Waygate',
    forms: ['CLIENT', 'CLIENT --write'],
    options: {
      write: ['', "puts the entry into the client's file: shows the change, asks, and keeps a backup"],
      yes: ['', 'writes without a question'],
    },
    example: 'cursor --write',
    more: `CLIENT is one of ${CLIENT_IDS.join(', ')}.`,
  },
  records: {
    purpose: 'runs the MCP server that reads records under a grant, and grants them',
    forms: ['', '--provider-url URL', 'grant history | agents | FOLDER', 'revoke CONNECTION', 'sources | status'],
    options: {
      'provider-url': ['URL', 'resource server to read from, with the credential in the cache for it'],
      'cache-root': ['DIR', 'folder of the cached credentials; .pdpp by default'],
      'server-name': ['NAME', 'name of the server for its client; waygate-records by default'],
      stream: ['NAME[=FIELD,…]', 'grants only this stream, or these fields of it; may be repeated'],
      since: ['TIME', 'grants nothing older, such as 2026-11-01 or 30d'],
      until: ['TIME', 'grants nothing newer'],
      expires: ['TIME', 'ends the grant then, such as 7d'],
    },
    example: 'grant agents --stream sessions --since 30d',
    more: 'Without an address it serves the records of this machine. Exits with 77 for an owner credential, with 78 without a valid one.',
  },
  plugin: {
    purpose: 'makes an Agent Plugin of Waygate, and installs it in a client',
    forms: ['build', 'install copilot-cli | codex | vscode'],
    options: { into: ['DIR', "folder of the plugin; one in Waygate's state by default"] },
    example: 'install copilot-cli',
    more: 'The plugin has the program, its MCP entry and the skill mcp-bootstrap. Clients run it with the node on their PATH.',
  },
  skill: {
    purpose: 'installs the mcp-bootstrap skill for your agent',
    forms: ['install'],
    options: {
      into: ['DIR', "folder of skills; the workspace's own by default"],
      replace: ['', 'overwrites files that differ'],
    },
    example: 'install',
    more: 'The skill explains how to build an MCP server that survives its own crashes.',
  },
  session: {
    purpose: 'shows a recorded session, or packs it for a question',
    forms: ['FILE'],
    options: {
      query: ['QUESTION', 'prints only what the session says about it, within the budget'],
      budget: ['N', 'tokens (cl100k) for the answer to --query; 4000 by default'],
      item: ['ID', 'prints one item whole'],
    },
    example: 'session.jsonl --query "invoice status" --budget 2000',
    more: 'FILE has a JSON object a line, with id, type, text or content, and parent_id where an item answers another.',
  },
  uninstall: {
    purpose: 'lists what Waygate keeps on this machine, asks, and removes it',
    forms: [''],
    options: { yes: ['', 'removes without a question'] },
    example: '',
    more: 'Your waygate.json files stay. Remove the extension or the npm package afterwards.',
  },
};

/** Way to the first call, for a command line without a command. */
export const START = `waygate: one MCP server in front of all your MCP servers. In your project's folder:

  waygate import                        copies the servers of your other MCP clients into .vscode/waygate.json
  waygate approve --all                 shows what each server would run, and asks
  waygate browse "read a file"          shows what your agent would find
  waygate client-config CLIENT --write  adds Waygate to a client: cursor, claude-code, codex …
  waygate status                        shows what runs

waygate --help lists all commands; waygate COMMAND --help explains one, with an example.
`;

export function overview(): string {
  const width = Math.max(...COMMAND_NAMES.map((name) => name.length));
  const rows = COMMAND_NAMES.map((name) => `  waygate ${name.padEnd(width)}  ${BY_COMMAND[name].purpose}\n`);
  return `waygate: one MCP server in front of all your MCP servers

${rows.join('')}  waygate --version | --help

waygate COMMAND --help explains a command, with an example. Every command is about the gateway of the current folder;
--workspace DIR names another. Servers are configured in .vscode/waygate.json, and run only after you have approved
them:
  { "servers": { "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "\${userHome}"] } } }

Your own file, for every workspace, is ${userConfigFile()}. Its servers need no approval.
State is kept in WAYGATE_STATE_DIR, or in your system's usual place.
`;
}

export function helpOf(name: CommandName): string {
  const { purpose, forms, options, example, more } = BY_COMMAND[name] as CommandHelp<CommandName>;
  const meanings: Readonly<Record<string, readonly [string, string]>> = { ...COMMON, ...options };
  // A command's own options come before those of all commands.
  const listed = [...Object.keys(options), ...Object.keys(COMMON)].filter((option) => option in OPTIONS[name]);
  const rows = listed.map((option): [string, string] => {
    const [value, meaning] = meanings[option] as [string, string];
    return [`--${option}${value === '' ? '' : ` ${value}`}`, meaning];
  });
  const width = Math.max(...rows.map(([option]) => option.length));
  const line = (args: string): string => `  waygate ${name}${args === '' ? '' : ` ${args}`}\n`;
  return [
    `waygate ${name} ${purpose}.\n\n`,
    ...forms.map(line),
    '\n',
    ...rows.map(([option, meaning]) => `  ${option.padEnd(width)}  ${meaning}\n`),
    ...(more === undefined ? [] : [`\n${more}\n`]),
    `\nExample:\n${line(example)}`,
  ].join('');
}
