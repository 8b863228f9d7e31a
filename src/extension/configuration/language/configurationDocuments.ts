import * as vscode from 'vscode';
import type { GatewaySnapshot, ServerStatus } from '../../../control/contract.ts';
import { isWithin } from '../../../lib/readBounded.ts';
import { CONFIGURATION_PATH, OWN_CONFIGURATIONS } from '../../contributions.ts';
import { toRange } from '../../tree/toolsTree.ts';
import type { LanguageParts } from './configurationLanguage.ts';
import { type ConfigurationText, type Piece, readText } from './configurationText.ts';

export const SELECTOR: vscode.DocumentSelector = [CONFIGURATION_PATH, ...OWN_CONFIGURATIONS].map((path) => ({
  scheme: 'file',
  pattern: `**/${path}`,
}));

/** Texts of the open configurations, and what the gateway knows about their servers. */
export class ConfigurationDocuments {
  /** Name of the folder's gateway. */
  readonly folder: string;
  readonly #gateway: LanguageParts['gateway'];
  readonly #isFirstServed: () => boolean;
  readonly #texts = new WeakMap<vscode.TextDocument, { version: number; text: ConfigurationText }>();

  constructor({ folder, gateway, isFirstServed }: Pick<LanguageParts, 'folder' | 'gateway' | 'isFirstServed'>) {
    this.folder = folder;
    this.#gateway = gateway;
    this.#isFirstServed = isFirstServed;
  }

  /** Returns the text with its positions, which are computed once for a version. */
  read(document: vscode.TextDocument): ConfigurationText {
    const kept = this.#texts.get(document);
    if (kept?.version === document.version) return kept.text;
    const text = readText(document.getText());
    this.#texts.set(document, { version: document.version, text });
    return text;
  }

  /** Returns the present snapshot if the gateway reads this file. */
  snapshotOf({ uri }: vscode.TextDocument): GatewaySnapshot | undefined {
    const { link } = this.#gateway.value;
    if (link.kind !== 'attached') return undefined;
    const { configuration, workspace } = link.snapshot;
    const files = configuration.files ?? [configuration];
    const shown = files.filter(({ file }) => this.#isFirstServed() || isWithin(workspace, file));
    return shown.some(({ file }) => isAt(uri, file, workspace)) ? link.snapshot : undefined;
  }

  /** Returns the servers that a file configures. */
  serversOf(document: vscode.TextDocument): readonly ServerStatus[] {
    const snapshot = this.snapshotOf(document);
    if (!snapshot) return [];
    return snapshot.servers.filter(({ location }) => location && isAt(document.uri, location.file, snapshot.workspace));
  }

  /** Makes the argument that a row of the tree would pass to a command. */
  rowOf(server: string): object {
    return { kind: 'server', folder: this.folder, server: { name: server } };
  }

  commandOn(server: string, command: string, title: string): vscode.Command {
    return { command, title, arguments: [this.rowOf(server)] };
  }
}

function isAt(uri: vscode.Uri, file: string, workspace: string): boolean {
  return toRange({ file, line: 1, column: 1 }, workspace).uri.toString() === uri.toString();
}

export function rangeOf(document: vscode.TextDocument, { offset, length }: Piece): vscode.Range {
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}
