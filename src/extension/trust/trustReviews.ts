import { createHash } from 'node:crypto';
import type { TrustItem, TrustReview } from '../../control/trustContract.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { asRow, clickedServer, type ServerAction, serverOf } from '../tree/clickedServer.ts';
import type { ToolElement } from '../tree/toolRows.ts';
import { notify, onFolder, pick } from '../windows.ts';
import { heldLabel, isQuarantined, reviewNews } from './heldRows.ts';
import { placeIn, type Reviewable, ReviewDocuments } from './reviewDocuments.ts';
import { reviewable } from './reviewText.ts';

const NOT_OPEN = t`Only what a review shows can be accepted or released. Open it with "Review Changes"`;

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

/**
 * Shows what has changed at a server as a comparison, in which the user accepts or blocks it. A decision names the
 * version that its document shows, and the worker refuses any other.
 */
export class TrustReviews {
  readonly #link: GatewayLink;
  readonly #documents: ReviewDocuments;

  constructor(folder: string, link: GatewayLink, gateway: Observable<GatewayView>) {
    this.#link = link;
    this.#documents = new ReviewDocuments(folder, link, gateway);
  }

  /** Shows a change of the row, or of the document, that a command was run on; the user chooses among several. */
  async review(argument: unknown): Promise<void> {
    const row = asRow(argument);
    const { server, shown } = placeIn(argument) ?? { server: row && serverOf(row) };
    const reviews = await this.#link.trust(server);
    const found = reviews
      .flatMap((review) => reviewables(review))
      .filter(({ item }) => (row ? isOf(row, item) : shown === undefined || item.key === shown.key));
    const chosen = found.length > 1 ? await choose(found) : found[0];
    if (chosen) return this.#documents.open(chosen);
    if (found.length > 0) return;
    const quarantined = reviews.find(({ quarantine }) => quarantine !== undefined);
    if (quarantined) return this.#documents.openQuarantine(quarantined.server);
    const problem = reviews.find(({ problem }) => problem !== undefined)?.problem;
    void notify('info', notificationText`${problem ?? t`No change waits for your review.`}`);
  }

  /** Accepts the item of a document in the version that it shows. */
  async accept(argument: unknown): Promise<void> {
    const { uri } = placeIn(argument) ?? {};
    const document = uri && this.#documents.shownItem(uri);
    if (!uri || !document) throw new Error(NOT_OPEN);
    const { server, key, pin } = document.shown;
    await this.#link.decide({ action: 'accept', server, shown: [{ key, pin }], lines: sha256(document.text) });
    await this.#documents.close(uri);
  }

  /** Blocks the item of a row or of a document, in any version. */
  async block(argument: unknown): Promise<void> {
    const row = asRow(argument);
    const { uri, shown } = placeIn(argument) ?? {};
    if (uri && shown) {
      await this.#link.decide({ action: 'block', server: shown.server, keys: [shown.key] });
      await this.#documents.close(uri);
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
    if (server) await this.#documents.openQuarantine(server.name);
  }

  /** Releases the server of a document, unless its reason or its findings are others by now. */
  async releaseShown(argument: unknown): Promise<void> {
    const { uri, server = '' } = placeIn(argument) ?? {};
    const shown = uri && this.#documents.textOf(uri);
    if (!uri || shown === undefined) throw new Error(NOT_OPEN);
    const { text } = await this.#documents.quarantineOf(server);
    if (text !== shown) {
      await this.#documents.openQuarantine(server);
      throw new Error(t`Its findings have changed since they were shown, so it was not released. Read them again`);
    }
    await this.#link.decide({ action: 'release', server, lines: sha256(text) });
    await this.#documents.close(uri);
  }

  dispose(): void {
    this.#documents.dispose();
  }
}

/** Offers a review once per server and session. Only the documents of the review accept anything. */
export function offerReviews(
  folder: string,
  label: () => string | undefined,
  gateway: Observable<GatewayView>,
): { dispose(): void } {
  const offered = new Set<string>();
  const look = ({ link }: GatewayView): void => {
    const message = link.kind === 'attached' ? reviewNews(link.snapshot.servers, offered) : undefined;
    if (message === undefined) return;
    const title = label();
    const words = title === undefined ? message : notificationText`${oneLine(title, 60)}: ${message}`;
    void notify('warning', words, onFolder(folder, 'waygate.reviewChanges'));
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

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
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
