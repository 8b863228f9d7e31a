import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { ServerScan, TrustItem, TrustReview } from '../../control/trustContract.ts';
import { quoted } from '../../text/porcelain.ts';
import { type CommandId, REVIEW_EXTENSION, TRUST_SCHEME } from '../contributions.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import type { Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { listingKey } from './findings.ts';
import {
  ACTION_TITLES,
  approvedDocument,
  forgottenDocument,
  presentDocument,
  quarantineDocument,
  type ReviewAction,
  type ReviewDocument,
  reviewable,
  reviewState,
  reviewTitle,
  type ShownItem,
} from './reviewText.ts';

const ACTIONS: Record<ReviewAction, CommandId> = {
  accept: 'waygate.acceptShown',
  block: 'waygate.block',
  again: 'waygate.reviewChange',
  release: 'waygate.releaseShown',
};

export interface Reviewable {
  shown: ShownItem;
  item: TrustItem;
}

/** Item as its documents show it. */
interface Review extends Reviewable {
  scan: ServerScan | undefined;
}

/** Documents that compare items with their approved versions, or explain a quarantine. */
export class ReviewDocuments {
  readonly #folder: string;
  readonly #link: GatewayLink;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly #parts: vscode.Disposable;
  /** Reviews by the address of their right document. */
  readonly #reviews = new Map<string, Review>();
  readonly #documents = new Map<string, ReviewDocument>();

  constructor(folder: string, link: GatewayLink, gateway: Observable<GatewayView>) {
    this.#folder = folder;
    this.#link = link;
    let seen = '';
    const look = ({ link }: GatewayView): void => {
      if (link.kind !== 'attached') return;
      const key = listingKey(link.attachment, link.snapshot);
      if (key === seen) return;
      seen = key;
      void this.#compare().catch(() => undefined);
    };
    this.#parts = vscode.Disposable.from(
      this.#changed,
      this.#lensesChanged,
      gateway.onChange(look),
      vscode.workspace.registerTextDocumentContentProvider(TRUST_SCHEME, {
        onDidChange: this.#changed.event,
        provideTextDocumentContent: (uri) => (uri.authority === folder ? this.#content(uri) : undefined),
      }),
      vscode.languages.registerCodeLensProvider(
        { scheme: TRUST_SCHEME },
        {
          onDidChangeCodeLenses: this.#lensesChanged.event,
          provideCodeLenses: (document) => (document.uri.authority === folder ? this.#lenses(document) : []),
        },
      ),
    );
  }

  /** Shows an item beside its approved version. */
  async open({ shown, item }: Reviewable): Promise<void> {
    const { approved, now } = this.#addressesOf(shown);
    this.#remember({ shown, item, scan: (await this.#link.scan(shown.server))[0] });
    await vscode.commands.executeCommand('vscode.diff', approved, now, reviewTitle(item), { preview: true });
  }

  /** Shows why a server is in quarantine. */
  async openQuarantine(server: string): Promise<void> {
    const uri = this.#address('quarantine', [server]);
    this.#put(uri, await this.quarantineOf(server));
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  /** Renders the quarantine of a server as it is now. */
  async quarantineOf(server: string): Promise<ReviewDocument> {
    const [[review], [scan]] = await Promise.all([this.#link.trust(server), this.#link.scan(server)]);
    if (!review) throw new Error(t`There is no server ${quoted(server)}`);
    return quarantineDocument(review, scan);
  }

  /** Returns the item and the text of a comparison, or undefined if it shows none. */
  shownItem(uri: vscode.Uri): { shown: ShownItem; text: string } | undefined {
    const review = this.#reviews.get(String(uri));
    const document = this.#documents.get(String(uri));
    return review && document && { shown: review.shown, text: document.text };
  }

  /** Returns the text of a document. */
  textOf(uri: vscode.Uri): string | undefined {
    return this.#documents.get(String(uri))?.text;
  }

  async close(uri: vscode.Uri): Promise<void> {
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => {
        const shown =
          input instanceof vscode.TabInputTextDiff
            ? input.modified
            : input instanceof vscode.TabInputText
              ? input.uri
              : undefined;
        return shown !== undefined && String(shown) === String(uri);
      });
    await vscode.window.tabGroups.close(tabs);
  }

  dispose(): void {
    this.#parts.dispose();
  }

  /** Returns the addresses of the two documents of a review. Another version has other addresses. */
  #addressesOf({ server, key, pin }: ShownItem): { approved: vscode.Uri; now: vscode.Uri } {
    return {
      approved: this.#address('approved', [server, key, pin]),
      now: this.#address('now', [server, key, pin]),
    };
  }

  #address(side: string, query: readonly string[]): vscode.Uri {
    return vscode.Uri.from({
      scheme: TRUST_SCHEME,
      authority: this.#folder,
      path: `/${side}${REVIEW_EXTENSION}`,
      query: JSON.stringify(query),
    });
  }

  #remember(review: Review): void {
    const { approved, now } = this.#addressesOf(review.shown);
    this.#reviews.set(String(now), review);
    this.#put(approved, { text: approvedDocument(review.item), actions: [] });
    this.#put(now, presentDocument(review.item, review.scan, 'shown'));
  }

  /** Compares the open documents with the present lists, and fills those that VS Code has restored. */
  async #compare(): Promise<void> {
    const open = vscode.workspace.textDocuments.filter(
      ({ uri }) => uri.scheme === TRUST_SCHEME && uri.authority === this.#folder,
    );
    const reviews = open.flatMap(({ uri }) => this.#reviews.get(String(uri)) ?? []);
    const forgotten = open.filter(({ uri }) => !this.#documents.has(String(uri)));
    await Promise.all(forgotten.map(({ uri }) => this.#restore(uri)));
    if (reviews.length === 0) return;
    const now = await this.#link.trust();
    for (const { shown, item, scan } of reviews) {
      this.#put(this.#addressesOf(shown).now, presentDocument(item, scan, stateIn(now, shown)));
    }
  }

  /** Loads what a document of an earlier session showed, if it is still current. */
  async #restore(uri: vscode.Uri): Promise<void> {
    const { server, shown } = placeIn(uri) ?? {};
    if (server === undefined) return;
    if (!shown) return this.#put(uri, await this.quarantineOf(server));
    const [reviews, [scan]] = await Promise.all([this.#link.trust(server), this.#link.scan(server)]);
    const item = reviews.flatMap(reviewable).find(({ key }) => key === shown.key);
    const state = stateIn(reviews, shown);
    if (item && state === 'shown') return this.#remember({ shown, item, scan });
    const { approved, now } = this.#addressesOf(shown);
    this.#put(approved, { text: item ? approvedDocument(item) : '', actions: [] });
    this.#put(now, forgottenDocument(state === 'again' ? 'again' : 'settled'));
  }

  #put(uri: vscode.Uri, document: ReviewDocument): void {
    if (isDeepStrictEqual(this.#documents.get(String(uri)), document)) return;
    this.#documents.set(String(uri), document);
    this.#changed.fire(uri);
    this.#lensesChanged.fire();
  }

  /** Returns the text of a document. VS Code restores documents, for example after it reloaded the window. */
  async #content(uri: vscode.Uri): Promise<string> {
    if (!this.#documents.has(String(uri))) await this.#restore(uri).catch(() => undefined);
    return this.textOf(uri) ?? `${t`The gateway is not running. It shows this review when it runs.`}\n`;
  }

  /** Returns the buttons; none for a text that is about to change. */
  #lenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const shown = this.#documents.get(String(document.uri));
    if (!shown || document.getText() !== shown.text) return [];
    const line = document.lineCount - 1;
    return shown.actions.map(
      (action) =>
        new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
          command: ACTIONS[action],
          title: ACTION_TITLES[action],
          arguments: [document.uri],
        }),
    );
  }
}

/** Server and item of a document's address; an explained quarantine has no item. */
export function placeIn(uri: unknown): { uri: vscode.Uri; server: string; shown?: ShownItem } | undefined {
  if (!(uri instanceof vscode.Uri) || uri.scheme !== TRUST_SCHEME) return undefined;
  try {
    const query: unknown = JSON.parse(uri.query);
    if (!Array.isArray(query) || !query.every((part) => typeof part === 'string')) return undefined;
    const [server, key, pin] = query;
    if (server === undefined) return undefined;
    return { uri, server, ...(key !== undefined && pin !== undefined && { shown: { server, key, pin } }) };
  } catch {
    return undefined;
  }
}

function stateIn(reviews: readonly TrustReview[], shown: ShownItem): ReturnType<typeof reviewState> {
  return reviewState(
    shown,
    reviews.find(({ server }) => server === shown.server),
  );
}
