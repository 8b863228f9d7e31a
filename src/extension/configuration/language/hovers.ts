import * as vscode from 'vscode';
import { visibleText } from '../../../text/visibleText.ts';
import type { CommandId } from '../../contributions.ts';
import { sentenceOf } from '../../gateway/gatewayLink.ts';
import { t } from '../../l10n.ts';
import { commandLink, markdownLine, markdownText, paragraph } from '../../notificationText.ts';
import { rangeOf } from './configurationDocuments.ts';
import type { LanguageSources } from './configurationLanguage.ts';
import { type Subject, subjectAt } from './configurationText.ts';
import { isSecretSet } from './keptSecrets.ts';
import { type HoverText, limitHover, secretHover, serverButtons, serverHover, statusOf } from './serverWords.ts';

const TRUSTED: readonly CommandId[] = [
  'waygate.approveServers',
  'waygate.reviewChanges',
  'waygate.setSecret',
  'waygate.signIn',
  'waygate.restartServer',
  'waygate.openServerLog',
  'waygate.keepSecret',
];

/** Describes servers, secrets and limits under the pointer. */
export class ConfigurationHovers implements vscode.HoverProvider {
  readonly #from: LanguageSources;

  constructor(from: LanguageSources) {
    this.#from = from;
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const subject = subjectAt(this.#from.documents.read(document), document.offsetAt(position));
    const snapshot = this.#from.documents.snapshotOf(document);
    if (!subject || !snapshot) return undefined;
    const { lines, code } = await this.#describe(subject, document, snapshot.workspace);
    if (lines.length === 0) return undefined;
    const content = new vscode.MarkdownString();
    content.isTrusted = { enabledCommands: [...TRUSTED] };
    for (const line of lines) content.appendMarkdown(paragraph(line));
    if (code !== undefined) content.appendCodeblock(visibleText(code), 'text');
    return new vscode.Hover(content, rangeOf(document, subject));
  }

  async #describe(subject: Subject, document: vscode.TextDocument, workspace: string): Promise<HoverText> {
    switch (subject.kind) {
      case 'secret': {
        const { name } = subject;
        const isSet = await isSecretSet(this.#from.secrets, workspace, name);
        const link = commandLink(t`Set Secret…`, 'waygate.keepSecret', { folder: this.#from.documents.folder, name });
        return { lines: [secretHover(name, isSet), link] };
      }
      case 'limit': {
        const report = await this.#from.link.request('limits', {}).catch(sentenceOf);
        if (typeof report === 'string') return { lines: [markdownText`${report}`] };
        return { lines: limitHover(report.windows, subject.scopes) };
      }
      case 'server': {
        const server = statusOf(this.#from.documents.serversOf(document), subject.name);
        if (!server) return { lines: [] };
        const filter = { server: server.name };
        // A worker of an older build keeps no calls.
        const page = await this.#from.link.request('calls', { limit: 1, filter }).catch(() => undefined);
        const { lines, code } = serverHover(server, page?.calls[0], Date.now());
        const row = this.#from.documents.rowOf(server.name);
        const links = serverButtons(server).map(({ title, command }) => commandLink(title, command, row));
        const [title, ...rest] = lines;
        const shown = [...(title ? [title] : []), ...(links.length > 0 ? [markdownLine(links)] : []), ...rest];
        return { lines: shown, ...(code !== undefined && { code }) };
      }
    }
  }
}
