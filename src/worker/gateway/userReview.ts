import { ingestTool } from '../../catalog/ingest.ts';
import { pinOf } from '../../catalog/shapeHash.ts';
import { hasOwnListing, type ServerConfig } from '../../config/gatewayConfig.ts';
import type { HeldTool } from '../../control/contract.ts';
import type { ServerListing, TrustDecision, TrustItem, TrustReview } from '../../control/trustContract.ts';
import { quoted } from '../../text/porcelain.ts';
import type { Launch } from '../../trust/launch.ts';
import { itemsOf } from '../../trust/pins/pinnedItems.ts';
import { readableItem } from '../../trust/pins/review.ts';
import { launchEvent, type TrustEvent } from '../../trust/trustLog.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { ServerTrust } from './serverTrust.ts';

/** Shows the user what the servers of a workspace list and what of it waits, and applies the user's decisions. */
export class UserReview {
  readonly #trust: ServerTrust;
  readonly #held = new WeakMap<object, readonly HeldTool[]>();

  constructor(trust: ServerTrust) {
    this.#trust = trust;
  }

  /** Number of items that a server offers although they are new or changed. */
  driftedOf({ config, listed }: ServerConnection): number {
    return hasOwnListing(config) ? 0 : this.#trust.gate.offer(this.#trust.gated(config), listed).drifted;
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
  compare(connections: readonly ServerConnection[], namespaceOf: (server: string) => string): TrustReview[] {
    return connections.flatMap((connection) => {
      const { config, listed, held } = connection;
      if (hasOwnListing(config)) return [];
      const server = this.#trust.gated(config);
      const review = this.#trust.gate.review(server, listed);
      const namespace = namespaceOf(config.name);
      const problem = this.#trust.gate.problemOf(config.name);
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

  /** Returns the approved definition of a tool that differs from what its server lists. */
  before({ config, listed }: ServerConnection, tool: string): { definition: unknown; at?: string } | undefined {
    if (hasOwnListing(config)) return undefined;
    const { items, pins } = this.#trust.gate.review(this.#trust.gated(config), listed);
    const item = items.find(({ part, name }) => part === 'tools' && name === tool);
    if (item?.before === undefined) return undefined;
    return { definition: item.before, ...(pins?.since !== undefined && { at: pins.since }) };
  }

  /** Applies a decision of the user. Returns why it has no effect. */
  decide(
    decision: TrustDecision & Pick<TrustEvent, 'actor'>,
    connections: readonly ServerConnection[],
  ): string | undefined {
    const { server: name } = decision;
    const connection = connections.find(({ config }) => config.name === name);
    if (!connection || hasOwnListing(connection.config)) return `There is no server ${quoted(name)}.`;
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
          .filter(({ config }) => !hasOwnListing(config))
          .map(({ config }) => this.#trust.gated(config));
        this.#trust.gate.accept(this.#trust.gated(connection.config), accepted, all);
      } else if (decision.action === 'block') this.#trust.gate.block(name, decision.keys);
      else if (decision.action === 'quarantine') this.#trust.gate.quarantine(name, 'You put it there.');
      else this.#trust.gate.release(name);
    } catch (error) {
      return `The decision could not be stored: ${(error as Error).message}.`;
    }
    this.#recordDecision(decision);
    return undefined;
  }

  /** Records that the user approved the launch of a server. */
  recordLaunch(launch: Launch, lines: readonly string[]): void {
    this.#trust.record(launchEvent('person-editor', launch, lines));
  }

  /** Returns everything that the servers of the workspace's own file list. */
  listings(connections: readonly ServerConnection[], disabled: readonly ServerConfig[]): ServerListing[] {
    const listed = connections
      .filter(({ config }) => !hasOwnListing(config) && config.origin !== 'user')
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

  #recordDecision(decision: TrustDecision & Pick<TrustEvent, 'actor'>): void {
    const { action, actor, server, lines: shown } = decision;
    const about = (what: 'server' | 'tool', subject: string, pin?: string): void =>
      this.#trust.record({
        actor,
        what,
        subject: `${action} ${subject}`,
        ...(pin && { pin }),
        ...(shown && { shown }),
      });
    if (decision.action === 'accept') for (const { key, pin } of decision.shown) about('tool', `${server} ${key}`, pin);
    else if (decision.action === 'block') for (const key of decision.keys) about('tool', `${server} ${key}`);
    else about('server', server);
  }
}

function idOf(raw: unknown, server: string, namespace: string): string {
  try {
    return ingestTool(raw, { server, namespace }).tool.id;
  } catch {
    return '';
  }
}
