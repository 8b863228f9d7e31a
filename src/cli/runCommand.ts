import { approve } from './commands/approve.ts';
import { browse } from './commands/browse.ts';
import { catalog } from './commands/catalog.ts';
import { clientConfig } from './commands/clientConfig.ts';
import { health } from './commands/health.ts';
import { learned } from './commands/learned.ts';
import { lock } from './commands/lock.ts';
import { login, logout } from './commands/login.ts';
import { policyRule } from './commands/policyRule.ts';
import { session } from './commands/records/session.ts';
import { reload } from './commands/reload.ts';
import { scan } from './commands/scan.ts';
import { secret } from './commands/secret.ts';
import { plugin } from './commands/setup/plugin.ts';
import { uninstall } from './commands/setup/uninstall.ts';
import { skill } from './commands/skill.ts';
import { status } from './commands/status.ts';
import { stop } from './commands/stop.ts';
import { telemetry } from './commands/telemetry.ts';
import { trust } from './commands/trust.ts';
import type { Command, CommandName, RecordsGrantsCommand } from './commands.ts';
import { helpOf, overview, START } from './help.ts';
import { printAside, printText } from './print.ts';
import { ownTerminal } from './terminal.ts';

export { serveHttp } from './commands/serve/serveHttp.ts';

export type OtherCommand =
  | Exclude<Command, { name: 'help' | 'version' | 'serve' | 'records' }>
  | ({ name: 'records' } & RecordsGrantsCommand);

/** Runs a command for a person. A host on stdio starts once per client and loads none of this. */
export async function runCommand(command: OtherCommand): Promise<number> {
  switch (command.name) {
    case 'status':
      return status(command);
    case 'health':
      return health(command);
    case 'telemetry':
      return telemetry(command);
    case 'reload':
      return reload(command);
    case 'stop':
      return stop(command);
    case 'browse':
      return browse(command);
    case 'catalog':
      return catalog(command);
    case 'scan':
      return scan(command);
    case 'approve':
      return approve(command);
    case 'secret':
      return secret(command);
    case 'login':
      return login(command);
    case 'logout':
      return logout(command);
    case 'trust':
      return trust(command);
    case 'lock':
      return lock(command);
    case 'allow':
    case 'deny':
      return policyRule(command);
    case 'learned':
      return learned(command);
    case 'import': {
      const { importServers } = await import('./commands/import.ts');
      return importServers(command, process.env, ownTerminal());
    }
    case 'client-config':
      return clientConfig(command);
    case 'skill':
      return skill(command);
    case 'plugin':
      return plugin(command);
    case 'records': {
      const { recordsGrants } = await import('./commands/records/recordsGrants.ts');
      return recordsGrants(command);
    }
    case 'session':
      return session(command);
    case 'uninstall':
      return uninstall(command, process.env, ownTerminal());
  }
}

/** Prints the help for one command, all commands, or the first minute. */
export function printHelp(about: CommandName | 'start' | 'all', aside = false): number {
  (aside ? printAside : printText)(about === 'start' ? START : about === 'all' ? overview() : helpOf(about));
  return 0;
}
