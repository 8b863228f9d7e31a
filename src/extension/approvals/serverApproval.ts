import * as vscode from 'vscode';
import type { ServerStatus } from '../../control/contract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { APPROVAL_LANGUAGE, APPROVAL_SCHEME, type CommandId } from '../contributions.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { notificationText } from '../notificationText.ts';
import type { Observable } from '../observable.ts';
import { count } from '../plainText.ts';
import type { GatewayView } from '../status/health.ts';
import { notify, onFolder, pickMany } from '../windows.ts';
import { type ApprovalDocument, approvalDocument, type PendingApproval, pendingApprovals } from './approvalText.ts';

const APPROVE: CommandId = 'waygate.approveShown';

/**
 * Doubles each time: must exceed the time for which the editor collects changes before it asks for the buttons, however
 * slow it is.
 */
const FIRST_REMINDER_MS = 500;
const LAST_REMINDER_MS = 32_000;

/**
 * Shows the full commands of the workspace's servers in a document, where the user approves them: opening a repository
 * must not run its code. Only commands that the document shows can be approved.
 */
export class ServerApproval {
  readonly #folder: string;
  readonly #uri: vscode.Uri;
  readonly #link: GatewayLink;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #offersChanged = new vscode.EventEmitter<void>();
  readonly #parts: vscode.Disposable;
  #shown: readonly PendingApproval[] = [];
  #document: ApprovalDocument = approvalDocument([]);
  /** Document for which the editor last requested the buttons. */
  #offered: ApprovalDocument | undefined;
  #reminder: NodeJS.Timeout | undefined;

  constructor(folder: string, link: GatewayLink) {
    this.#folder = folder;
    this.#uri = vscode.Uri.from({ scheme: APPROVAL_SCHEME, authority: folder, path: '/What Waygate would run' });
    this.#link = link;
    this.#parts = vscode.Disposable.from(
      this.#changed,
      this.#offersChanged,
      vscode.workspace.registerTextDocumentContentProvider(APPROVAL_SCHEME, {
        onDidChange: this.#changed.event,
        provideTextDocumentContent: (uri) => (this.#isOwn(uri) ? this.#document.text : undefined),
      }),
      vscode.languages.registerCodeLensProvider(
        { scheme: APPROVAL_SCHEME },
        {
          onDidChangeCodeLenses: this.#offersChanged.event,
          provideCodeLenses: (document) => (this.#isOwn(document.uri) ? this.#lenses(document) : []),
        },
      ),
      { dispose: () => clearTimeout(this.#reminder) },
    );
  }

  /** Shows all servers that wait for approval, or one of them. */
  async ask(only?: ServerStatus): Promise<void> {
    const waiting = pendingApprovals(await this.#link.status());
    const shown = only === undefined ? waiting : waiting.filter(({ name }) => name === only.name);
    if (shown.length === 0) {
      void notify('info', notificationText`No server waits for approval.`);
      return;
    }
    this.#show(shown);
    // The document's language wraps long lines, so that every part of a command is visible.
    const document = await vscode.workspace.openTextDocument(this.#uri);
    await vscode.languages.setTextDocumentLanguage(document, APPROVAL_LANGUAGE);
    await vscode.window.showTextDocument(document, { preview: true });
    this.#remindLater();
  }

  /** Approves the named servers among those shown, or asks the user to choose. */
  async approveShown(names?: readonly string[]): Promise<void> {
    const chosen = names === undefined ? await this.#pick() : this.#shown.filter(({ name }) => names.includes(name));
    if (chosen.length === 0) return;
    const waiting = new Map(pendingApprovals(await this.#link.status()).map((server) => [server.name, server]));
    const changed = chosen.filter(({ name, hash }) => waiting.has(name) && waiting.get(name)?.hash !== hash);
    if (changed.length === 0) await this.#link.approve(chosen.map(({ hash }) => hash));
    else void warnOfChange(changed);
    await this.#showRest();
  }

  dispose(): void {
    this.#parts.dispose();
  }

  #isOwn(uri: vscode.Uri): boolean {
    return String(uri) === String(this.#uri);
  }

  #show(shown: readonly PendingApproval[]): void {
    this.#shown = shown;
    this.#document = approvalDocument(shown);
    this.#changed.fire(this.#uri);
  }

  /**
   * Reminds the editor to request the buttons again. An editor that loses focus while it collects changes forgets to,
   * and the old buttons would stand under other servers.
   */
  #remindLater(delayMs = FIRST_REMINDER_MS): void {
    clearTimeout(this.#reminder);
    this.#reminder = setTimeout(() => {
      const isOpen = vscode.workspace.textDocuments.some(({ uri }) => this.#isOwn(uri));
      if (!isOpen || this.#offered === this.#document) return;
      this.#offersChanged.fire();
      this.#remindLater(Math.min(2 * delayMs, LAST_REMINDER_MS));
    }, delayMs);
  }

  /** Shows the servers that still wait after an approval. */
  async #showRest(): Promise<void> {
    const shown = new Set(this.#shown.map(({ name }) => name));
    const rest = pendingApprovals(await this.#link.status()).filter(({ name }) => shown.has(name));
    this.#show(rest);
    if (rest.length > 0) return this.#remindLater();
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => input instanceof vscode.TabInputText && this.#isOwn(input.uri));
    await vscode.window.tabGroups.close(tabs);
  }

  /** Returns the buttons; none for a text that is about to change. */
  #lenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (document.getText() !== this.#document.text) return [];
    this.#offered = this.#document;
    return this.#document.offers.map(
      ({ line, title, names }) =>
        new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
          command: APPROVE,
          title: `$(check)\u00a0${notificationText`${title}`}`,
          arguments: [{ folder: this.#folder, names }],
        }),
    );
  }

  async #pick(): Promise<readonly PendingApproval[]> {
    const picked = await pickMany(
      this.#shown.map((server) => ({
        label: notificationText`${oneLine(server.name, 60)}`,
        detail: notificationText`${server.lines[0] ?? ''}`,
        picked: true,
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
  const place = title === undefined ? 'This workspace' : `The folder ${oneLine(title, 60)}`;
  const message = notificationText`${place} configures ${count(names.length, 'server')} that you have not approved yet: ${names.join(', ')}. Waygate starts none of them until you have seen the commands.`;
  await notify('warning', message, onFolder(folder, 'waygate.approveServers'));
}
