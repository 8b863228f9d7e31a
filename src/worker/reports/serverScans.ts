import { setImmediate } from 'node:timers/promises';
import { compareCodePoints } from '../../catalog/codePointOrder.ts';
import { pinOf } from '../../catalog/shapeHash.ts';
import type { ScannedEntry, ServerScan } from '../../control/trustContract.ts';
import { visibleText } from '../../text/visibleText.ts';
import { nameOfItem } from '../../trust/pins/pinnedItems.ts';
import { OtherTools } from '../../trust/scan/names.ts';
import { type Pinned, ScanCache, scanText } from '../../trust/scan/scan.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

/** Time that a scan takes from the event loop at once. */
const SLICE_MS = 10;

type Scanned = Pinned & Omit<ScannedEntry, 'findings'>;

/** Scans what the servers list, held items included, and keeps the scans of unchanged entries. */
export class ServerScans {
  readonly #connections: () => readonly ServerConnection[];
  readonly #cache = new ScanCache();

  constructor(connections: () => readonly ServerConnection[]) {
    this.#connections = connections;
  }

  /** Scans all servers, or one. Names of tools are compared with those of all. */
  async servers(only?: string): Promise<ServerScan[]> {
    const connections = this.#connections();
    const others = new OtherTools(
      connections.flatMap(({ config, listed }) =>
        listed.tools.map((tool) => ({ server: config.name, name: textOf(tool, 'name') })),
      ),
    );
    const entries = connections.flatMap(entriesOf);
    const found = new Map<Scanned, ScannedEntry>();
    let began = performance.now();
    let at = 0;
    for (const findings of this.#cache.scan(entries, others)) {
      const entry = entries[at++] as Scanned;
      if (findings.length > 0) found.set(entry, { kind: entry.kind, name: visibleText(entry.name), findings });
      if (performance.now() - began < SLICE_MS) continue;
      await setImmediate();
      began = performance.now();
    }
    return connections
      .filter(({ config }) => only === undefined || config.name === only)
      .map(({ config, listed: { instructions } }) => {
        const { name: server } = config;
        const mine = entries.filter((entry) => entry.server === server);
        const introduced = instructions === undefined ? [] : scanText('instructions', instructions, server, others);
        const first: ScannedEntry[] =
          introduced.length > 0 ? [{ kind: 'instructions', name: '', findings: introduced }] : [];
        return {
          server,
          scanned: mine.length + (instructions === undefined ? 0 : 1),
          entries: [...first, ...mine.flatMap((entry) => found.get(entry) ?? [])],
          ...(config.location && { location: config.location }),
        };
      })
      .sort((a, b) => compareCodePoints(a.server, b.server));
  }
}

const LISTS = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  harmfulResources: 'resource',
  resourceTemplates: 'template',
} as const;

function entriesOf({ config: { name: server }, listed: lists }: ServerConnection): Scanned[] {
  return (Object.keys(LISTS) as (keyof typeof LISTS)[]).flatMap((list) =>
    (lists[list] ?? []).flatMap((listed) => {
      if (typeof listed !== 'object' || listed === null) return [];
      // A review finds the entry of its item by this name.
      const name =
        list === 'resources' || list === 'harmfulResources'
          ? textOf(listed, 'name') || textOf(listed, 'uri')
          : nameOfItem(list, listed);
      return [{ server, kind: LISTS[list], name, listed, pin: pinOf(listed) }];
    }),
  );
}

function textOf(listed: unknown, member: string): string {
  const value = (listed as Record<string, unknown> | null)?.[member];
  return typeof value === 'string' ? value : '';
}
