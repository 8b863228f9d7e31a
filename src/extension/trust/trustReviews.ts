import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import type { ServerScan, TrustItem, TrustReview } from '../../control/contract.ts';
import { quoted } from '../../text/porcelain.ts';
import { type CommandId, REVIEW_EXTENSION, TRUST_SCHEME } from '../contributions.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { notificationText } from '../notificationText.ts';
import type { Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { asRow, clickedServer, type ServerAction, serverOf } from '../tree/clickedServer.ts';
import type { ToolElement } from '../tree/toolRows.ts';
import { notify, pick } from '../windows.ts';
import { listingKey } from './findings.ts';
import { heldLabel, isQuarantined, reviewNews } from './heldRows.ts';
import {
  ACTION_TITLES,
  approvedDocument,
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

const NOT_OPEN = 'Only what a review shows can be accepted or released. Open it with "Review Changes"';

const QUARANTINE: ServerAction = {
  title: notificationText`Quarantine`,
  applies: (server) => !isQuarantined(server),
  none: notificationText`The server is in quarantine already.`,
};

const RELEASE: ServerAction = {
  title: notificationText`Release from Quarantine`,
  applies: isQuarantined,
  none: notificationText`No server is in quarantine.`,
};

/** Item as its documents show it. */
interface Review {
  shown: ShownItem;
  item: TrustItem;
  scan: ServerScan | undefined;
}

type Reviewable = Omit<Review, 'scan'>;

/**
 * Shows what has changed at a server as a comparison, in which the user accepts or blocks it. A decision names the
 * version that its document shows, and the worker refuses any other.
 */
export class TrustReviews {
  readonly #link: GatewayLink;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly #parts: vscode.Disposable;
  /** Reviews and quarantined servers by the address of their document. */
  readonly #reviews = new Map<string, Review>();
  readonly #quarantines = new Map<string, { server: string; document: ReviewDocument }>();
  readonly #documents = new Map<string, ReviewDocument>();

  constructor(link: GatewayLink, gateway: Observable<GatewayView>) {
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
        provideTextDocumentContent: (uri) => this.#content(uri),
      }),
      vscode.languages.registerCodeLensProvider(
        { scheme: TRUST_SCHEME },
        {
          onDidChangeCodeLenses: this.#lensesChanged.event,
          provideCodeLenses: (document) => this.#lenses(document),
        },
      ),
    );
  }

  /** Shows a change of the row, or of the document, that a command was run on; the user chooses among several. */
  async review(argument: unknown): Promise<void> {
    const row = asRow(argument);
    const server = row ? serverOf(row) : this.#shownIn(argument)?.server;
    const reviews = await this.#link.trust(server);
    const key = row ? undefined : this.#shownIn(argument)?.key;
    const found = reviews
      .flatMap((review) => reviewables(review))
      .filter(({ item }) => (row ? isOf(row, item) : key === undefined || item.key === key));
    const chosen = found.length > 1 ? await choose(found) : found[0];
    if (chosen) return this.#open(chosen);
    if (found.length > 0) return;
    const quarantined = reviews.find(({ quarantine }) => quarantine !== undefined);
    if (quarantined) return this.#openQuarantine(quarantined.server);
    const problem = reviews.find(({ problem }) => problem !== undefined)?.problem;
    void notify('info', notificationText`${problem ?? 'No change waits for your review.'}`);
  }

  /** Accepts the item of a document in the version that it shows. */
  async accept(argument: unknown): Promise<void> {
    const shown = this.#shownIn(argument);
    if (!shown) throw new Error(NOT_OPEN);
    const { server, key, pin } = shown;
    const { now } = addressesOf(shown);
    const text = this.#documents.get(String(now))?.text ?? '';
    await this.#link.decide({ action: 'accept', server, shown: [{ key, pin }], lines: sha256(text) });
    await this.#close(now);
  }

  /** Blocks the item of a row or of a document, in any version. */
  async block(argument: unknown): Promise<void> {
    const row = asRow(argument);
    const shown = this.#shownIn(argument);
    if (shown) {
      await this.#link.decide({ action: 'block', server: shown.server, keys: [shown.key] });
      await this.#close(addressesOf(shown).now);
    } else if (row?.kind === 'held') {
      const items = (await this.#link.trust(row.server)).flatMap((review) => review.items);
      // An item of a quarantined server may differ in nothing from its pin.
      const keys = items.filter((item) => isOf(row, item)).map(({ key }) => key);
      const { part, name } = row.item;
      const named = keys.length > 0 ? keys : [`${part}:${name}`];
      await this.#link.decide({ action: 'block', server: row.server, keys: named });
    } else {
      // The document of the review has the button that blocks.
      await this.review(argument);
    }
  }

  async quarantine(argument: unknown): Promise<void> {
    const server = await clickedServer(this.#link, argument, QUARANTINE);
    if (server) await this.#link.decide({ action: 'quarantine', server: server.name });
  }

  /** Shows why a server is in quarantine; the document has the button that releases it. */
  async release(argument: unknown): Promise<void> {
    const server = await clickedServer(this.#link, argument, RELEASE);
    if (server) await this.#openQuarantine(server.name);
  }

  /** Releases the server of a document, unless its reason or its findings are others by now. */
  async releaseShown(argument: unknown): Promise<void> {
    const address = addressIn(argument);
    const shown = this.#quarantines.get(address ?? '');
    if (address === undefined || !shown) throw new Error(NOT_OPEN);
    const now = await this.#quarantineOf(shown.server);
    if (now.text !== shown.document.text) {
      await this.#openQuarantine(shown.server);
      throw new Error('Its findings have changed since they were shown, so it was not released. Read them again');
    }
    await this.#link.decide({ action: 'release', server: shown.server, lines: sha256(now.text) });
    await this.#close(vscode.Uri.parse(address));
  }

  dispose(): void {
    this.#parts.dispose();
  }

  async #open({ shown, item }: Reviewable): Promise<void> {
    const { approved, now } = addressesOf(shown);
    this.#remember({ shown, item, scan: (await this.#link.scan(shown.server))[0] });
    await vscode.commands.executeCommand('vscode.diff', approved, now, reviewTitle(item), {
      preview: true,
    });
  }

  #remember(review: Review): void {
    const { approved, now } = addressesOf(review.shown);
    this.#reviews.set(String(now), review);
    this.#put(approved, { text: approvedDocument(review.item), actions: [] });
    this.#put(now, presentDocument(review.item, review.scan, 'shown'));
  }

  async #openQuarantine(server: string): Promise<void> {
    const document = await this.#quarantineOf(server);
    const uri = address('quarantine', [server]);
    this.#quarantines.set(String(uri), { server, document });
    this.#put(uri, document);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  async #quarantineOf(server: string): Promise<ReviewDocument> {
    const [[review], [scan]] = await Promise.all([this.#link.trust(server), this.#link.scan(server)]);
    if (!review) throw new Error(`There is no server ${quoted(server)}`);
    return quarantineDocument(review, scan);
  }

  /** Compares the open documents with the present lists. */
  async #compare(): Promise<void> {
    const open = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === TRUST_SCHEME);
    const reviews = open.flatMap(({ uri }) => this.#reviews.get(String(uri)) ?? []);
    if (reviews.length === 0) return;
    const now = await this.#link.trust();
    for (const { shown, item, scan } of reviews) {
      const state = reviewState(
        shown,
        now.find(({ server }) => server === shown.server),
      );
      this.#put(addressesOf(shown).now, presentDocument(item, scan, state));
    }
  }

  #put(uri: vscode.Uri, document: ReviewDocument): void {
    if (this.#documents.get(String(uri))?.text === document.text) return;
    this.#documents.set(String(uri), document);
    this.#changed.fire(uri);
    this.#lensesChanged.fire();
  }

  /** Returns the text of a document. A window that was reloaded has forgotten its reviews. */
  async #content(uri: vscode.Uri): Promise<string> {
    if (!this.#documents.has(String(uri))) return 'This review is closed. Open it again with "Review Changes".\n';
    return this.#documents.get(String(uri))?.text ?? '';
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

  /** Returns the item that a document shows. Only such an item can be accepted. */
  #shownIn(argument: unknown): ShownItem | undefined {
    return this.#reviews.get(addressIn(argument) ?? '')?.shown;
  }

  async #close(uri: vscode.Uri): Promise<void> {
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
}

/** Offers a review once per server and session. Only the documents of the review accept anything. */
export function offerReviews(gateway: Observable<GatewayView>): { dispose(): void } {
  const offered = new Set<string>();
  const look = ({ link }: GatewayView): void => {
    const message = link.kind === 'attached' ? reviewNews(link.snapshot.servers, offered) : undefined;
    if (message !== undefined) void notify('warning', message, 'waygate.reviewChanges');
  };
  look(gateway.value);
  return gateway.onChange(look);
}

function reviewables(review: TrustReview): Reviewable[] {
  return reviewable(review).map((item) => ({
    shown: { server: review.server, key: item.key, pin: item.pin },
    item,
  }));
}

/** Returns the addresses of the two documents of a review. Another version has other addresses. */
function addressesOf({ server, key, pin }: ShownItem): { approved: vscode.Uri; now: vscode.Uri } {
  return { approved: address('approved', [server, key, pin]), now: address('now', [server, key, pin]) };
}

function address(side: string, query: readonly string[]): vscode.Uri {
  return vscode.Uri.from({
    scheme: TRUST_SCHEME,
    path: `/${side}${REVIEW_EXTENSION}`,
    query: JSON.stringify(query),
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function addressIn(argument: unknown): string | undefined {
  return argument instanceof vscode.Uri && argument.scheme === TRUST_SCHEME ? String(argument) : undefined;
}

function isOf(row: ToolElement, { part, name }: TrustItem): boolean {
  return row.kind !== 'held' || (row.item.part === part && row.item.name === name);
}

async function choose(found: readonly Reviewable[]): Promise<Reviewable | undefined> {
  const picked = await pick(
    found.map((review) => ({
      label: heldLabel({ ...review.item, why: review.item.state }),
      description: notificationText`${[review.shown.server, ...review.item.kinds].join(', ')}`,
      review,
    })),
    { title: notificationText`Review Changes`, placeHolder: notificationText`Changes that wait for your review` },
  );
  return picked?.review;
}
