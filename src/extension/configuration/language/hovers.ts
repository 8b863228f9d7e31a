import * as vscode from 'vscode';
import { visibleText } from '../../../text/visibleText.ts';
import { COMMANDS, type CommandId } from '../../contributions.ts';
import type { EditorSecrets } from '../../gateway/editorSecrets.ts';
import type { GatewayLink } from '../../gateway/gatewayLink.ts';
import { type ConfigurationDocuments, rangeOf } from './configurationDocuments.ts';
import { type Subject, subjectAt } from './configurationText.ts';
import { isSecretSet } from './keptSecrets.ts';
import { limitHover, secretHover, serverButtons, serverHover, statusOf } from './serverWords.ts';

const TRUSTED: readonly CommandId[] = [
  'waygate.approveServers',
  'waygate.reviewChanges',
  'waygate.setSecret',
  'waygate.signIn',
  'waygate.restartServer',
  'waygate.showServerLog',
  'waygate.keepSecret',
];

/** Describes servers, secrets and limits under the pointer. */
export class ConfigurationHovers implements vscode.HoverProvider {
  readonly #documents: ConfigurationDocuments;
  readonly #link: Pick<GatewayLink, 'request'>;
  readonly #secrets: EditorSecrets;

  constructor(documents: ConfigurationDocuments, link: Pick<GatewayLink, 'request'>, secrets: EditorSecrets) {
    this.#documents = documents;
    this.#link = link;
    this.#secrets = secrets;
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const subject = subjectAt(this.#documents.read(document), document.offsetAt(position));
    const snapshot = this.#documents.snapshotOf(document);
    if (!subject || !snapshot) return undefined;
    const content = new vscode.MarkdownString();
    content.isTrusted = { enabledCommands: [...TRUSTED] };
    await this.#describe(subject, document, snapshot.workspace, content);
    return content.value === '' ? undefined : new vscode.Hover(content, rangeOf(document, subject));
  }

  async #describe(
    subject: Subject,
    document: vscode.TextDocument,
    workspace: string,
    content: vscode.MarkdownString,
  ): Promise<void> {
    const add = (line: string): unknown => content.appendMarkdown(`${line}\n\n`);
    switch (subject.kind) {
      case 'secret': {
        const isSet = await isSecretSet(this.#secrets, workspace, subject.name);
        add(secretHover(subject.name, isSet));
        add(commandLink(`${COMMANDS['waygate.setSecret'].title}…`, 'waygate.keepSecret', { name: subject.name }));
        return;
      }
      case 'limit': {
        const { windows } = await this.#link.request('limits', {});
        for (const line of limitHover(windows, subject.scopes)) add(line);
        return;
      }
      case 'server': {
        const server = statusOf(this.#documents.serversOf(document), subject.name);
        if (!server) return;
        const { calls } = await this.#link.request('calls', { limit: 1, filter: { server: server.name } });
        const { lines, code } = serverHover(server, calls[0], Date.now());
        for (const line of lines) add(line);
        if (code !== undefined) content.appendCodeblock(visibleText(code), 'text');
        const row = { kind: 'server', server: { name: server.name } };
        add(
          serverButtons(server)
            .map(({ title, command }) => commandLink(title, command, row))
            .join(' · '),
        );
      }
    }
  }
}

/** Makes a link of own words; only the argument has foreign ones, as JSON in the address. */
function commandLink(title: string, command: CommandId, argument: object): string {
  const query = encodeURIComponent(JSON.stringify([argument])).replace(/[()]/g, (char) =>
    char === '(' ? '%28' : '%29',
  );
  return `[${title}](command:${command}?${query})`;
}
