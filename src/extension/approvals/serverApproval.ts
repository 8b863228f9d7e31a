import * as vscode from 'vscode';
import type { ServerStatus } from '../../control/contract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { APPROVAL_LANGUAGE, APPROVAL_SCHEME, type CommandId, REVIEW_EXTENSION } from '../contributions.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { plural, t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { notify, onFolder, pickMany } from '../windows.ts';
import {
  type ApprovalDocument,
  type ApprovalOffer,
  approvalDocument,
  type PendingApproval,
  pendingApprovals,
} from './approvalText.ts';

const COMMANDS: Record<ApprovalOffer['action'], CommandId> = {
  approve: 'waygate.approveShown',
  compare: 'waygate.showLaunchChange',
};
const ICONS: Record<ApprovalOffer['action'], string> = { approve: 'check', compare: 'diff' };

/** Document as it is shown, with the servers whose commands it contains. */
interface Shown {
  /** Each text has an address of its own: the editor keeps buttons above a text that changes. */
  version: string;
  pending: readonly PendingApproval[];
  document: ApprovalDocument;
}

/** Servers that a button in the document names. */
interface Choice {
  /** Name of the folder's gateway. */
  folder: string;
  version: string;
  names: readonly string[];
}

/**
 * Shows the full commands of the workspace's servers in a document, where the user approves them: opening a repository
 * must not run its code. Only commands that the document shows can be approved.
 */
export class ServerApproval {
  readonly #folder: string;
  readonly #link: GatewayLink;
  readonly #parts: vscode.Disposable;
  #versions = 0;
  #shown: Shown = { version: '0', pending: [], document: approvalDocument([]) };

  constructor(folder: string, link: GatewayLink) {
    this.#folder = folder;
    this.#link = link;
    this.#parts = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(APPROVAL_SCHEME, {
        provideTextDocumentContent: (uri) => (uri.authority === folder ? this.#textOf(uri) : undefined),
      }),
      vscode.languages.registerCodeLensProvider(
        { scheme: APPROVAL_SCHEME },
        { provideCodeLenses: ({ uri }) => (uri.authority === folder ? this.#lenses(uri) : []) },
      ),
    );
  }

  /** Shows all servers that wait for approval, or one of them. */
  async ask(only?: ServerStatus): Promise<void> {
    const waiting = pendingApprovals(await this.#link.status());
    const shown = only === undefined ? waiting : waiting.filter(({ name }) => name === only.name);
    if (shown.length === 0) void notify('info', notificationText`No server waits for approval.`);
    else await this.#show(shown);
  }

  /** Approves the servers that a button of the document names, or asks the user to choose among those shown. */
  async approveShown(argument: unknown): Promise<void> {
    const choice = choiceIn(argument);
    if (choice && choice.version !== this.#shown.version) return warnOfNewer();
    const shown = this.#shown;
    const { pending } = shown;
    const chosen = choice ? pending.filter(({ name }) => choice.names.includes(name)) : await this.#pick();
    if (chosen.length === 0) return;
    const waiting = new Map(pendingApprovals(await this.#link.status()).map((server) => [server.name, server]));
    const changed = chosen.filter(({ name, hash }) => waiting.has(name) && waiting.get(name)?.hash !== hash);
    if (changed.length === 0) await this.#link.approve(chosen.map(({ hash }) => hash));
    else void warnOfChange(changed);
    await this.#showRest(shown);
  }

  /** Compares the launch of a server with the one that was approved before. */
  async showChange(argument: unknown): Promise<void> {
    const [name = ''] = choiceIn(argument)?.names ?? [];
    const side = (of: 'before' | 'now'): vscode.Uri =>
      this.#address(`/${of}${REVIEW_EXTENSION}`, JSON.stringify([this.#shown.version, name]));
    const title = t`${oneLine(name, 60)}: approved ↔ now`;
    await vscode.commands.executeCommand('vscode.diff', side('before'), side('now'), title, { preview: true });
  }

  dispose(): void {
    this.#parts.dispose();
  }

  #address(path: string, query: string): vscode.Uri {
    return vscode.Uri.from({ scheme: APPROVAL_SCHEME, authority: this.#folder, path, query });
  }

  async #show(pending: readonly PendingApproval[]): Promise<void> {
    this.#versions += 1;
    const version = String(this.#versions);
    this.#shown = { version, pending, document: approvalDocument(pending) };
    const address = this.#address(`/${t`What Waygate would run`}`, version);
    // The document's language wraps long lines, so that every part of a command is visible.
    const document = await vscode.workspace.openTextDocument(address);
    await vscode.languages.setTextDocumentLanguage(document, APPROVAL_LANGUAGE);
    await vscode.window.showTextDocument(document, { preview: true });
    await closeTabs(this.#folder, version);
  }

  /** Shows the servers that still wait after an approval, unless the user has opened another document meanwhile. */
  async #showRest({ version, pending }: Shown): Promise<void> {
    const names = new Set(pending.map(({ name }) => name));
    const rest = pendingApprovals(await this.#link.status()).filter(({ name }) => names.has(name));
    if (this.#shown.version !== version) return;
    if (rest.length > 0) await this.#show(rest);
    else await closeTabs(this.#folder);
  }

  #textOf({ path, query }: vscode.Uri): string {
    if (!path.endsWith(REVIEW_EXTENSION)) return query === this.#shown.version ? this.#shown.document.text : '';
    const [version, name] = JSON.parse(query) as unknown[];
    if (version !== this.#shown.version) return '';
    const change = this.#shown.pending.find((server) => server.name === name)?.change;
    return (path.startsWith('/before') ? change?.before : change?.now)?.join('\n') ?? '';
  }

  #lenses({ query }: vscode.Uri): vscode.CodeLens[] {
    const { version, document } = this.#shown;
    if (query !== version) return [];
    return document.offers.map(
      ({ action, line, title, names }) =>
        new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
          command: COMMANDS[action],
          title: `$(${ICONS[action]})\u00a0${notificationText`${title}`}`,
          arguments: [{ folder: this.#folder, version, names } satisfies Choice],
        }),
    );
  }

  /** Checks nothing at first, so that Enter approves nothing. */
  async #pick(): Promise<readonly PendingApproval[]> {
    const picked = await pickMany(
      this.#shown.pending.map((server) => ({
        label: notificationText`${oneLine(server.name, 60)}`,
        detail: notificationText`${server.lines[0] ?? ''}`,
        server,
      })),
      {
        title: notificationText`Approve Servers`,
        placeHolder: notificationText`Checked servers may start in this workspace`,
      },
    );
    return picked?.map(({ server }) => server) ?? [];
  }
}

/** Validates the argument of a button. The button in the editor's title bar passes the document's address instead. */
function choiceIn(argument: unknown): Choice | undefined {
  if (typeof argument !== 'object' || argument === null) return undefined;
  const { folder, version, names } = argument as Partial<Choice>;
  if (typeof folder !== 'string' || typeof version !== 'string' || !Array.isArray(names)) return undefined;
  return { folder, version, names: names.filter((name) => typeof name === 'string') };
}

/** Closes the documents of all versions but one. */
async function closeTabs(folder: string, except?: string): Promise<void> {
  const isOld = ({ scheme, authority, query }: vscode.Uri): boolean =>
    scheme === APPROVAL_SCHEME && authority === folder && query !== except;
  const tabs = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(
      ({ input }) =>
        (input instanceof vscode.TabInputText && isOld(input.uri)) ||
        (input instanceof vscode.TabInputTextDiff && isOld(input.modified)),
    );
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs);
}

async function warnOfNewer(): Promise<void> {
  await notify('warning', notificationText`Nothing was approved: the document shows other servers now. Read it again.`);
}

async function warnOfChange(changed: readonly PendingApproval[]): Promise<void> {
  const names = changed.map(({ name }) => oneLine(name, 60)).join(', ');
  await notify(
    'warning',
    notificationText`Nothing was approved: the command of ${names} has changed since it was shown. Read it again.`,
  );
}

/** Offers each waiting command once. If the user closes the message, the server remains in the tree. */
export function offerApprovals(
  folder: string,
  label: () => string | undefined,
  gateway: Observable<GatewayView>,
): { dispose(): void } {
  const offered = new Set<string>();
  const look = ({ link }: GatewayView): void => {
    const news =
      link.kind === 'attached' ? pendingApprovals(link.snapshot).filter(({ hash }) => !offered.has(hash)) : [];
    if (news.length === 0) return;
    for (const { hash } of news) offered.add(hash);
    void offer(
      folder,
      label(),
      news.map(({ name }) => oneLine(name, 60)),
    );
  };
  look(gateway.value);
  return gateway.onChange(look);
}

async function offer(folder: string, title: string | undefined, names: readonly string[]): Promise<void> {
  const [all, place] = [names.join(', '), oneLine(title ?? '', 60)];
  const waiting =
    title === undefined
      ? plural(
          names.length,
          t`This workspace configures 1 server that you have not approved yet: ${all}.`,
          t`This workspace configures ${names.length} servers that you have not approved yet: ${all}.`,
        )
      : plural(
          names.length,
          t`The folder ${place} configures 1 server that you have not approved yet: ${all}.`,
          t`The folder ${place} configures ${names.length} servers that you have not approved yet: ${all}.`,
        );
  const message = notificationText`${waiting} Waygate starts a server only after you have seen its command.`;
  await notify('warning', message, onFolder(folder, 'waygate.approveServers'));
}
