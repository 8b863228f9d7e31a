import type { DashboardAction } from '../../control/dashboardMessages.ts';
import type { CommandId } from '../contributions.ts';

/** Command of each button. The argument of a command about a server is its row, as in the view *Tools*. */
export const ACTION_COMMANDS = {
  refresh: 'waygate.refresh',
  reload: 'waygate.reload',
  restart: 'waygate.restart',
  showLog: 'waygate.showLog',
  openConfiguration: 'waygate.openConfiguration',
  createConfiguration: 'waygate.createConfiguration',
  addLimits: 'waygate.addLimits',
  openServer: 'waygate.openConfiguration',
  approve: 'waygate.approveServers',
  review: 'waygate.reviewChanges',
  setSecret: 'waygate.setSecret',
  signIn: 'waygate.signIn',
  signOut: 'waygate.signOut',
  startServer: 'waygate.startServer',
  restartServer: 'waygate.restartServer',
  refreshServer: 'waygate.refreshServer',
  serverLog: 'waygate.openServerLog',
  switchOff: 'waygate.switchOff',
  switchOn: 'waygate.switchOn',
  openTool: 'waygate.openTool',
  answerQuestion: 'waygate.reviewQuestions',
} as const satisfies Record<Exclude<DashboardAction, 'openProblem' | 'manageTrust'>, CommandId>;
