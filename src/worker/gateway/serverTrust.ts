import { createHash } from 'node:crypto';
import type { TrustVerdict } from '../../calls/pipeline/callPipeline.ts';
import { ingestTool } from '../../catalog/ingest.ts';
import { pinOf, sha256 } from '../../catalog/shapeHash.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { HeldTool, ServerListing, TrustDecision, TrustItem, TrustReview } from '../../control/contract.ts';
import { acquireLock } from '../../host/attach/startLock.ts';
import { heldError } from '../../modes/shared/unknownTool.ts';
import { quoted } from '../../text/porcelain.ts';
import { type LaunchApprovals, needsApproval } from '../../trust/approvals.ts';
import type { Launch } from '../../trust/launch.ts';
import { readLockFile } from '../../trust/pins/lockFile.ts';
import { writeBook } from '../../trust/pins/pinBook.ts';
import { itemsOf, PINNED_PARTS, type PinnedItem, type PinnedPart } from '../../trust/pins/pinnedItems.ts';
import { PinStore } from '../../trust/pins/pinStore.ts';
import { readableItem } from '../../trust/pins/review.ts';
import { type GatedServer, TrustGate, type Verdict } from '../../trust/pins/trustGate.ts';
import { SCAN_RULES } from '../../trust/scan/finding.ts';
import { isSink, OtherTools } from '../../trust/scan/names.ts';
import { scanText, scanTool } from '../../trust/scan/scan.ts';
import { launchEvent, type TrustEvent, TrustLog } from '../../trust/trustLog.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { ListingGate, OfferedListing } from '../../upstream/listing/listingGate.ts';

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
  readonly #logbook: TrustLog;
  readonly #log: (line: string) => void;
  readonly #held = new WeakMap<object, readonly HeldTool[]>();
  readonly #gated = new WeakMap<ServerConfig, GatedServer>();
  readonly #approvals: ServerTrustOptions['approvals'];
  readonly #lock: ServerTrustOptions['lock'];
  #lockFlaw: string | undefined;
  readonly #connections: ServerTrustOptions['connections'];

  constructor({ approvals, lock, connections, stateRoot, stateFolder, log, onChange }: ServerTrustOptions) {
    this.#logbook = new TrustLog({ folder: stateRoot, lock: acquireLock, now: () => new Date() });
    this.#log = log;
    this.#approvals = approvals;
    this.#lock = lock;
    this.#connections = connections;
    this.gate = new TrustGate({
      store: new PinStore({ folder: stateFolder, lock: acquireLock }),
      scan: (items, server, isBaseline) => this.#scan(items, server, isBaseline),
      isSink,
      locked: ({ name, isForeign }) => (isForeign ? this.#lockedItems(name) : undefined),
      now: () => new Date(),
      log,
      onBaseline: (server, pins) =>
        this.#record({
          actor: 'baseline',
          what: 'server',
          subject: `baseline ${server}`,
          pin: sha256(writeBook({ [server]: pins })),
        }),
      onChange,
    });
  }

  onListed(config: ServerConfig, listing: ServerConnection['listed'], listed: readonly string[]): void {
    if (config.type === 'static') return;
    const parts = PINNED_PARTS.filter((part): part is PinnedPart => listed.includes(part) || part === 'instructions');
    this.gate.onListed(this.#gate(config), listing, parts);
  }

  offer(config: ServerConfig, listing: ServerConnection['listed']): OfferedListing {
    // The user gave the file that a static server answers from.
    if (config.type === 'static') return { listing, held: NOTHING };
    return this.gate.offer(this.#gate(config), listing);
  }

  /** Returns what the lock file pins for a server. A file that cannot be used pins nothing, and is reported once. */
  #lockedItems(server: string): readonly PinnedItem[] | undefined {
    const { file, workspace } = this.#lock;
    try {
      const servers = readLockFile(file, workspace);
      return servers && (Object.hasOwn(servers, server) ? servers[server] : []);
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#lockFlaw) this.#log(message);
      this.#lockFlaw = message;
      return [];
    }
  }

  /** Number of items that a server offers although they are new or changed. */
  driftedOf({ config, listed }: ServerConnection): number {
    return config.type === 'static' ? 0 : this.gate.offer(this.#gate(config), listed).drifted;
  }

  /** Returns the items of a server that wait for the user's review. */
  heldTools({ config, held }: ServerConnection, namespace: string): readonly HeldTool[] {
    const known = this.#held.get(held);
    if (known) return known;
    const tools = held.map(({ item: { part, name, raw }, why }) => ({
      toolId: part === 'tools' ? idOf(raw, config.name, namespace) : '',
      part,
      name,
      why,
    }));
    this.#held.set(held, tools);
    return tools;
  }

  /** Compares the listings of connections with their pins, for the user. */
  review(connections: readonly ServerConnection[], namespaceOf: (server: string) => string): TrustReview[] {
    return connections.flatMap((connection) => {
      const { config, listed, held } = connection;
      if (config.type === 'static') return [];
      const server = this.#gate(config);
      const review = this.gate.review(server, listed);
      const namespace = namespaceOf(config.name);
      const problem = this.gate.problemOf(config.name);
      const heldKeys = new Set(held.map(({ item }) => item.raw));
      const items = review.items.map(({ before, after, drift, ...item }): TrustItem => {
        const toolId = item.part === 'tools' ? idOf(after ?? before, config.name, namespace) : '';
        return {
          ...item,
          ...(toolId !== '' && { toolId }),
          held: heldKeys.has(after),
          kinds: drift?.kinds ?? [],
          notes: drift?.notes ?? [],
          ...(before !== undefined && { before: readableItem(before) }),
          ...(after !== undefined && { after: readableItem(after) }),
        };
      });
      const { since, quarantine } = review.pins ?? {};
      return [
        {
          server: config.name,
          origin: config.origin,
          onChange: server.onChange,
          ...(since !== undefined && { since }),
          ...(quarantine !== undefined && { quarantine }),
          ...(problem !== undefined && { problem }),
          approved: review.approved.map(({ key, part, raw }) => {
            const toolId = part === 'tools' ? idOf(raw, config.name, namespace) : '';
            return { key, ...(toolId !== '' && { toolId }) };
          }),
          items,
        },
      ];
    });
  }

  /** Applies a decision of the user. Returns why it has no effect. */
  decide(
    decision: TrustDecision & Pick<TrustEvent, 'actor'>,
    connections: readonly ServerConnection[],
  ): string | undefined {
    const { server: name } = decision;
    const connection = connections.find(({ config }) => config.name === name);
    if (!connection || connection.config.type === 'static') return `There is no server ${quoted(name)}.`;
    try {
      if (decision.action === 'accept') {
        const items = itemsOf(connection.listed);
        const shown = decision.shown.map(({ key, pin }) =>
          items.find((item) => item.key === key && pinOf(item.raw) === pin),
        );
        const accepted = shown.filter((item) => item !== undefined);
        if (accepted.length < shown.length)
          return 'It has changed since it was shown, so nothing was accepted. Look at it again.';
        const all = connections
          .filter(({ config }) => config.type !== 'static')
          .map(({ config }) => this.#gate(config));
        this.gate.accept(this.#gate(connection.config), accepted, all);
      } else if (decision.action === 'block') this.gate.block(name, decision.keys);
      else if (decision.action === 'quarantine') this.gate.quarantine(name, 'You put it there.');
      else this.gate.release(name);
    } catch (error) {
      return `The decision could not be stored: ${(error as Error).message}.`;
    }
    this.#recordDecision(decision);
    return undefined;
  }

  /** Records that the user approved the launch of a server. */
  recordLaunch(launch: Launch, lines: readonly string[]): void {
    this.#record(launchEvent('person-editor', launch, lines));
  }

  /** Records that the user allowed a secret to be sent to a server. */
  recordSecret(server: string, { kind, owner = '' }: { kind: string; owner?: string }): void {
    const secret = [kind, owner].filter((word) => word !== '').join(' ');
    this.#record({ actor: 'person-question', what: 'secret-egress', subject: `send ${secret} to ${server}` });
  }

  /** Returns everything that the servers of the workspace's own file list. */
  listings(connections: readonly ServerConnection[], disabled: readonly ServerConfig[]): ServerListing[] {
    const listed = connections
      .filter(({ config }) => config.type !== 'static' && config.origin !== 'user')
      .map(({ config, listed, state, reason }): ServerListing => {
        // A server that is ready but could not list again has a reason as well.
        const why = reason ?? (state === 'ready' ? undefined : `It is ${state.replaceAll('_', ' ')}.`);
        return {
          server: config.name,
          disabled: false,
          ...(why !== undefined && { reason: why }),
          items: itemsOf(listed),
        };
      });
    const idle = disabled
      .filter(({ origin }) => origin !== 'user')
      .map(({ name: server }) => ({ server, disabled: true, items: [] }));
    return [...listed, ...idle].sort((a, b) => (a.server < b.server ? -1 : 1));
  }

  /** Returns the facts about a server that pins depend on. A workspace's server has the launch that the user approved. */
  #gate(config: ServerConfig): GatedServer {
    const known = this.#gated.get(config);
    if (known) return known;
    const isForeign = needsApproval(config);
    // A workspace cannot loosen what happens when its own servers change.
    const onChange = isForeign ? 'block' : (config.trust ?? (config.type === 'stdio' ? 'ask' : 'block'));
    const launch = isForeign ? this.#approvals.launch(config).hash : ownLaunch(config);
    const gated: GatedServer = { name: config.name, launch, onChange, isForeign: config.origin !== 'user' };
    this.#gated.set(config, gated);
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

  #recordDecision(decision: TrustDecision & Pick<TrustEvent, 'actor'>): void {
    const { action, actor, server, lines: shown } = decision;
    const about = (what: 'server' | 'tool', subject: string, pin?: string): void =>
      this.#record({ actor, what, subject: `${action} ${subject}`, ...(pin && { pin }), ...(shown && { shown }) });
    if (decision.action === 'accept') for (const { key, pin } of decision.shown) about('tool', `${server} ${key}`, pin);
    else if (decision.action === 'block') for (const key of decision.keys) about('tool', `${server} ${key}`);
    else about('server', server);
  }

  /** Writes an entry. A full disk costs the entry and not the decision, and is reported. */
  #record(event: TrustEvent): void {
    try {
      this.#logbook.add(event);
    } catch (error) {
      this.#log(`the trust log could not be written: ${(error as Error).message}`);
    }
  }

  /** Compares a tool as a call knows it with what its server lists, and with its pin. */
  verdictOn(tool: CatalogTool, connection: ServerConnection | undefined): TrustVerdict {
    if (!connection) return {};
    const { config, listed, held } = connection;
    if (config.type === 'static') return {};
    const { asked, tools } = this.gate.offer(this.#gate(config), listed);
    const pins = tools.get(tool.upstreamName);
    if (!pins?.includes(tool.fingerprint)) {
      const why = held.find(({ item }) => item.part === 'tools' && item.name === tool.upstreamName)?.why;
      // A server answers itself for a tool that it no longer lists.
      return pins || why !== undefined
        ? { refusal: heldError({ toolId: tool.id, why: why ?? 'changed' }, tool.server, tool.id) }
        : {};
    }
    const state = asked.get(tool.fingerprint);
    return state === undefined ? {} : { question: QUESTIONS[state] };
  }
}

const NOTHING: OfferedListing['held'] = [];

const QUESTIONS = {
  new: 'This tool is new since you approved its server.',
  changed: 'This tool has changed since you approved it.',
};

function idOf(raw: unknown, server: string, namespace: string): string {
  try {
    return ingestTool(raw, { server, namespace }).tool.id;
  } catch {
    return '';
  }
}

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
