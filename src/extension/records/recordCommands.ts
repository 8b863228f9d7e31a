import * as vscode from 'vscode';
import { isRecord } from '../../lib/isRecord.ts';
import { sessionPlace } from '../documents/addresses.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { CommandHandlers } from '../registrations.ts';
import { runCommand } from '../registrations.ts';
import { choosePath, input, pick, pickMany, showProgress } from '../windows.ts';
import { sourceTitle } from './recordRows.ts';

export interface RecordCommandParts {
  /** Name of the folder's gateway. */
  folder: string;
  link: GatewayLink;
  guarded(failed: string, action: (argument: unknown) => Promise<void>): (argument?: unknown) => Promise<void>;
}

type Ids = 'waygate.addRecordSource' | 'waygate.revokeRecordSource' | 'waygate.openSession';

/** Commands of the view *Records*, and *Open MCP Session*. */
export function recordCommands({ folder, link, guarded }: RecordCommandParts): Pick<CommandHandlers, Ids> {
  return {
    'waygate.addRecordSource': guarded(t`Adding the source failed`, () => addSource(link)),
    'waygate.revokeRecordSource': guarded(t`Revoking the source failed`, (argument) => revoke(link, argument)),
    'waygate.openSession': guarded(t`Opening the session failed`, () => openSession(folder)),
  };
}

const AGENT_LOGS = notificationText`Sessions of Claude Code, Codex and Copilot CLI on this machine`;
const HISTORY = notificationText`Calls, faults, results, browses, approvals and trust decisions of this workspace`;

async function addSource(link: GatewayLink): Promise<void> {
  const title = notificationText`Add Record Source`;
  const { sources } = await link.request('records', {});
  const own = sources.filter(({ kind, isGranted }) => kind !== 'folder' && !isGranted);
  const source = await pick(
    [
      ...own.map((one) => ({
        label: notificationText`${sourceTitle(one)}`,
        detail: one.kind === 'agents' ? AGENT_LOGS : HISTORY,
        subject: one.connection,
      })),
      {
        label: notificationText`Folder…`,
        detail: notificationText`JSONL, CSV, JSON and SQLite files in it`,
        subject: undefined,
      },
    ],
    { title, placeHolder: notificationText`What agents may read` },
  );
  if (!source) return;
  const subject = source.subject ?? (await choosePath(title, 'folder'))?.fsPath;
  if (subject === undefined) return;
  const found = await link.request('recordStreams', { subject });
  if ('reason' in found) throw new Error(found.reason);
  const chosen = await pickMany(
    found.streams.map((name) => ({ label: notificationText`${name}`, name, picked: true })),
    { title, placeHolder: notificationText`Streams that agents may read` },
  );
  if (!chosen || (chosen.length === 0 && found.streams.length > 0)) return;
  const time = await pick(
    [
      { label: notificationText`Until I Revoke It`, expires: undefined },
      { label: notificationText`For 30 Days`, expires: '30d' },
      { label: notificationText`For 1 Day`, expires: '1d' },
    ],
    { title, placeHolder: notificationText`How long` },
  );
  if (!time) return;
  // All of them means also those that appear later.
  const streams = chosen.length === found.streams.length ? [] : chosen.map(({ name }) => name);
  const granted = link.request('grantRecords', {
    subject,
    streams,
    ...(time.expires !== undefined && { expires: time.expires }),
  });
  await showProgress(notificationText`Reading the records…`, granted);
  await finish(await granted);
}

/** Revokes without a question: the source is unchanged, and granting it again loads it again. */
async function revoke(link: GatewayLink, argument: unknown): Promise<void> {
  const connection = await connectionOf(link, argument);
  if (connection === undefined) return;
  await finish(await link.request('revokeRecords', { connection }));
}

/** Returns the connection of a row, or the one that the user chooses. */
async function connectionOf(link: GatewayLink, argument: unknown): Promise<string | undefined> {
  const row = isRecord(argument) && isRecord(argument.source) ? argument.source : {};
  if (typeof row.connection === 'string') return row.connection;
  const { sources } = await link.request('records', {});
  const granted = sources.filter(({ isGranted }) => isGranted);
  const chosen = await pick(
    granted.map((one) => ({ label: notificationText`${sourceTitle(one)}`, connection: one.connection })),
    { title: notificationText`Revoke Record Source` },
  );
  return chosen?.connection;
}

async function finish(outcome: { reason?: string | undefined }): Promise<void> {
  await runCommand('waygate.refreshRecords');
  if (outcome.reason !== undefined) throw new Error(outcome.reason);
}

async function openSession(folder: string): Promise<void> {
  const title = notificationText`Open MCP Session`;
  const file = await choosePath(title, 'file');
  if (!file) return;
  const prompt = notificationText`Question to pack the session for; leave it empty to see all of it`;
  const question = await input({ title, prompt, password: false });
  if (question === undefined) return;
  const uri = vscode.Uri.from(sessionPlace(folder, file.fsPath, question.trim() || undefined));
  await vscode.commands.executeCommand('markdown.showPreview', uri);
}
