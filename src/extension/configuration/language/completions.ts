import * as vscode from 'vscode';
import { notificationText } from '../../notificationText.ts';
import { rangeOf } from './configurationDocuments.ts';
import type { LanguageSources } from './configurationLanguage.ts';
import { hasTyped, inserted, type Proposal, proposalAt } from './configurationText.ts';
import { secretNames } from './keptSecrets.ts';

/** Names that a list shows at once; typing more letters finds the others. */
const MAX_NAMES = 200;

interface Name {
  name: string;
  description?: string;
}

/** Proposes names of kept secrets, servers and tools where the schema knows none. */
export class ConfigurationCompletions implements vscode.CompletionItemProvider {
  readonly #from: LanguageSources;

  constructor(from: LanguageSources) {
    this.#from = from;
  }

  async provideCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.CompletionList | undefined> {
    const proposal = proposalAt(document.getText(), document.offsetAt(position));
    const snapshot = this.#from.documents.snapshotOf(document);
    if (!proposal || !snapshot) return undefined;
    const names = await this.#names(proposal.names, snapshot.workspace, snapshot.servers);
    const fitting = names.filter(({ name }) => hasTyped(name, proposal.typed));
    const items = fitting.slice(0, MAX_NAMES).map((name) => itemFor(name, proposal, document));
    return new vscode.CompletionList(items, fitting.length > items.length);
  }

  async #names(kind: Proposal['names'], workspace: string, servers: readonly Name[]): Promise<readonly Name[]> {
    if (kind === 'servers') return servers;
    if (kind === 'tools') {
      const { paths } = await this.#from.link.request('paths', {});
      return paths.map(({ toolId: name, description }) => ({ name, description }));
    }
    return (await secretNames(this.#from.secrets, workspace)).map((name) => ({ name }));
  }
}

function itemFor(entry: Name, proposal: Proposal, document: vscode.TextDocument): vscode.CompletionItem {
  const { name } = entry;
  const { Constant, Reference } = vscode.CompletionItemKind;
  const label = notificationText`${name}`;
  const description = notificationText`${entry.description ?? ''}`;
  const kind = proposal.names === 'secrets' ? Constant : Reference;
  const item = new vscode.CompletionItem({ label, description }, kind);
  item.range = rangeOf(document, proposal);
  item.insertText = inserted(proposal, name);
  // The replaced piece begins with the quotation mark.
  item.filterText = proposal.quoted ? JSON.stringify(name) : name;
  return item;
}
