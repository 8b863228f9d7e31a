import * as vscode from 'vscode';
import type { ServerStatus } from '../control/contract.ts';
import { approvalText, pendingApprovals } from './approvalText.ts';
import { COMMANDS } from './contributions.ts';
import type { GatewayLink } from './gatewayLink.ts';
import type { GatewayView } from './health.ts';
import type { Observable } from './observable.ts';
import { count, oneLine } from './plainText.ts';
import { runCommand } from './registrations.ts';

const SCHEME = 'waygate-approval';

/**
 * A repository must not run code because someone opened it: the person sees what the workspace's servers would run,
 * whole, in a document, and picks those that may.
 */
export class ServerApproval {
  readonly #link: GatewayLink;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #provider: vscode.Disposable;
  #text = '';

  constructor(link: GatewayLink) {
    this.#link = link;
    this.#provider = vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: this.#changed.event,
      provideTextDocumentContent: () => this.#text,
    });
  }

  async ask(only?: ServerStatus): Promise<void> {
    const waiting = pendingApprovals(await this.#link.status());
    const shown = only === undefined ? waiting : waiting.filter(({ name }) => name === only.name);
    if (shown.length === 0) {
      void vscode.window.showInformationMessage('No server waits for approval.');
      return;
    }
    this.#text = approvalText(shown);
    const uri = vscode.Uri.from({ scheme: SCHEME, path: '/What Waygate would run' });
    this.#changed.fire(uri);
    await vscode.window.showTextDocument(uri, { preview: true, preserveFocus: true });
    const picked = await vscode.window.showQuickPick(
      shown.map((server) => ({ label: oneLine(server.name, 60), detail: server.lines[0] ?? '', picked: true, server })),
      {
        canPickMany: true,
        ignoreFocusOut: true,
        title: 'Approve Servers: the document shows the whole of what each would run',
        placeHolder: 'Those that are checked may start in this workspace',
      },
    );
    if (picked === undefined || picked.length === 0) return;
    await this.#link.approve(picked.map(({ server }) => server.hash));
  }

  dispose(): void {
    this.#provider.dispose();
    this.#changed.dispose();
  }
}

/** Asks once for each thing that waits; who closes the message finds it in the tree. */
export function offerApprovals(gateway: Observable<GatewayView>): { dispose(): void } {
  const offered = new Set<string>();
  const look = ({ link }: GatewayView): void => {
    const news =
      link.kind === 'attached' ? pendingApprovals(link.snapshot).filter(({ hash }) => !offered.has(hash)) : [];
    if (news.length === 0) return;
    for (const { hash } of news) offered.add(hash);
    void offer(news.map(({ name }) => oneLine(name, 60)));
  };
  look(gateway.value);
  return gateway.onChange(look);
}

async function offer(names: readonly string[]): Promise<void> {
  const { title } = COMMANDS['waygate.approveServers'];
  const message = `This workspace names ${count(names.length, 'server')} that you have not approved yet: ${names.join(', ')}. Waygate starts none of them before you have seen what would run.`;
  const chosen = await vscode.window.showWarningMessage(message, `${title}…`);
  if (chosen !== undefined) await runCommand('waygate.approveServers');
}
