import type { Settings } from '../../config/declaration/document.ts';
import { Pace } from '../../lib/pace.ts';
import type { ServerMessages } from '../connection/serverMessages.ts';
import { LIST_GROUPS, type ListGroup } from './serverLists.ts';

/** Servers announce several changes in a row, many at their start, and some without end. */
const RELIST_PACE = { delayMs: 200, intervalMs: 1_000 };

export interface AnnouncedChangesPorts {
  messages: ServerMessages;
  limits: (() => Settings['liveRefresh']) | undefined;
  /** Lists a group again. Must not reject. */
  list(group: ListGroup): Promise<void>;
}

/** Lists a server again when it announces changes: not at once, and not too often. */
export class AnnouncedChanges {
  readonly #paces: readonly Pace[];

  constructor({ messages, limits, list }: AnnouncedChangesPorts) {
    const refreshPace = new RefreshPace(limits);
    this.#paces = (Object.keys(LIST_GROUPS) as ListGroup[]).map((group) => {
      const pace = new Pace(() => {
        refreshPace.onRefresh();
        return list(group);
      }, RELIST_PACE);
      messages.onNotification(LIST_GROUPS[group].changed, () => {
        const delayMs = refreshPace.delayMs();
        if (delayMs !== undefined) pace.request(delayMs);
      });
      return pace;
    });
  }

  /** True while a list is running or planned. */
  get pending(): boolean {
    return this.#paces.some((pace) => pace.pending);
  }

  stop(): void {
    for (const pace of this.#paces) pace.stop();
  }
}

const MINUTE_MS = 60_000;
/** Defaults for servers that announce several changes in a row at their start. */
const DEFAULT: Settings['liveRefresh'] = { enabled: true, debounceSeconds: 0.2, maxRefreshesPerMinute: 60 };

/** Paces the lists after announced changes: not at once, and not too often. */
export class RefreshPace {
  readonly #config: () => Settings['liveRefresh'];
  readonly #now: () => number;
  /** Times of the last minute, oldest first. */
  #times: number[] = [];

  constructor(config: () => Settings['liveRefresh'] = () => DEFAULT, now: () => number = () => performance.now()) {
    this.#config = config;
    this.#now = now;
  }

  /** Returns the delay until the next list; `undefined` if live refresh is off. */
  delayMs(): number | undefined {
    const { enabled, debounceSeconds, maxRefreshesPerMinute } = this.#config();
    if (!enabled) return undefined;
    const now = this.#now();
    this.#times = this.#times.filter((time) => now - time < MINUTE_MS);
    const blocking = this.#times.at(-maxRefreshesPerMinute);
    const untilAllowed = blocking === undefined ? 0 : blocking + MINUTE_MS - now;
    return Math.max(debounceSeconds * 1_000, untilAllowed);
  }

  onRefresh(): void {
    this.#times.push(this.#now());
  }
}
