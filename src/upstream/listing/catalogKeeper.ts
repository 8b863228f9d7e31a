import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { waitAtMost } from '../../lib/waitAtMost.ts';
import type { UpstreamClient } from '../../mcp/wire/upstreamClient.ts';
import { count } from '../../text/porcelain.ts';
import type { ConnectionServices } from '../connection/connectionServices.ts';
import type { ServerMessages } from '../connection/serverMessages.ts';
import { describeRequestError } from '../transports/upstreamLink.ts';
import { AnnouncedChanges } from './announcedChanges.ts';
import { ExposedCatalog } from './exposedTools.ts';
import { KeptCatalog } from './keptCatalog.ts';
import type { GatedRequest, HeldItem, OfferedListing } from './listingGate.ts';
import { LIST_NAMES, type ListName, NOTHING_LISTED, type ServerCatalog } from './serverCatalog.ts';
import {
  type GroupListed,
  introductionOf,
  type ListGroup,
  type ListingFailure,
  type ListOptions,
  listGroup,
  together,
} from './serverLists.ts';

const LIST_TIMEOUT_MS = 30_000;
/** Only the tools are required for readiness; the other first lists may be late. */
const FIRST_LISTS_WAIT_MS = 2_000;
/** Limit of the list at a later start: a server that hangs on it may still answer calls. */
const TOOLS_AGAIN_WAIT_MS = 2_000;
const BESIDE_TOOLS = ['resources', 'prompts'] as const;

export interface KeeperPorts {
  config(): ServerConfig;
  /** Currently connected client. */
  client(): UpstreamClient | undefined;
  /** Resolves when no start is running. */
  settled(): Promise<unknown>;
  messages: ServerMessages;
  /** Catalog to show until the first list under this configuration. */
  listedBefore: ServerCatalog | undefined;
  services: Pick<ConnectionServices, 'snapshots' | 'gate' | 'liveRefresh' | 'listLimitMs'>;
  onChange(): void;
  log(line: string): void;
  scrubSecrets(text: string): string;
  maskKnown?: ((value: unknown) => unknown) | undefined;
}

/** Lists a server at its start and after announced changes, and keeps the last good lists while it cannot list. */
export class CatalogKeeper {
  readonly #ports: KeeperPorts;
  readonly #kept: KeptCatalog;
  readonly #exposed = new ExposedCatalog();
  readonly #listings = new Map<ListGroup, Promise<void>>();
  readonly #announced: AnnouncedChanges;
  readonly #notes = new Map<ListName, string | undefined>();
  /** The server's own addresses by the masked ones that everything else sees. */
  readonly #addresses = new Map<string, string>();
  #stopped = false;

  constructor(ports: KeeperPorts) {
    this.#ports = ports;
    this.#kept = new KeptCatalog(ports.config(), ports.services.snapshots, ports.listedBefore);
    this.#announced = new AnnouncedChanges({
      messages: ports.messages,
      limits: ports.services.liveRefresh,
      list: (group) => this.#listAfterChange(group),
    });
  }

  /** Catalog that clients may see: approved, and not excluded by the configuration. */
  get exposed(): ServerCatalog {
    const config = this.#ports.config();
    const { current } = this.#kept;
    return this.#exposed.of(this.#offered?.listing ?? current, config.tools);
  }

  get #offered(): OfferedListing | undefined {
    return this.#ports.services.gate?.offer(this.#ports.config(), this.#kept.current);
  }

  /** Returns the items of a list that clients may see. */
  offeredOf(part: string, items: readonly unknown[]): readonly unknown[] {
    const { gate } = this.#ports.services;
    if (!gate || (part !== 'prompts' && part !== 'resources' && part !== 'resourceTemplates')) return items;
    const offered = gate.offer(this.#ports.config(), { ...NOTHING_LISTED, [part]: items }).listing[part];
    return part === 'resources' ? offered.filter((one) => !gate.isHarmful(this.#ports.config(), one)) : offered;
  }

  /** True if nothing of a known listing was ever pinned, for instance because the disk was full. Only a list mends it. */
  get lacksBaseline(): boolean {
    return this.#offered?.whole === 'new';
  }

  /** True if only another list can offer tools again: none is offered, no call starts the server, and one was changed. */
  get isHeldBack(): boolean {
    return this.exposed.tools.length === 0 && this.held.some(({ why }) => why === 'changed' || why === 'flagged');
  }

  /** True if nothing of the server is offered, whatever it lists. */
  get isWithheld(): boolean {
    return this.#offered?.whole !== undefined;
  }

  /** Listed items that no client may see. */
  get held(): readonly HeldItem[] {
    return this.#offered?.held ?? [];
  }

  /** Returns the error for a request that would use what is not offered. */
  refusal(request: GatedRequest): Error | undefined {
    return this.#ports.services.gate?.refusal(this.#ports.config(), this.#kept.current, request);
  }

  get listed(): ServerCatalog {
    return this.#kept.current;
  }

  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#kept.current.capabilities;
  }

  /** True after the first successful list. */
  get isKnown(): boolean {
    return this.#kept.isKnown;
  }

  get staleNote(): string {
    return this.#kept.staleNote;
  }

  /** Reason why the shown catalog is incomplete. */
  get note(): string | undefined {
    return LIST_NAMES.flatMap((name) => this.#notes.get(name) ?? []).join(' ') || undefined;
  }

  /** True while a list is running or pending. */
  get busy(): boolean {
    return this.#listings.size > 0 || this.#announced.pending;
  }

  /** Resolves when no list is running. */
  async idle(): Promise<void> {
    await Promise.all(this.#listings.values());
  }

  /** Lists a server for the first time. Rejects without tools; waits only a limited time for the other lists. */
  async listFirst(client: UpstreamClient): Promise<void> {
    const tools = await listGroup(client, 'tools', this.#listOptions);
    const failure = tools.failures[0];
    if (failure && !failure.came) throw failure.error;
    // Adopt all timely lists in one step, so that the snapshot is complete.
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
    await Promise.all([this.#listAgain('tools'), this.listBesideTools()]);
  }

  /** Lists the tools again, and waits a limited time. A server that cannot list keeps its last list. */
  async listTools(): Promise<void> {
    await waitAtMost(this.#listAgain('tools'), performance.now() + TOOLS_AGAIN_WAIT_MS, undefined);
  }

  async listBesideTools(): Promise<void> {
    await Promise.all(BESIDE_TOOLS.map((group) => this.#listAgain(group)));
  }

  stop(): void {
    this.#stopped = true;
    this.#announced.stop();
  }

  get #listOptions(): ListOptions {
    return { timeoutMs: LIST_TIMEOUT_MS, limitMs: this.#ports.services.listLimitMs };
  }

  #describe(error: unknown): string {
    return describeRequestError(error, LIST_TIMEOUT_MS, this.#ports.scrubSecrets);
  }

  /**
   * Adopts new lists in one step, so that readers see either the old or the new ones. A failed list keeps its last
   * value.
   */
  #adopt(client: UpstreamClient, listed: GroupListed, introduction: Partial<ServerCatalog> = {}): void {
    if (this.#stopped || client !== this.#ports.client()) return;
    const { isKnown } = this.#kept;
    const before = this.note;
    const halves = this.#halvesOf(listed);
    this.#noteWhatIsMissing(listed, halves);
    // If the server has ended, its supervisor reports that instead.
    if (!client.closed) for (const failure of listed.failures) if (!(failure.name in halves)) this.#logFailure(failure);
    const parts = this.#screened(this.#masked({ ...listed.lists, ...halves, ...introduction }));
    const changed = this.#kept.replace(parts, new Set(Object.keys(halves) as ListName[]), this.#ports.config());
    this.#ports.services.gate?.onListed(
      this.#ports.config(),
      this.#kept.current,
      Object.keys(parts) as (keyof ServerCatalog)[],
    );
    if (isKnown && changed.length > 0) this.#ports.log(`its catalog has changed: ${this.#changeNote(changed)}`);
    if (changed.length > 0 || this.note !== before) this.#ports.onChange();
  }

  /** Returns the server's own address of a resource that was listed with a masked one. */
  ownAddress(uri: string): string {
    return this.#addresses.get(uri) ?? uri;
  }

  /** Lists reach models, clients and the state folder, so no value that a server was given stays in them. */
  #masked(parts: Partial<ServerCatalog>): Partial<ServerCatalog> {
    const { maskKnown } = this.#ports;
    if (!maskKnown) return parts;
    for (const resource of [...(parts.resources ?? []), ...(parts.resourceTemplates ?? [])]) {
      const { uri } = (resource ?? {}) as { uri?: unknown };
      const masked = maskKnown(uri);
      if (typeof uri === 'string' && masked !== uri) this.#addresses.set(String(masked), uri);
    }
    return maskKnown(parts) as Partial<ServerCatalog>;
  }

  /** Leaves out resources that read like an attack, before anything is kept: a start from a snapshot scans nothing. */
  #screened(parts: Partial<ServerCatalog>): Partial<ServerCatalog> {
    const { gate } = this.#ports.services;
    const { resources } = parts;
    const harmful = resources?.filter((one) => gate?.isHarmful(this.#ports.config(), one)) ?? [];
    if (!resources || harmful.length === 0) return resources ? { ...parts, harmfulResources: undefined } : parts;
    const left = count(harmful.length, 'resource');
    this.#notes.set('resources', `Left out, because the scan has hard findings: ${left}. See waygate scan.`);
    const isHarmful = new Set(harmful);
    return { ...parts, resources: resources.filter((one) => !isHarmful.has(one)), harmfulResources: harmful };
  }

  /** Returns the partial lists of failures that show more than the kept ones. */
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

  #logFailure({ name, method, error }: ListingFailure): void {
    const why = this.#describe(error);
    if (name !== 'tools') {
      this.#ports.log(`${method}: ${why} The previous list is kept.`);
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

  /** Lists a group again, one request at a time. A server that cannot list keeps its last list and stays ready. */
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

  /** Lists again after a running list, which may not contain the announced change. */
  async #listAfterChange(group: ListGroup): Promise<void> {
    await this.#ports.settled();
    await this.#listings.get(group);
    await this.#listAgain(group);
  }
}
