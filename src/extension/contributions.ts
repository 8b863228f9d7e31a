/**
 * Ids of everything that the extension contributes, and its commands. The helpers in `registrations.ts` and the manifest
 * (`scripts/contributes/`) take their ids from this file, so that a forgotten or misspelt id does not compile.
 */

export const EXTENSION_TITLE = 'Waygate';
export const EXTENSION_ID = 'waygate.waygate';
export const WALKTHROUGH_ID = 'waygate.start';
export const CONFIGURATION_PATH = '.vscode/waygate.json';
/** Path endings of the user's own file on all systems (`configRoot`). */
export const OWN_CONFIGURATIONS = ['waygate/waygate.json', 'Waygate/waygate.json'] as const;
export const CONTAINER_ID = 'waygate';
export const TOOLS_VIEW_ID = 'waygate.tools';
export const ACTIVITY_VIEW_ID = 'waygate.activity';
export const RESULTS_VIEW_ID = 'waygate.results';
export const RECORDS_VIEW_ID = 'waygate.records';
export const TABLE_VIEW_TYPE = 'waygate.table';
export const MCP_PROVIDER_ID = 'waygate';
export const DASHBOARD_VIEW_TYPE = 'waygate.dashboard';
export const TRY_VIEW_TYPE = 'waygate.try';
/** Scheme of the document that shows the commands of servers. */
export const APPROVAL_SCHEME = 'waygate-approval';
export const APPROVAL_LANGUAGE = 'waygate-approval';
/** Scheme of the documents that compare a tool with its approved version, and the ending of their paths. */
export const TRUST_SCHEME = 'waygate-trust';
export const REVIEW_EXTENSION = '.waygate-review';

/** Scheme of the read-only file system (`documents/`). */
export const WAYGATE_SCHEME = 'waygate';

/** Context keys with the values they take. */
export interface ContextKeyTypes {
  'waygate.state': 'checking' | 'no_folder' | 'no_configuration' | 'untrusted' | 'active';
  /** Steps of the walkthrough that are done. */
  'waygate.step.import': true;
  'waygate.step.approve': true;
  'waygate.step.ask': true;
  'waygate.step.read': true;
  /** The view *Activity* shows some calls only. */
  'waygate.callsFiltered': boolean;
}
export type ContextKeyId = keyof ContextKeyTypes;

/** Builds a `when` clause that accepts only values of the key. */
export function when<K extends ContextKeyId>(key: K, value: ContextKeyTypes[K]): string {
  return `${key} == ${value}`;
}

export interface CommandContribution {
  title: string;
  icon?: string;
  enablement?: string;
  /** False for commands that need a row of the tree. */
  inPalette: boolean;
}

const ACTIVE = when('waygate.state', 'active');

/** Commands of the views *Activity* and *Results* and of their documents, which show all folders. */
export const ACTIVITY_COMMANDS = {
  'waygate.filterCalls': { title: 'Filter Calls…', icon: '$(filter)', enablement: ACTIVE, inPalette: true },
  'waygate.clearCallFilter': { title: 'Clear Filter', icon: '$(filter-filled)', inPalette: false },
  'waygate.clearCalls': { title: 'Clear Calls', icon: '$(clear-all)', enablement: ACTIVE, inPalette: true },
  'waygate.forgetCalls': { title: 'Forget Call', icon: '$(trash)', inPalette: false },
  'waygate.exportCalls': { title: 'Export Calls as JSON…', enablement: ACTIVE, inPalette: true },
  'waygate.cancelCall': { title: 'Cancel Call', icon: '$(stop-circle)', inPalette: false },
  'waygate.tryAgain': { title: 'Try Again with These Arguments…', inPalette: false },
  'waygate.whyFound': { title: 'Why These Tools', inPalette: false },
  'waygate.copyCall': { title: 'Copy as Call', inPalette: false },
  'waygate.copyCalledTool': { title: 'Copy Tool Id', inPalette: false },
  'waygate.revealCalledTool': { title: 'Reveal in Tools', inPalette: false },
  'waygate.openResult': { title: 'Open Result', inPalette: false },
  'waygate.saveResult': { title: 'Save As…', icon: '$(save-as)', inPalette: false },
  'waygate.saveResults': { title: 'Save All…', icon: '$(save-all)', inPalette: false },
  'waygate.deleteResults': { title: 'Delete', icon: '$(trash)', inPalette: false },
  'waygate.revealCall': { title: 'Reveal Call', inPalette: false },
  'waygate.findInResult': { title: 'Find in All of It…', inPalette: false },
  'waygate.filterResult': { title: 'Filter…', inPalette: false },
  'waygate.viewTable': { title: 'View as Table', icon: '$(table)', inPalette: false },
  'waygate.copyHandle': { title: 'Copy Handle', inPalette: false },
  'waygate.copyViewCall': { title: 'Copy tool_view Call', inPalette: false },
} as const satisfies Record<`waygate.${string}`, CommandContribution>;
export type ActivityCommandId = keyof typeof ACTIVITY_COMMANDS;

/** Commands of the window, which concern no folder. */
export const WINDOW_COMMANDS = {
  'waygate.refreshRecords': { title: 'Refresh Records', icon: '$(refresh)', inPalette: false },
  'waygate.setRecordToken': { title: 'Set Token for Records…', inPalette: true },
} as const satisfies Record<`waygate.${string}`, CommandContribution>;
export type WindowCommandId = keyof typeof WINDOW_COMMANDS;

export const COMMANDS = {
  'waygate.refresh': { title: 'Refresh Catalogs', icon: '$(refresh)', enablement: ACTIVE, inPalette: true },
  'waygate.reload': { title: 'Reload Gateway', icon: '$(sync)', enablement: ACTIVE, inPalette: true },
  'waygate.restart': { title: 'Restart Gateway', icon: '$(debug-restart)', enablement: ACTIVE, inPalette: true },
  'waygate.reviewQuestions': {
    title: 'Review Questions',
    icon: '$(question)',
    enablement: ACTIVE,
    inPalette: true,
  },
  'waygate.refreshServer': { title: 'Refresh', icon: '$(refresh)', inPalette: false },
  'waygate.showLaunchChange': { title: 'Show What Changed', icon: '$(diff)', inPalette: false },
  'waygate.approveServers': { title: 'Approve Servers', icon: '$(shield)', enablement: ACTIVE, inPalette: true },
  'waygate.approveShown': { title: 'Approve…', icon: '$(check)', inPalette: false },
  'waygate.reviewChanges': { title: 'Review Changes…', icon: '$(diff)', enablement: ACTIVE, inPalette: true },
  'waygate.reviewChange': { title: 'Review Change', icon: '$(diff)', inPalette: false },
  'waygate.acceptShown': { title: 'Accept', icon: '$(check)', inPalette: false },
  'waygate.block': { title: 'Block', icon: '$(circle-slash)', inPalette: false },
  'waygate.quarantine': { title: 'Quarantine', inPalette: false },
  'waygate.release': { title: 'Release from Quarantine…', inPalette: false },
  'waygate.releaseShown': { title: 'Release from Quarantine', icon: '$(unlock)', inPalette: false },
  'waygate.signIn': { title: 'Sign In', icon: '$(sign-in)', inPalette: false },
  'waygate.signOut': { title: 'Sign Out', inPalette: false },
  'waygate.setSecret': { title: 'Set Secret', icon: '$(key)', inPalette: false },
  'waygate.keepSecret': { title: 'Set Secret…', inPalette: false },
  'waygate.moveSecret': { title: 'Move into the Secret Store…', inPalette: false },
  'waygate.switchOff': { title: 'Switch Off', inPalette: false },
  'waygate.revealServer': { title: 'Show in Tools', inPalette: false },
  'waygate.startServer': { title: 'Start', inPalette: false },
  'waygate.restartServer': { title: 'Restart Server', icon: '$(debug-restart)', inPalette: false },
  'waygate.addLimits': { title: 'Add Limits…', icon: '$(dashboard)', enablement: ACTIVE, inPalette: true },
  'waygate.getStarted': { title: 'Get Started', icon: '$(lightbulb)', inPalette: true },
  'waygate.showLog': { title: 'Show Log', icon: '$(output)', inPalette: true },
  'waygate.openDashboard': { title: 'Open Dashboard', icon: '$(dashboard)', inPalette: true },
  'waygate.openConfiguration': { title: 'Open Configuration', icon: '$(go-to-file)', inPalette: true },
  'waygate.createConfiguration': { title: 'Create Configuration', icon: '$(new-file)', inPalette: true },
  'waygate.importServers': { title: 'Import Servers', icon: '$(cloud-download)', inPalette: true },
  'waygate.installSkill': { title: 'Install MCP Bootstrap Skill', icon: '$(mortar-board)', inPalette: true },
  'waygate.findTool': { title: 'Find Tool…', icon: '$(search)', enablement: ACTIVE, inPalette: true },
  'waygate.whyRanked': { title: 'Why', icon: '$(question)', inPalette: false },
  'waygate.forgetUses': { title: 'Forget What Use Has Taught…', enablement: ACTIVE, inPalette: true },
  'waygate.showToolChange': { title: 'Show What Changed', inPalette: false },
  'waygate.copyToolCall': { title: 'Copy Ready Call', inPalette: false },
  'waygate.hideTool': { title: 'Hide from Agents', inPalette: false },
  'waygate.chooseTools': { title: 'Choose Tools…', enablement: ACTIVE, inPalette: true },
  'waygate.addRecordSource': { title: 'Add Record Source…', icon: '$(add)', enablement: ACTIVE, inPalette: true },
  'waygate.revokeRecordSource': {
    title: 'Revoke Record Source…',
    icon: '$(circle-slash)',
    enablement: ACTIVE,
    inPalette: true,
  },
  'waygate.openSession': { title: 'Open MCP Session…', enablement: ACTIVE, inPalette: true },
  'waygate.stopServer': { title: 'Stop', inPalette: false },
  'waygate.tryTool': { title: 'Try Tool', icon: '$(play)', enablement: ACTIVE, inPalette: true },
  'waygate.copyPath': { title: 'Copy Path', inPalette: false },
  'waygate.copyToolId': { title: 'Copy Tool Id', inPalette: false },
  'waygate.switchOn': { title: 'Switch On', inPalette: false },
  'waygate.openTool': { title: 'Open Definition', inPalette: false },
  'waygate.openServerLog': { title: 'Show Server Log', inPalette: false },
  ...WINDOW_COMMANDS,
  ...ACTIVITY_COMMANDS,
} as const satisfies Record<`waygate.${string}`, CommandContribution>;
export type CommandId = keyof typeof COMMANDS;
/** Commands that run on one folder. */
export type FolderCommandId = Exclude<CommandId, ActivityCommandId | WindowCommandId>;

/** Settings with the values they take. */
export interface SettingTypes {
  'waygate.gateway.nodePath': string;
  'waygate.records.providerUrl': string;
}
export type SettingId = keyof SettingTypes;
