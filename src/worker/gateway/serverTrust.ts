import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { TrustVerdict } from '../../calls/pipeline/callPipeline.ts';
import { matchesTemplate } from '../../catalog/primitives/uriTemplate.ts';
import { sha256 } from '../../catalog/shapeHash.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { hasOwnListing, type ServerConfig } from '../../config/gatewayConfig.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import { acquireLock } from '../../host/attach/startLock.ts';
import { heldError } from '../../modes/shared/unknownTool.ts';
import { quoted } from '../../text/porcelain.ts';
import { type LaunchApprovals, needsApproval } from '../../trust/approvals.ts';
import { LockReader } from '../../trust/pins/lockFile.ts';
import type { GatedServer, Verdict } from '../../trust/pins/offer.ts';
import { writeBook } from '../../trust/pins/pinBook.ts';
import {
  type Listing,
  nameOfItem,
  PINNED_PARTS,
  type PinnedItem,
  type PinnedPart,
} from '../../trust/pins/pinnedItems.ts';
import { PinStore } from '../../trust/pins/pinStore.ts';
import { TrustGate } from '../../trust/pins/trustGate.ts';
import { SCAN_RULES } from '../../trust/scan/finding.ts';
import { isSink, OtherTools } from '../../trust/scan/names.ts';
import { scanText, scanTool } from '../../trust/scan/scan.ts';
import { type TrustEvent, TrustLog } from '../../trust/trustLog.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { GatedRequest, ListingGate, OfferedListing } from '../../upstream/listing/listingGate.ts';

/** Pause before a server is listed again whose pins could not be stored. */
const LIST_AGAIN_MS = 2_000;

export interface ServerTrustOptions {
  approvals: Pick<LaunchApprovals, 'launch'>;
  /** Lock file, and the folder that it must not lead out of. */
  lock: { file: string; workspace: string };
  /** All servers, whose tools a scan compares. */
  connections(): readonly ServerConnection[];
  /** Folder of the log, which all workspaces share. */
  stateRoot: string;
  stateFolder: string;
  log(line: string): void;
  onChange(): void;
}

/** Pins of the servers of one workspace, for the rooms that list, call and report. */
export class ServerTrust implements ListingGate {
  readonly gate: TrustGate;
  /** File whose change may change what is offered. */
  readonly pinsFile: string;
  readonly #logbook: TrustLog;
  readonly #log: (line: string) => void;
  readonly #facts = new WeakMap<ServerConfig, GatedServer>();
  readonly #approvals: ServerTrustOptions['approvals'];
  readonly #lock: LockReader;
  #lockFlaw: string | undefined;
  readonly #connections: ServerTrustOptions['connections'];

  constructor({ approvals, lock, connections, stateRoot, stateFolder, log, onChange }: ServerTrustOptions) {
    this.#logbook = new TrustLog({
      folder: stateRoot,
      workspace: basename(stateFolder),
      lock: acquireLock,
      now: () => new Date(),
    });
    this.#log = log;
    this.#approvals = approvals;
    this.#lock = new LockReader(lock);
    this.#connections = connections;
    const store = new PinStore({ folder: stateFolder, lock: acquireLock });
    this.pinsFile = store.file;
    this.gate = new TrustGate({
      store,
      scan: (items, server, isBaseline) => this.#scan(items, server, isBaseline),
      isSink,
      locked: ({ name, isForeign }) => (isForeign ? this.#lockedItems(name) : undefined),
      now: () => new Date(),
      log,
      onBaseline: (server, pins) =>
        this.record({
          actor: 'baseline',
          what: 'server',
          subject: `baseline ${server}`,
          pin: sha256(writeBook({ [server]: pins })),
        }),
      onChange,
    });
  }

  onListed(config: ServerConfig, listing: ServerConnection['listed'], listed: readonly string[]): void {
    if (hasOwnListing(config)) return;
    const parts = PINNED_PARTS.filter((part): part is PinnedPart => listed.includes(part) || part === 'instructions');
    this.gate.onListed(this.gated(config), listing, parts);
    if (this.gate.isUnsaved(config.name)) this.#listLater(config.name);
  }

  /** Lists a server again after a pause: once its pins can be stored, it may have no news that would list it. */
  #listLater(server: string): void {
    setTimeout(() => {
      const connection = this.#connections().find(({ config }) => config.name === server);
      // A list that fails is reported by the connection, and the next one that succeeds ends here again.
      if (connection && this.gate.isUnsaved(server)) void connection.refresh().catch(() => undefined);
    }, LIST_AGAIN_MS).unref();
  }

  offer(config: ServerConfig, listing: ServerConnection['listed']): OfferedListing {
    // The user gave the file that a static server answers from, and Waygate itself lists the tools for records.
    if (hasOwnListing(config)) return { listing, held: NOTHING };
    return this.gate.offer(this.gated(config), listing);
  }

  /** Returns what the lock file pins for a server. A file that cannot be used pins nothing, and is reported once. */
  #lockedItems(server: string): readonly PinnedItem[] | undefined {
    try {
      const servers = this.#lock.read();
      return servers && (Object.hasOwn(servers, server) ? servers[server] : []);
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#lockFlaw) this.#log(message);
      this.#lockFlaw = message;
      return [];
    }
  }

  /** Returns the facts about a server that pins depend on. A workspace's server has the launch that the user approved. */
  gated(config: ServerConfig): GatedServer {
    const known = this.#facts.get(config);
    if (known) return known;
    const isForeign = needsApproval(config);
    // A workspace cannot loosen what happens when its own servers change.
    const onChange = isForeign ? 'block' : (config.trust ?? (config.type === 'stdio' ? 'ask' : 'block'));
    const launch = isForeign ? this.#approvals.launch(config).hash : ownLaunch(config);
    const gated: GatedServer = { name: config.name, launch, onChange, isForeign: config.origin !== 'user' };
    this.#facts.set(config, gated);
    return gated;
  }

  /** Scans items for hard findings (T1). At a baseline, a tool that names another server's tool is no more than odd. */
  #scan(items: readonly PinnedItem[], server: string, isBaseline: boolean): ReadonlyMap<string, Verdict> {
    const others = new OtherTools(
      this.#connections().flatMap(({ config, listed }) =>
        listed.tools.map((tool) => ({ server: config.name, name: (tool as { name?: string } | null)?.name ?? '' })),
      ),
    );
    const verdicts = items.flatMap(({ key, part, raw }): [string, Verdict][] => {
      const isText = typeof raw === 'string';
      if (!isText && (raw === null || typeof raw !== 'object')) return [];
      const found = isText ? scanText('instructions', raw, server, others) : scanTool(raw, server, others);
      const hard = found.find(({ tier, rule }) => tier === 'hard' && !(isBaseline && rule === 'S1'));
      return hard ? [[key, { hard: `${part} ${hard.where}: ${SCAN_RULES[hard.rule]} ("${hard.quote}")` }]] : [];
    });
    return new Map(verdicts);
  }

  isHarmful(config: ServerConfig, resource: unknown): boolean {
    if (hasOwnListing(config) || typeof resource !== 'object' || resource === null) return false;
    // A resource cannot be accepted, so the setting is the way to see one that only seems harmful.
    if (this.gated(config).onChange === 'tell') return false;
    return scanTool(resource).some(({ tier }) => tier === 'hard');
  }

  /** Writes an entry. A full disk costs the entry and not the decision, and is reported. */
  record(event: TrustEvent): void {
    try {
      this.#logbook.add(event);
    } catch (error) {
      this.#log(`the trust log could not be written: ${(error as Error).message}`);
    }
  }

  refusal(config: ServerConfig, listing: ServerConnection['listed'], request: GatedRequest): GatewayError | undefined {
    const { method, params } = request;
    const offered = this.offer(config, listing);
    if (HARMLESS.has(method)) return undefined;
    const { part, name } = subjectOf(method, params);
    const why = offered.whole ?? (part ? whyHeld(listing, offered, part, name) : whyAddressHeld(offered, name));
    return why === undefined ? undefined : heldError({ toolId: quoted(name, MAX_NAME_CHARS), why }, config.name, name);
  }

  /** Compares a tool as a call knows it with what its server lists, and with its pin. */
  verdictOn(tool: CatalogTool, connection: ServerConnection | undefined): TrustVerdict {
    if (!connection || hasOwnListing(connection.config)) return {};
    const server = this.gated(connection.config);
    let state: 'new' | 'changed' | undefined;
    // The process of a client session lists for itself.
    for (const { listed } of connection.withSessions.filter((one) => one === connection || one.isKnown)) {
      const offer = this.gate.offer(server, listed);
      const pins = offer.tools.get(tool.upstreamName);
      const known = pins?.includes(tool.fingerprint) ? undefined : pins ? 'changed' : 'gone';
      const why = whyHeld(listed, offer, 'tools', tool.upstreamName) ?? known;
      if (why !== undefined) return { refusal: heldError({ toolId: tool.id, why }, tool.server, tool.id) };
      state ??= offer.asked.get(tool.fingerprint);
    }
    return state === undefined ? {} : { question: QUESTIONS[state] };
  }
}

const NOTHING: OfferedListing['held'] = [];

const MAX_NAME_CHARS = 60;

/** Requests that use nothing of a server. Lists are filtered on their way back. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['resources/list', 'resources/templates/list', 'prompts/list'],
  ...['resources/unsubscribe', 'tasks/cancel', 'logging/setLevel'],
]);

type NamedPart = Exclude<PinnedPart, 'instructions'>;

/** Returns the item that a request uses. A resource has no pin, and other methods name no item. */
function subjectOf(method: string, params: GatedRequest['params']): { part?: NamedPart; name: string } {
  const { name, uri, ref } = params;
  const { type, ...named } = (method === 'completion/complete' ? (ref ?? {}) : {}) as GatedRequest['params'];
  if (method === 'tools/call') return { part: 'tools', name: String(name) };
  if (method === 'prompts/get') return { part: 'prompts', name: String(name) };
  if (type === 'ref/prompt') return { part: 'prompts', name: String(named.name) };
  if (type === 'ref/resource') return { part: 'resourceTemplates', name: String(named.uri) };
  return { name: String(uri ?? method) };
}

/** Returns why an item is held back. A server answers for one of two items of the same name, and nobody knows which. */
function whyHeld(listing: Listing, { held }: OfferedListing, part: NamedPart, name: string): string | undefined {
  const own = held.filter(({ item }) => item.part === part && item.name === name);
  const all = own.length === 0 ? [] : listing[part].filter((raw) => nameOfItem(part, raw) === name);
  return all.length > own.length ? 'twin' : own[0]?.why;
}

/**
 * Returns why an address is held back: no offered list has it, and a held template fits it. A blocked template closes its
 * addresses whatever else fits.
 */
function whyAddressHeld({ listing, held }: OfferedListing, address: string): string | undefined {
  const fitting = held.filter(({ item }) => item.part === 'resourceTemplates' && matchesTemplate(item.name, address));
  const isOffered =
    listing.resources.some((raw) => uriOf(raw) === address) ||
    listing.resourceTemplates.some((raw) => matchesTemplate(nameOfItem('resourceTemplates', raw), address));
  return fitting.find(({ why }) => why === 'blocked' || !isOffered)?.why;
}

function uriOf(raw: unknown): unknown {
  return (raw as { uri?: unknown } | null)?.uri;
}

const QUESTIONS = {
  new: 'This tool is new since you approved its server.',
  changed: 'This tool has changed since you approved it.',
};

/**
 * Hash of the launch that a baseline belongs to, for a server of the user. It leaves out what a server could change by
 * itself, such as the content of its `envFile`.
 */
function ownLaunch(config: ServerConfig): string {
  const { type } = config;
  const launch = type === 'stdio' ? [config.command, config.args] : type === 'static' ? [] : [config.url];
  return createHash('sha256')
    .update(JSON.stringify([type, launch]))
    .digest('hex');
}
