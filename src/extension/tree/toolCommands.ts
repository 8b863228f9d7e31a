import * as vscode from 'vscode';
import type { ServerStatus } from '../../control/contract.ts';
import type { ToolDetails, ToolPaths } from '../../control/toolContract.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { rankedPlace, toolPlace } from '../documents/addresses.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { CommandHandlers } from '../registrations.ts';
import { ask, chooseGrouped, notify, search } from '../windows.ts';
import { asRow, clickedServer, type ServerAction } from './clickedServer.ts';
import { containing, type FoundTool, pathsOf, ranked } from './findItems.ts';
import { readyCall } from './readyCall.ts';
import { changesOf, costWords, toolChoices } from './toolChoice.ts';

export interface ToolCommandParts {
  /** Name of the folder's gateway. */
  folder: string;
  link: GatewayLink;
  revealTool(path: string): Promise<void>;
  guarded(failed: string, action: (argument: unknown) => Promise<void>): (argument?: unknown) => Promise<void>;
}

type Ids =
  | 'waygate.stopServer'
  | 'waygate.findTool'
  | 'waygate.whyRanked'
  | 'waygate.forgetUses'
  | 'waygate.showToolChange'
  | 'waygate.copyToolCall'
  | 'waygate.hideTool'
  | 'waygate.chooseTools';

/** Hits of the ranking in *Find Tool*. */
const FOUND = 20;
const RANKING_DELAY_MS = 120;

const STOP: ServerAction = {
  title: notificationText`Stop Server`,
  applies: ({ state }) => state === 'ready' || state === 'starting',
  none: notificationText`The server does not run.`,
};
const CHOOSE: ServerAction = {
  title: notificationText`Choose Tools`,
  applies: ({ state, location }) => state !== 'disabled' && location !== undefined,
  none: notificationText`No file configures such a server.`,
};

/** Commands of the view *Tools*. */
export function toolCommands({ folder, link, revealTool, guarded }: ToolCommandParts): Pick<CommandHandlers, Ids> {
  const pathsNow = pathsOf(link);
  return {
    'waygate.stopServer': guarded(t`Stopping the server failed`, async (argument) => {
      const server = await clickedServer(link, argument, STOP);
      if (!server) return;
      const { reason } = await link.request('stopServer', { server: server.name });
      if (reason !== undefined) throw new Error(reason);
    }),
    'waygate.findTool': guarded(t`Finding a tool failed`, async () => {
      const { paths } = await pathsNow();
      const chosen = await search<FoundTool>({
        title: notificationText`Find Tool`,
        modes: [
          {
            title: notificationText`Find by Path or Description`,
            placeHolder: notificationText`Part of a path or a description`,
            icon: 'search',
            delayMs: 0,
            find: async (query) => containing(paths, query),
          },
          {
            title: notificationText`Find as an Agent Would`,
            placeHolder: notificationText`What the tool should do, as an agent asks`,
            icon: 'sparkle',
            delayMs: RANKING_DELAY_MS,
            find: async (query) =>
              query.trim() === '' ? [] : ranked(await link.request('explain', { query, topK: FOUND }), paths),
          },
        ],
        button: {
          title: notificationText`Why`,
          icon: 'question',
          run: ({ toolId }, query) => void why(folder, query, toolId),
        },
      });
      if (chosen) await revealTool(chosen.path);
    }),
    'waygate.whyRanked': guarded(t`Explaining the ranking failed`, (argument) =>
      why(folder, textIn(argument, 'query'), textIn(argument, 'toolId') || undefined),
    ),
    'waygate.forgetUses': guarded(t`Forgetting failed`, async (argument) => {
      const row = asRow(argument);
      const toolId = row?.kind === 'node' ? row.node.toolId : undefined;
      const learned = (await link.request('learned', {})).filter(
        (use) => toolId === undefined || use.toolId === toolId,
      );
      if (learned.length === 0) return void notify('info', notificationText`Use has taught the ranking nothing here.`);
      const tools = new Set(learned.map((use) => use.toolId)).size;
      const question =
        tools === 1
          ? notificationText`Forget what use has taught about 1 tool?`
          : notificationText`Forget what use has taught about ${tools} tools?`;
      const detail =
        toolId === undefined
          ? notificationText`The ranking of this workspace starts anew.`
          : notificationText`The ranking of this tool starts anew.`;
      if (await ask(question, detail, [{ title: notificationText`Forget` }]))
        await link.request('forget', toolId === undefined ? {} : { toolId });
    }),
    'waygate.showToolChange': guarded(t`Showing the change failed`, async (argument) => {
      const { toolId, name, before } = await toolOf(link, argument);
      if (!before) return void notify('info', notificationText`${name} is as you approved it.`);
      const [then, now] = [toolPlace(folder, toolId, 'before'), toolPlace(folder, toolId)].map((at) =>
        vscode.Uri.from(at),
      );
      await vscode.commands.executeCommand('vscode.diff', then, now, notificationText`${name}: approved ↔ now`);
    }),
    'waygate.copyToolCall': guarded(t`Copying the call failed`, async (argument) => {
      const { toolId, definition } = await toolOf(link, argument);
      await vscode.env.clipboard.writeText(readyCall(toolId, definition));
    }),
    'waygate.hideTool': guarded(t`Hiding the tool failed`, async (argument) => {
      const { server, definition } = await toolOf(link, argument);
      const { servers, workspace } = await link.status();
      const { excludeTools } = await import('../configuration/editConfiguration.ts');
      await excludeTools(named(servers, server), workspace, [nameIn(definition)]);
    }),
    'waygate.chooseTools': guarded(t`Choosing tools failed`, async (argument) => {
      const server = await clickedServer(link, argument, CHOOSE);
      if (server) await chooseTools(link, server, (await pathsNow()).paths);
    }),
  };
}

async function chooseTools(link: GatewayLink, server: ServerStatus, paths: ToolPaths['paths']): Promise<void> {
  const { excludedTools, excludeTools, includeTools } = await import('../configuration/editConfiguration.ts');
  const { workspace } = await link.status();
  const choices = toolChoices(paths, server.name, await excludedTools(server, workspace));
  const kept = await chooseGrouped(choices, {
    titleOf: (some) => notificationText`Choose Tools of ${server.name}: ${costWords(choices, some)}`,
    placeHolder: notificationText`Agents see the checked tools`,
  });
  if (!kept) return;
  const { exclude, include } = changesOf(choices, kept);
  if (include.length > 0) await includeTools(server, workspace, include);
  if (exclude.length > 0) await excludeTools(server, workspace, exclude);
}

async function why(folder: string, query: string, toolId: string | undefined): Promise<void> {
  if (query.trim() === '') return void notify('info', notificationText`Type what an agent would ask for first.`);
  const uri = vscode.Uri.from(rankedPlace(folder, query, toolId));
  await vscode.commands.executeCommand('markdown.showPreview', uri);
}

async function toolOf(link: GatewayLink, argument: unknown): Promise<ToolDetails> {
  const tool = await link.request('tool', { toolId: toolIdOf(argument) });
  if (!tool) throw new Error(t`The server does not list this tool any more`);
  return tool;
}

/** Returns the tool of a row, or that a button names. Rejects without one: the list may have been redrawn. */
export function toolIdOf(argument: unknown): string {
  const row = asRow(argument);
  const toolId = row?.kind === 'node' ? row.node.toolId : textIn(argument, 'toolId') || undefined;
  if (toolId === undefined) throw new Error(t`Use the menu of a row again; the list was being redrawn`);
  return toolId;
}

function named(servers: readonly ServerStatus[], name: string): ServerStatus {
  const server = servers.find((one) => one.name === name);
  if (!server) throw new Error(t`The configuration has no such server any more`);
  return server;
}

function nameIn(definition: unknown): string {
  return isRecord(definition) ? String(definition.name) : '';
}

function textIn(argument: unknown, key: string): string {
  const value = isRecord(argument) ? argument[key] : undefined;
  return typeof value === 'string' ? value : '';
}
