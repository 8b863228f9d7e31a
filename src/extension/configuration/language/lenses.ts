import * as vscode from 'vscode';
import { throttled } from '../../gateway/pacing.ts';
import type { Observable } from '../../observable.ts';
import type { GatewayView } from '../../status/health.ts';
import { type ConfigurationDocuments, rangeOf, SELECTOR } from './configurationDocuments.ts';
import type { ConfigurationText } from './configurationText.ts';
import { serverLenses } from './serverWords.ts';

/** Time for which a text with errors keeps its lines: the user is typing. */
const TYPING_MS = 2_000;
const REFRESH_INTERVAL_MS = 500;

/** Lines above the names of servers with their states and buttons. */
export class ConfigurationLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #documents: ConfigurationDocuments;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #sound = new WeakMap<vscode.TextDocument, { text: ConfigurationText; at: number }>();
  readonly #parts: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;
  #shown = '';

  constructor(documents: ConfigurationDocuments, gateway: Observable<GatewayView>) {
    this.#documents = documents;
    const refresh = throttled(REFRESH_INTERVAL_MS, () => this.#changed.fire());
    this.#parts = vscode.Disposable.from(
      vscode.languages.registerCodeLensProvider(SELECTOR, this),
      vscode.workspace.onDidSaveTextDocument(refresh),
      gateway.onChange((view) => {
        const key = keyOf(view);
        if (key === this.#shown) return;
        this.#shown = key;
        refresh();
      }),
      refresh,
      this.#changed,
      { dispose: () => clearTimeout(this.#timer) },
    );
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const snapshot = this.#documents.snapshotOf(document);
    const text = snapshot && this.#soundText(document);
    if (!text) return [];
    return serverLenses(text, this.#documents.serversOf(document), document.isDirty).map((lens) => {
      const { title, command, server = '' } = lens;
      const range = rangeOf(document, lens);
      return new vscode.CodeLens(
        range,
        command ? this.#documents.commandOn(server, command, title) : { title, command: '' },
      );
    });
  }

  dispose(): void {
    this.#parts.dispose();
  }

  /** Returns the last text without errors, for a moment after an error appeared in it. */
  #soundText(document: vscode.TextDocument): ConfigurationText | undefined {
    const text = this.#documents.read(document);
    const now = performance.now();
    if (!text.isBroken) {
      this.#sound.set(document, { text, at: now });
      return text;
    }
    const last = this.#sound.get(document);
    const left = last ? last.at + TYPING_MS - now : 0;
    if (!last || left <= 0) return undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#changed.fire(), left);
    return last.text;
  }
}

/** Key of everything that the lines show. */
function keyOf({ link }: GatewayView): string {
  if (link.kind !== 'attached') return link.kind;
  return JSON.stringify(
    link.snapshot.servers.map(({ name, state, toolCount, definitionTokens, supervised, remedy, location }) => [
      [name, state, toolCount, definitionTokens],
      [supervised?.restart_count, remedy?.kind, location],
    ]),
  );
}
