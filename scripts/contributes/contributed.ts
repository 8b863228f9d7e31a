import {
  ACTIVITY_VIEW_ID,
  APPROVAL_SCHEME,
  CONFIGURATION_PATH,
  type CommandId,
  RECORDS_VIEW_ID,
  RESULTS_VIEW_ID,
  REVIEW_EXTENSION,
  type SettingId,
  type SettingTypes,
  TOOLS_VIEW_ID,
  TRUST_SCHEME,
  when,
} from '../../src/extension/contributions.ts';

import type { StepKey } from '../../src/extension/walkthrough/firstSteps.ts';

/** Settings, views, menus, welcome texts and first steps of the manifest. The extension itself needs only their ids. */

export interface SettingContribution<T> {
  type: T extends string ? 'string' : T extends boolean ? 'boolean' : 'number';
  default: T;
  scope: 'machine' | 'window' | 'resource';
  markdownDescription: string;
  /** True if the setting determines code that runs, so that an untrusted workspace must not set it. */
  restricted: boolean;
}

export const SETTINGS: { [K in SettingId]: SettingContribution<SettingTypes[K]> } = {
  'waygate.gateway.nodePath': {
    type: 'string',
    default: '',
    scope: 'machine',
    markdownDescription:
      'Absolute path of the Node.js executable (20.12 or newer) that runs the gateway. Leave it empty for the editor’s own Node.js.',
    restricted: true,
  },
  'waygate.records.providerUrl': {
    type: 'string',
    default: '',
    scope: 'machine',
    markdownDescription:
      'Address of a record provider, such as `https://records.example.com`. With one, the editor also gets the MCP server *Waygate Records*, whose five tools read your records under a grant. Its token is kept in the secret storage of the editor. `embedded` reads the records of this machine instead: the history of the first folder’s gateway, and the sources that you granted there. They need no token.',
    restricted: true,
  },
};

export const VIEWS = {
  [TOOLS_VIEW_ID]: { name: 'Tools', icon: 'media/waygate.svg' },
  [ACTIVITY_VIEW_ID]: { name: 'Activity', icon: 'media/waygate.svg', when: when('waygate.state', 'active') },
  [RESULTS_VIEW_ID]: {
    name: 'Results',
    icon: 'media/waygate.svg',
    visibility: 'collapsed',
    when: when('waygate.state', 'active'),
  },
  [RECORDS_VIEW_ID]: {
    name: 'Records',
    icon: 'media/waygate.svg',
    visibility: 'collapsed',
    when: when('waygate.state', 'active'),
  },
} as const;

export interface MenuItem {
  command: CommandId;
  when: string;
  group: string;
}

const IN_TOOLS = `view == ${TOOLS_VIEW_ID}`;

const IN_ACTIVITY = `view == ${ACTIVITY_VIEW_ID}`;
const IN_RESULTS = `view == ${RESULTS_VIEW_ID}`;
const IN_RECORDS = `view == ${RECORDS_VIEW_ID}`;
const ON_TOOL_CALL = `${IN_ACTIVITY} && viewItem =~ /^waygate\\.call\\.\\w+\\.tool$/`;
const ON_RESULTS = `${IN_RESULTS} && viewItem =~ /^waygate\\.result(Group)?$/`;
const ON_RESULT_GROUP = `${IN_RESULTS} && viewItem == waygate.resultGroup`;
const ON_RESULT = `(${IN_RESULTS} || ${IN_ACTIVITY}) && viewItem == waygate.result`;

/** Row of a server in a state, with some flags behind it (`serverRow.ts`). */
const server = (state = '\\w+', flags = ''): string =>
  `${IN_TOOLS} && viewItem =~ /^waygate\\.server\\.${state}\\b${flags}/`;
const ON_TOOL = `${IN_TOOLS} && viewItem == waygate.tool`;
const ON_FOLDER = `${IN_TOOLS} && viewItem == waygate.folder`;
const WITH_HELD = server('\\w+', '.*\\.(held|quarantined)$');
/** Right document of a comparison. */
const IN_REVIEW = `resourceScheme == ${TRUST_SCHEME} && resourceFilename =~ /^now/`;

export const MENUS: Record<'view/title' | 'view/item/context' | 'editor/title', readonly MenuItem[]> = {
  'view/title': [
    { command: 'waygate.findTool', when: IN_TOOLS, group: 'navigation@0' },
    { command: 'waygate.getStarted', when: IN_TOOLS, group: '3_help@1' },
    { command: 'waygate.refresh', when: IN_TOOLS, group: 'navigation@1' },
    { command: 'waygate.openDashboard', when: IN_TOOLS, group: 'navigation@2' },
    { command: 'waygate.openConfiguration', when: IN_TOOLS, group: '1_open@1' },
    { command: 'waygate.importServers', when: IN_TOOLS, group: '1_open@2' },
    { command: 'waygate.showLog', when: IN_TOOLS, group: '1_open@3' },
    { command: 'waygate.reload', when: IN_TOOLS, group: '2_gateway@1' },
    { command: 'waygate.restart', when: IN_TOOLS, group: '2_gateway@2' },
    { command: 'waygate.approveServers', when: IN_TOOLS, group: '2_gateway@3' },
    {
      command: 'waygate.filterCalls',
      when: `${IN_ACTIVITY} && !waygate.callsFiltered`,
      group: 'navigation@1',
    },
    { command: 'waygate.clearCallFilter', when: `${IN_ACTIVITY} && waygate.callsFiltered`, group: 'navigation@1' },
    { command: 'waygate.clearCalls', when: IN_ACTIVITY, group: 'navigation@2' },
    { command: 'waygate.exportCalls', when: IN_ACTIVITY, group: '1_export@1' },
    { command: 'waygate.addRecordSource', when: IN_RECORDS, group: 'navigation@1' },
    { command: 'waygate.refreshRecords', when: IN_RECORDS, group: 'navigation@2' },
    { command: 'waygate.openSession', when: IN_RECORDS, group: '1_open@1' },
    { command: 'waygate.setRecordToken', when: IN_RECORDS, group: '2_remote@1' },
  ],
  'view/item/context': [
    { command: 'waygate.openDashboard', when: ON_FOLDER, group: '1_open@1' },
    { command: 'waygate.openConfiguration', when: ON_FOLDER, group: '1_open@2' },
    { command: 'waygate.refresh', when: ON_FOLDER, group: '2_gateway@1' },
    { command: 'waygate.reload', when: ON_FOLDER, group: '2_gateway@2' },
    { command: 'waygate.restart', when: ON_FOLDER, group: '2_gateway@3' },
    {
      command: 'waygate.cancelCall',
      when: `${IN_ACTIVITY} && viewItem =~ /^waygate\\.call\\.(running|waiting)/`,
      group: 'inline@1',
    },
    {
      command: 'waygate.revokeRecordSource',
      when: `${IN_RECORDS} && viewItem == waygate.recordSource.granted`,
      group: 'inline@1',
    },
    { command: 'waygate.tryAgain', when: ON_TOOL_CALL, group: '1_call@1' },
    {
      command: 'waygate.whyFound',
      when: `${IN_ACTIVITY} && viewItem =~ /^waygate\\.call\\.\\w+\\.browse$/`,
      group: '1_call@1',
    },
    { command: 'waygate.revealCalledTool', when: ON_TOOL_CALL, group: '1_call@2' },
    { command: 'waygate.openDashboard', when: `${IN_ACTIVITY} && viewItem =~ /^waygate\\.call\\./`, group: '1_call@3' },
    { command: 'waygate.copyCall', when: ON_TOOL_CALL, group: '2_copy@1' },
    { command: 'waygate.copyCalledTool', when: ON_TOOL_CALL, group: '2_copy@2' },
    {
      command: 'waygate.forgetCalls',
      when: `${IN_ACTIVITY} && viewItem =~ /^waygate\\.call\\.(ok|failed|lost)/`,
      group: '3_forget@1',
    },
    { command: 'waygate.saveResult', when: ON_RESULT, group: 'inline@1' },
    { command: 'waygate.saveResults', when: ON_RESULT_GROUP, group: 'inline@1' },
    { command: 'waygate.deleteResults', when: ON_RESULTS, group: 'inline@2' },
    { command: 'waygate.saveResult', when: ON_RESULT, group: '1_result@1' },
    { command: 'waygate.saveResults', when: ON_RESULT_GROUP, group: '1_result@1' },
    { command: 'waygate.viewTable', when: ON_RESULT, group: '1_result@2' },
    { command: 'waygate.revealCall', when: ON_RESULTS, group: '1_result@3' },
    { command: 'waygate.copyHandle', when: ON_RESULT, group: '2_copy@1' },
    { command: 'waygate.deleteResults', when: ON_RESULTS, group: '3_delete@1' },
    { command: 'waygate.reviewChanges', when: WITH_HELD, group: 'inline@1' },
    { command: 'waygate.reviewChanges', when: WITH_HELD, group: '0_trust@1' },
    {
      command: 'waygate.quarantine',
      when: server('\\w+', '.*\\.(tools|signedIn|held)$'),
      group: '3_server@2',
    },
    {
      command: 'waygate.release',
      when: server('\\w+', '.*\\.quarantined$'),
      group: '0_trust@2',
    },
    { command: 'waygate.reviewChange', when: `${IN_TOOLS} && viewItem =~ /^waygate\\.held/`, group: 'inline@1' },
    { command: 'waygate.reviewChange', when: `${IN_TOOLS} && viewItem =~ /^waygate\\.held/`, group: '0_trust@1' },
    { command: 'waygate.block', when: `${IN_TOOLS} && viewItem == waygate.held`, group: '0_trust@2' },
    {
      command: 'waygate.signIn',
      when: server('needs_sign_in'),
      group: 'inline@1',
    },
    { command: 'waygate.signOut', when: server('\\w+', '.*\\.signedIn\\b'), group: '3_server@1' },
    {
      command: 'waygate.restartServer',
      when: server('(ready|failed)', '(\\.tools)?(\\.signedIn)?$'),
      group: 'inline@1',
    },
    { command: 'waygate.refreshServer', when: server('(ready|failed)'), group: 'inline@2' },
    { command: 'waygate.refreshServer', when: server(), group: '3_server@0' },
    { command: 'waygate.startServer', when: server('stopped'), group: '3_server@2' },
    { command: 'waygate.restartServer', when: server('(ready|failed|starting)'), group: '3_server@2' },
    { command: 'waygate.stopServer', when: server('(ready|starting)'), group: '3_server@3' },
    { command: 'waygate.chooseTools', when: server('(ready|failed|starting)'), group: '3_server@4' },
    { command: 'waygate.switchOff', when: server('(?!disabled\\b)\\w+'), group: '3_server@5' },
    { command: 'waygate.switchOn', when: server('disabled'), group: '3_server@5' },
    { command: 'waygate.openServerLog', when: server(), group: '1_open@3' },
    { command: 'waygate.openTool', when: ON_TOOL, group: '1_open@1' },
    { command: 'waygate.showToolChange', when: ON_TOOL, group: '1_open@2' },
    { command: 'waygate.copyToolCall', when: ON_TOOL, group: '2_copy@3' },
    { command: 'waygate.hideTool', when: ON_TOOL, group: '3_hide@1' },
    { command: 'waygate.forgetUses', when: ON_TOOL, group: '3_hide@2' },
    {
      command: 'waygate.setSecret',
      when: server('needs_secret'),
      group: 'inline@1',
    },
    {
      command: 'waygate.approveServers',
      when: server('needs_approval'),
      group: 'inline@1',
    },
    { command: 'waygate.tryTool', when: `${IN_TOOLS} && viewItem == waygate.tool`, group: 'inline@1' },
    { command: 'waygate.tryTool', when: `${IN_TOOLS} && viewItem == waygate.tool`, group: '0_try@1' },
    {
      command: 'waygate.copyPath',
      when: `${IN_TOOLS} && viewItem =~ /^waygate\\.(server\\..*\\.tools|namespace|cluster|tool)/`,
      group: '2_copy@1',
    },
    { command: 'waygate.copyToolId', when: `${IN_TOOLS} && viewItem == waygate.tool`, group: '2_copy@2' },
    {
      command: 'waygate.openConfiguration',
      when: server(),
      group: '1_open@1',
    },
    { command: 'waygate.showLog', when: server(), group: '1_open@2' },
  ],
  'editor/title': [
    {
      command: 'waygate.approveShown',
      when: `resourceScheme == ${APPROVAL_SCHEME} && resourceExtname != ${REVIEW_EXTENSION}`,
      group: 'navigation@1',
    },
    { command: 'waygate.acceptShown', when: IN_REVIEW, group: 'navigation@1' },
    { command: 'waygate.block', when: IN_REVIEW, group: 'navigation@2' },
  ],
};

/** Link to a command of Waygate; the editor shows it as a button if it is alone on its line. */
function link(label: string, command: CommandId): string {
  return `[${label}](command:${command})`;
}

export const WELCOMES: readonly { when: string; contents: string }[] = [
  {
    when: when('waygate.state', 'no_configuration'),
    contents: [
      'Waygate puts all your MCP servers behind three tools, so that your agent finds the right one without seeing them all.',
      link('Import Servers', 'waygate.importServers'),
      `Imports the servers of your other MCP clients. Or ${link('start with an empty configuration', 'waygate.createConfiguration')}: ${CONFIGURATION_PATH}, where you add your servers. ${link('The first steps', 'waygate.getStarted')} take five minutes.`,
    ].join('\n'),
  },
  {
    when: when('waygate.state', 'untrusted'),
    contents: [
      'This workspace is not trusted, so Waygate starts none of its servers.',
      '[Manage Workspace Trust](command:workbench.trust.manage)',
      `${link('Open the configuration', 'waygate.openConfiguration')} to see the commands.`,
    ].join('\n'),
  },
  {
    when: when('waygate.state', 'no_folder'),
    contents: [
      'Waygate works in a folder on the machine that holds your code. Open a folder to use it.',
      '[Open Folder](command:vscode.openFolder)',
    ].join('\n'),
  },
];

export interface WalkthroughStep {
  key: StepKey;
  title: string;
  description: string;
  /** File in `media/walkthrough`. */
  media: string;
}

/** Opens the chat with a question for agent mode. */
const ASK = `command:workbench.action.chat.open?${encodeURIComponent(
  JSON.stringify([{ query: 'Which tools do my MCP servers offer? Ask Waygate.', mode: 'agent' }]),
)}`;

export const WALKTHROUGH_STEPS: readonly WalkthroughStep[] = [
  {
    key: 'waygate.step.import',
    title: 'Import your MCP servers',
    description: [
      `Waygate manages the servers that ${CONFIGURATION_PATH} names. Bring those of your other MCP clients, or write the file yourself.`,
      link('Import Servers', 'waygate.importServers'),
      link('Start with an empty configuration', 'waygate.createConfiguration'),
    ].join('\n'),
    media: 'import.md',
  },
  {
    key: 'waygate.step.approve',
    title: 'Approve what may run',
    description: [
      'A server is a program on your machine or a service that gets your data. Read what each would run or reach, and approve it.',
      link('Approve Servers', 'waygate.approveServers'),
    ].join('\n'),
    media: 'approve.md',
  },
  {
    key: 'waygate.step.ask',
    title: 'Ask the agent',
    description: [
      'Open the chat in agent mode and ask for something that a server of yours can do. The agent finds the tool through Waygate.',
      `[Open the Chat](${ASK})`,
    ].join('\n'),
    media: 'ask.md',
  },
  {
    key: 'waygate.step.read',
    title: 'Read a result',
    description: [
      'Each call leaves its request, its answer and its whole result. Open one, and see how the gateway is on the dashboard.',
      link('Open Dashboard', 'waygate.openDashboard'),
    ].join('\n'),
    media: 'read.md',
  },
];
