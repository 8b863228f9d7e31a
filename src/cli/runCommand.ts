import { approve } from './approve.ts';
import { browse } from './browse.ts';
import { catalog } from './catalog.ts';
import { clientConfig } from './clientConfig.ts';
import type { Command } from './commands.ts';
import { health } from './health.ts';
import { learned } from './learned.ts';
import { login, logout } from './login.ts';
import { reload } from './reload.ts';
import { secret } from './secret.ts';
import { skill } from './skill.ts';
import { status } from './status.ts';
import { stop } from './stop.ts';
import { telemetry } from './telemetry.ts';

export { serveHttp } from './serveHttp.ts';

type OtherCommand = Exclude<Command, { name: 'help' | 'version' | 'serve' }>;

/** What a person asks for on the command line. A host on stdio is started for every client and loads nothing of it. */
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
    case 'approve':
      return approve(command);
    case 'secret':
      return secret(command);
    case 'login':
      return login(command);
    case 'logout':
      return logout(command);
    case 'learned':
      return learned(command);
    case 'import': {
      const { importServers, ownTerminal } = await import('./import.ts');
      return importServers(command, process.env, ownTerminal());
    }
    case 'client-config':
      return clientConfig(command);
    case 'skill':
      return skill(command);
  }
}
