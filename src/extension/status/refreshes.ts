import type { Refreshed } from '../../control/activityContract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { plural, t } from '../l10n.ts';
import { type Disposable, Observable } from '../observable.ts';
import { amounts, asSentence } from '../plainText.ts';

/** Time for which the result of a refresh is shown. */
export const NEWS_MS = 10_000;
const MAX_NAMED = 4;

/** Servers that are being listed again, and what came of the last refresh. */
export class Refreshes implements Disposable {
  readonly busy = new Observable<ReadonlySet<string>>(new Set());
  /** Result in words, for some seconds. */
  readonly news = new Observable<string | undefined>(undefined);
  /** Reports whether a server waits for the user: its row says more than "was not listed". */
  readonly #waits: (server: string) => boolean;
  #results: Refreshed[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(waits: (server: string) => boolean) {
    this.#waits = waits;
  }

  begin(servers: readonly string[]): void {
    if (this.busy.value.size === 0) this.#results = [];
    this.busy.set(new Set([...this.busy.value, ...servers]));
  }

  ended(result: Refreshed): void {
    const busy = new Set(this.busy.value);
    // Also servers list their tools again on their own.
    if (!busy.delete(result.server)) return;
    this.busy.set(busy);
    if (this.#waits(result.server)) return;
    this.#results.push(result);
    this.news.set(refreshNews(this.#results));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.news.set(undefined), NEWS_MS);
  }

  /** Forgets what a worker began that is gone. */
  lost(): void {
    this.busy.set(new Set());
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}

/** Describes results: `erp: 3 tools added, 1 changed`. Servers without a change are counted. */
export function refreshNews(results: readonly Refreshed[]): string {
  const [only] = results;
  if (results.length === 1 && only) return describe(only) || t`${nameOf(only)}: nothing changed.`;
  const notable = results.map(describe).filter(Boolean);
  const same = results.length - notable.length;
  return [
    ...notable.slice(0, MAX_NAMED),
    ...(notable.length > MAX_NAMED ? [t`${notable.length - MAX_NAMED} more changed or failed.`] : []),
    ...(same > 0 ? [t`${amounts.servers(same)}: nothing changed.`] : []),
  ].join(' ');
}

function describe(result: Refreshed): string {
  const { added, removed, changed, reason } = result;
  if (reason !== undefined) return t`${nameOf(result)} was not listed: ${asSentence(reason)}`;
  // The first number names what it counts.
  const parts = [
    { amount: added, tools: plural(added, t`1 tool added`, t`${added} tools added`), more: t`${added} added` },
    {
      amount: removed,
      tools: plural(removed, t`1 tool removed`, t`${removed} tools removed`),
      more: t`${removed} removed`,
    },
    {
      amount: changed,
      tools: plural(changed, t`1 tool changed`, t`${changed} tools changed`),
      more: t`${changed} changed`,
    },
  ].filter(({ amount }) => amount > 0);
  if (parts.length === 0) return '';
  return `${nameOf(result)}: ${parts.map(({ tools, more }, index) => (index === 0 ? tools : more)).join(', ')}.`;
}

function nameOf({ server }: Refreshed): string {
  return oneLine(server, 60);
}
