import { isRecord } from '../../lib/isRecord.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { CommandHandlers } from '../registrations.ts';
import { asRow } from '../tree/clickedServer.ts';
import { notify, pick } from '../windows.ts';
import type { TryTool } from './tryTool.ts';
import { argumentsOf } from './verdict.ts';

/** Argument of `waygate.tryTool`. */
export interface TryRequest {
  toolId: string;
  /** Arguments of the tool, or those of `tool_execute`. */
  args?: unknown;
  /** Name of the folder's gateway; without it the user chooses among several. */
  folder?: string;
}

type Guarded = (failed: string, action: (argument: unknown) => Promise<void>) => CommandHandlers[keyof CommandHandlers];

export function tryCommands(
  guarded: Guarded,
  link: GatewayLink,
  tries: Pick<TryTool, 'open'>,
): Pick<CommandHandlers, 'waygate.tryTool'> {
  return {
    'waygate.tryTool': guarded(t`Trying the tool failed`, async (argument) => {
      const { toolId = await pickTool(link), args } = requested(argument);
      if (toolId !== undefined) await tries.open(toolId, argumentsOf(args));
    }),
  };
}

/** Validates the argument: the editor passes the row, and other callers a tool id with arguments. */
export function requested(argument: unknown): Partial<TryRequest> {
  const row = asRow(argument);
  if (row !== undefined) return row.kind === 'node' && row.node.toolId !== undefined ? { toolId: row.node.toolId } : {};
  if (typeof argument === 'string') return { toolId: argument };
  if (!isRecord(argument) || typeof argument.toolId !== 'string') return {};
  const { toolId, args } = argument;
  return { toolId, args };
}

async function pickTool(link: GatewayLink): Promise<string | undefined> {
  const { paths } = await link.request('paths', {});
  if (paths.length === 0) {
    void notify('info', notificationText`There is no tool to try: no server has listed any yet.`);
    return undefined;
  }
  const choices = paths.map(({ path, toolId, description }) => ({
    label: notificationText`${path}`,
    description: notificationText`${oneLine(description, 80)}`,
    toolId,
  }));
  const title = notificationText`Try Tool`;
  return (await pick(choices, { title, matchOnDescription: true }))?.toolId;
}
