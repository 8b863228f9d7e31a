import { toolPlace } from '../documents/addresses.ts';
import { openDocument } from '../documents/waygateFiles.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { CommandHandlers } from '../registrations.ts';
import { clickedServer, type ServerAction } from '../tree/clickedServer.ts';
import { toolIdOf } from '../tree/toolCommands.ts';

type Ids = 'waygate.switchOn' | 'waygate.openTool';
type Guarded = (failed: string, action: (argument: unknown) => Promise<void>) => CommandHandlers[Ids];

const SWITCH_ON: ServerAction = {
  title: notificationText`Switch On`,
  applies: ({ state, location }) => state === 'disabled' && location !== undefined,
  none: notificationText`The server is on already.`,
};

/** Commands behind buttons of the dashboard that no other view has. */
export function dashboardCommands(link: GatewayLink, gateway: string, guarded: Guarded): Pick<CommandHandlers, Ids> {
  return {
    'waygate.switchOn': guarded(t`Switching the server on failed`, async (argument) => {
      const server = await clickedServer(link, argument, SWITCH_ON);
      if (!server) return;
      const { workspace } = await link.status();
      const { setDisabled } = await import('../configuration/editConfiguration.ts');
      await setDisabled(server, workspace, false);
    }),
    'waygate.openTool': guarded(t`Opening the definition failed`, async (argument) => {
      await openDocument(toolPlace(gateway, toolIdOf(argument)));
    }),
  };
}
