import * as vscode from 'vscode';
import type { EditorSecrets } from '../gateway/editorSecrets.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { notificationText } from '../notificationText.ts';
import type { CommandHandlers } from '../registrations.ts';
import { asRow, clickedServer, type ServerAction, serverOf } from '../tree/clickedServer.ts';
import type { ConfigurationFile } from './configurationFile.ts';

export interface ConfigurationCommandParts {
  link: GatewayLink;
  secrets: EditorSecrets;
  /** Selects the row of a server. */
  reveal(server: string): Promise<void>;
  /** Returns the workspace's file; throws an error without a folder. */
  file(): ConfigurationFile;
  guarded(doing: string, action: (argument: unknown) => Promise<void>): (argument?: unknown) => Promise<void>;
}

const KEPT_IN = 'The value stays in the secret store of this editor.';

type Ids =
  | 'waygate.addLimits'
  | 'waygate.moveSecret'
  | 'waygate.keepSecret'
  | 'waygate.switchOff'
  | 'waygate.revealServer'
  | 'waygate.restartServer';

const RESTART: ServerAction = {
  title: notificationText`Restart Server`,
  applies: ({ state }) => state !== 'disabled',
  none: notificationText`The server is switched off.`,
};

const SWITCH_OFF: ServerAction = {
  title: notificationText`Switch Off`,
  applies: ({ state, location }) => state !== 'disabled' && location !== undefined,
  none: notificationText`The server is off already.`,
};

/** Commands of waygate.json in the editor. */
export function configurationCommands(parts: ConfigurationCommandParts): Pick<CommandHandlers, Ids> {
  const { link, secrets, reveal, file, guarded } = parts;
  return {
    'waygate.addLimits': guarded('Adding limits', async () => {
      const configuration = file();
      await configuration.create();
      const { showLimits } = await import('./editConfiguration.ts');
      await showLimits(vscode.Uri.file(configuration.path));
    }),
    'waygate.switchOff': guarded('Switching the server off', async (argument) => {
      const server = await clickedServer(link, argument, SWITCH_OFF);
      if (!server) return;
      const { workspace } = await link.status();
      const { setDisabled } = await import('./editConfiguration.ts');
      await setDisabled(server, workspace);
    }),
    'waygate.revealServer': guarded('Showing the server', async (argument) => {
      const row = asRow(argument);
      if (row) await reveal(serverOf(row));
    }),
    'waygate.restartServer': guarded('Restarting the server', async (argument) => {
      const server = await clickedServer(link, argument, RESTART);
      if (!server) return;
      const { reason } = await link.request('restartServer', { server: server.name });
      if (reason !== undefined) throw new Error(reason);
    }),
    'waygate.keepSecret': guarded('Setting the secret', async (argument) => {
      const name = textIn(argument, 'name');
      const secret = { key: name, name, description: KEPT_IN, password: true, options: [] };
      if (name !== '' && (await secrets.ask('waygate.json', secret))) await link.recheck();
    }),
    'waygate.moveSecret': guarded('Replacing the literal', async (argument) => {
      const at = argument as { uri?: unknown; at?: unknown } | undefined;
      if (typeof at?.uri !== 'string' || !(at.at instanceof vscode.Position)) return;
      const { workspace } = await link.status();
      const { moveSecret } = await import('./editConfiguration.ts');
      await moveSecret(vscode.Uri.parse(at.uri), at.at, secrets, workspace);
    }),
  };
}

function textIn(argument: unknown, key: string): string {
  const value = typeof argument === 'object' && argument !== null ? Reflect.get(argument, key) : undefined;
  return typeof value === 'string' ? value : '';
}
