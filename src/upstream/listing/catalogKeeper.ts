import type { Settings } from '../../config/declaration/document.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { Pace } from '../../lib/pace.ts';
import { waitAtMost } from '../../lib/waitAtMost.ts';
import type { UpstreamClient } from '../../mcp/wire/upstreamClient.ts';
import type { ServerMessages } from '../connection/serverMessages.ts';
import { describeRequestError } from '../transports/upstreamLink.ts';
import type { CatalogSnapshots } from './catalogSnapshots.ts';
import { ExposedCatalog } from './exposedTools.ts';
import { KeptCatalog } from './keptCatalog.ts';
import { LIST_NAMES, type ListName, type ServerCatalog } from './serverCatalog.ts';
import {
  type GroupListed,
  introductionOf,
  LIST_GROUPS,
  type ListGroup,
  type ListingFailure,
  type ListOptions,
  listGroup,
  together,
} from './serverLists.ts';

const LIST_TIMEOUT_MS = 30_000;
/** Servers announce several changes in a row, many of them right at their start, and some without an end. */
const RELIST_PACE = { delayMs: 200, intervalMs: 1_000 };
/** A server is ready with its tools; the rest of its first list may be late. */
const FIRST_LISTS_WAIT_MS = 2_000;
const BESIDE_TOOLS = ['resources', 'prompts'] as const;

export interface KeeperPorts {
  config(): ServerConfig;
  /** What is connected now. */
  client(): UpstreamClient | undefined;
  /** Resolves when no start is under way. */
  settled(): Promise<unknown>;
  messages: ServerMessages;
  /** Shown until the server has been listed for the first time with this configuration. */
  listedBefore: ServerCatalog | undefined;
  snapshots: CatalogSnapshots | undefined;
  liveRefresh: (() => Settings['liveRefresh']) | undefined;
  /** What all pages of a list are given together. */
  listLimitMs: number | undefined;
  onChange(): void;
  log(line: string): void;
  scrubSecrets(text: string): string;
}

/** What a server lists: asked for at its start and when it says that it has changed, kept while it cannot be had. */
export class CatalogKeeper {
  readonly #ports: KeeperPorts;
  readonly #kept: KeptCatalog;
  readonly #exposed = new ExposedCatalog();
  readonly #refreshPace: RefreshPace;
  readonly #listings = new Map<ListGroup, Promise<void>>();
  readonly #paces: Readonly<Record<ListGroup, Pace>>;
  readonly #notes = new Map<ListName, string | undefined>();
  #stopped = false;

  constructor(ports: KeeperPorts) {
    this.#ports = ports;
    this.#kept = new KeptCatalog(ports.config(), ports.snapshots, ports.listedBefore);
    this.#refreshPace = new RefreshPace(ports.liveRefresh);
    const paced = (group: ListGroup): Pace => {
      const pace = new Pace(() => this.#listAfterChange(group), RELIST_PACE);
      ports.messages.onNotification(LIST_GROUPS[group].changed, () => {
        const delayMs = this.#refreshPace.delayMs();
        if (delayMs !== undefined) pace.request(delayMs);
      });
      return pace;
    };
    this.#paces = { tools: paced('tools'), resources: paced('resources'), prompts: paced('prompts') };
  }

  /** What of it the configuration lets be seen. */
  get exposed(): ServerCatalog {
    return this.#exposed.of(this.#kept.current, this.#ports.config().tools);
  }

  get listed(): ServerCatalog {
    return this.#kept.current;
  }

  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#kept.current.capabilities;
  }

  /** Whether the server has ever been listed. */
  get isKnown(): boolean {
    return this.#kept.isKnown;
  }

  get staleNote(): string {
    return this.#kept.staleNote;
  }

  /** Why what is shown of it is not all that it has. */
  get note(): string | undefined {
    return LIST_NAMES.flatMap((name) => this.#notes.get(name) ?? []).join(' ') || undefined;
  }

  /** A list is under way or will be. */
  get busy(): boolean {
    return this.#listings.size > 0 || Object.values(this.#paces).some((pace) => pace.pending);
  }

  /** Resolves when no list is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#listings.values());
  }

  /** Without its tools a server cannot be served; what else it has is waited for only so long. */
  async listFirst(client: UpstreamClient): Promise<void> {
    const tools = await listGroup(client, 'tools', this.#listOptions);
    const failure = tools.failures[0];
    if (failure && !failure.came) throw failure.error;
    // Kept at once with the rest where that comes in time: a snapshot should be whole.
    const listed = [tools];
    let adopted = false;
    const beside = BESIDE_TOOLS.map(async (group) => {
      const one = await listGroup(client, group, this.#listOptions);
      if (adopted) this.#adopt(client, one);
      else listed.push(one);
    });
    await waitAtMost(Promise.all(beside), performance.now() + FIRST_LISTS_WAIT_MS, undefined);
    adopted = true;
    this.#adopt(client, together(listed), introductionOf(client));
  }

  async listAll(): Promise<void> {
    await Promise.all([this.#listAgain('tools'), ...BESIDE_TOOLS.map((group) => this.#listAgain(group))]);
  }

  stop(): void {
    this.#stopped = true;
    for (const pace of Object.values(this.#paces)) pace.stop();
  }

  get #listOptions(): ListOptions {
    return { timeoutMs: LIST_TIMEOUT_MS, limitMs: this.#ports.listLimitMs };
  }

  #describe(error: unknown): string {
    return describeRequestError(error, LIST_TIMEOUT_MS, this.#ports.scrubSecrets);
  }

  /** One step for whoever looks: the old lists or the new ones. What cannot be listed stays as it was last. */
  #adopt(client: UpstreamClient, listed: GroupListed, introduction: Partial<ServerCatalog> = {}): void {
    if (this.#stopped || client !== this.#ports.client()) return;
    const { isKnown } = this.#kept;
    const before = this.note;
    const halves = this.#halvesOf(listed);
    this.#noteWhatIsMissing(listed, halves);
    // It did not fail to list, it ended: its supervisor tells how.
    if (!client.closed) for (const failure of listed.failures) if (!(failure.name in halves)) this.#tellKept(failure);
    const parts = { ...listed.lists, ...halves, ...introduction };
    const changed = this.#kept.replace(parts, new Set(Object.keys(halves) as ListName[]), this.#ports.config());
    if (isKnown && changed.length > 0) this.#ports.log(`its catalog has changed: ${this.#changeNote(changed)}`);
    if (changed.length > 0 || this.note !== before) this.#ports.onChange();
  }

  /** What came of lists that failed, where there is nothing better. */
  #halvesOf({ failures }: GroupListed): GroupListed['lists'] {
    const halves = failures.filter(({ name, came }) => came && !this.#kept.showsMoreThan(came, name));
    return Object.fromEntries(halves.map(({ name, came }) => [name, came]));
  }

  #noteWhatIsMissing({ lists, cuts, failures }: GroupListed, halves: GroupListed['lists']): void {
    for (const name of Object.keys(lists) as ListName[]) this.#notes.set(name, cuts[name]);
    for (const { name, error } of failures) {
      if (name in halves) this.#notes.set(name, `It could not list all its ${name}: ${this.#describe(error)}`);
    }
  }

  #tellKept({ name, method, error }: ListingFailure): void {
    const why = this.#describe(error);
    if (name !== 'tools') {
      this.#ports.log(`${method}: ${why} What it listed before is kept.`);
      return;
    }
    const note = `It could not list its tools: ${why}${this.staleNote}`;
    this.#notes.set(name, note);
    this.#ports.log(note);
  }

  #changeNote(changed: readonly (keyof ServerCatalog)[]): string {
    const { current } = this.#kept;
    const notes = changed.map((part) => {
      const value = current[part];
      return Array.isArray(value) ? `${part} (${value.length} now)` : part;
    });
    return notes.join(', ');
  }

  /** One list of a kind at a time. A server that cannot list keeps what it listed last, and serves all the same. */
  #listAgain(group: ListGroup): Promise<void> {
    const client = this.#ports.client();
    if (!client) return Promise.resolve();
    const current =
      this.#listings.get(group) ??
      listGroup(client, group, this.#listOptions)
        .then((listed) => {
          const introduced = group === 'tools' && listed.failures.length === 0;
          this.#adopt(client, listed, introduced ? introductionOf(client) : {});
        })
        .finally(() => this.#listings.delete(group));
    this.#listings.set(group, current);
    return current;
  }

  /** A change that is announced while a list is under way may not be in it: it is listed again. */
  async #listAfterChange(group: ListGroup): Promise<void> {
    await this.#ports.settled();
    await this.#listings.get(group);
    this.#refreshPace.onRefresh();
    await this.#listAgain(group);
  }
}

const MINUTE_MS = 60_000;
/** Where nothing is configured: many servers announce several changes in a row, right at their start. */
const DEFAULT: Settings['liveRefresh'] = { enabled: true, debounceSeconds: 0.2, maxRefreshesPerMinute: 60 };

/** When a server that says its lists have changed is listed again: not at once, and not too often. */
export class RefreshPace {
  readonly #config: () => Settings['liveRefresh'];
  readonly #now: () => number;
  /** Of the last minute, oldest first. */
  #times: number[] = [];

  constructor(config: () => Settings['liveRefresh'] = () => DEFAULT, now: () => number = () => performance.now()) {
    this.#config = config;
    this.#now = now;
  }

  /** How long to wait from now; `undefined` where its news are not to be heard. */
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
