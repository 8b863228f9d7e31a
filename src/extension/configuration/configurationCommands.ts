import * as vscode from 'vscode';
import type { EditorSecrets } from '../gateway/editorSecrets.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
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
  guarded(failed: string, action: (argument: unknown) => Promise<void>): (argument?: unknown) => Promise<void>;
}

const KEPT_IN = t`The value stays in the secret store of this editor.`;

type Ids =
  | 'waygate.addLimits'
  | 'waygate.moveSecret'
  | 'waygate.keepSecret'
  | 'waygate.switchOff'
  | 'waygate.revealServer'
  | 'waygate.startServer'
  | 'waygate.restartServer';

const START: ServerAction = {
  title: notificationText`Start Server`,
  applies: ({ state }) => state === 'not_started' || state === 'stopped',
  none: notificationText`The server runs already.`,
};

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
    'waygate.addLimits': guarded(t`Adding limits failed`, async () => {
      const configuration = file();
      await configuration.create();
      const { showLimits } = await import('./editConfiguration.ts');
      await showLimits(vscode.Uri.file(configuration.path));
    }),
    'waygate.switchOff': guarded(t`Switching the server off failed`, async (argument) => {
      const server = await clickedServer(link, argument, SWITCH_OFF);
      if (!server) return;
      const { workspace } = await link.status();
      const { setDisabled } = await import('./editConfiguration.ts');
      await setDisabled(server, workspace);
    }),
    'waygate.revealServer': guarded(t`Showing the server failed`, async (argument) => {
      const row = asRow(argument);
      if (row) await reveal(serverOf(row));
    }),
    'waygate.startServer': guarded(t`Starting the server failed`, async (argument) => {
      const server = await clickedServer(link, argument, START);
      if (server) await runServer(link, 'startServer', server.name);
    }),
    'waygate.restartServer': guarded(t`Restarting the server failed`, async (argument) => {
      const server = await clickedServer(link, argument, RESTART);
      if (server) await runServer(link, 'restartServer', server.name);
    }),
    'waygate.keepSecret': guarded(t`Setting the secret failed`, async (argument) => {
      const name = textIn(argument, 'name');
      const secret = { key: name, name, description: KEPT_IN, password: true, options: [] };
      if (name !== '' && (await secrets.ask('waygate.json', secret))) await link.recheck();
    }),
    'waygate.moveSecret': guarded(t`Replacing the literal failed`, async (argument) => {
      const at = argument as { uri?: unknown; at?: unknown } | undefined;
      if (typeof at?.uri !== 'string' || !(at.at instanceof vscode.Position)) return;
      const { workspace } = await link.status();
      const { moveSecret } = await import('./editConfiguration.ts');
      await moveSecret(vscode.Uri.parse(at.uri), at.at, secrets, workspace);
    }),
  };
}

/** Resolves when the server serves; throws an error with the reason if it does not. */
async function runServer(link: GatewayLink, step: 'startServer' | 'restartServer', server: string): Promise<void> {
  const { reason } = await link.request(step, { server });
  if (reason !== undefined) throw new Error(reason);
}

function textIn(argument: unknown, key: string): string {
  const value = typeof argument === 'object' && argument !== null ? Reflect.get(argument, key) : undefined;
  return typeof value === 'string' ? value : '';
}
