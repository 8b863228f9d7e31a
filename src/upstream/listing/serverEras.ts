import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { ProtocolVerdict } from '../../control/contract.ts';
import { isRecord, parseRecord } from '../../lib/isRecord.ts';
import { readOwnText } from '../../lib/readBounded.ts';
import { writeWhole } from '../../lib/writeWhole.ts';
import type { KnownEra } from '../../mcp/wire/modern/eraFinder.ts';
import { snapshotKey } from './snapshotKey.ts';

interface KeptVerdict extends ProtocolVerdict {
  /** Snapshot key of the configuration that the verdict is for. */
  key: string;
  /** False after an answer that left the era open, so the next start asks again. */
  isSure: boolean;
}

const FORMAT = 1;
/** Servers are updated: a verdict is checked again after this time. */
const RECHECK_MS = 7 * 24 * 60 * 60_000;

/** Keeps the verdicts about servers' eras in a file beside the snapshots, so that a start need not ask for them (M9.3). */
export class ServerEras {
  readonly #file: string | undefined;
  readonly #log: (line: string) => void;
  readonly #now: () => number;
  readonly #verdicts: Map<string, KeptVerdict>;

  /** Without a file, the verdicts last as long as the process. */
  constructor(file?: string, log: (line: string) => void = () => undefined, now: () => number = Date.now) {
    this.#file = file;
    this.#log = log;
    this.#now = now;
    this.#verdicts = new Map(file === undefined ? [] : readVerdicts(file));
  }

  of(server: string): ProtocolVerdict | undefined {
    const kept = this.#verdicts.get(server);
    return kept && { era: kept.era, version: kept.version, at: kept.at };
  }

  /** Returns the verdict for a start of the server; nothing for a server without a choice of revisions. */
  forStart(config: ServerConfig): KnownEra | undefined {
    if (config.type === 'static' || config.type === 'records') return undefined;
    const { name } = config;
    const key = snapshotKey(config);
    const kept = this.#verdicts.get(name);
    const isFresh = kept?.key === key && kept.isSure && Math.abs(this.#now() - kept.at) < RECHECK_MS;
    return {
      known: isFresh ? kept.era : undefined,
      onFound: (era, version, isSure) => {
        const isSame = isFresh && kept === this.#verdicts.get(name) && kept.era === era && kept.version === version;
        if (!isSame) this.#keep(name, { key, era, version, at: this.#now(), isSure });
      },
      onDoubt: () => {
        if (this.#verdicts.delete(name)) this.#write();
      },
    };
  }

  /** Removes the verdicts about other servers. */
  keepOnly(servers: readonly string[]): void {
    const others = [...this.#verdicts.keys()].filter((name) => !servers.includes(name));
    for (const name of others) this.#verdicts.delete(name);
    if (others.length > 0) this.#write();
  }

  #keep(name: string, verdict: KeptVerdict): void {
    this.#verdicts.set(name, verdict);
    this.#write();
  }

  #write(): void {
    if (this.#file === undefined) return;
    try {
      const content = { format: FORMAT, servers: Object.fromEntries(this.#verdicts) };
      writeWhole(this.#file, JSON.stringify(content), { mode: 0o600 });
    } catch (error) {
      this.#log(`the versions of MCP of servers could not be saved: ${(error as Error).message}`);
    }
  }
}

/** Reads the kept verdicts; a damaged file counts as missing. */
function readVerdicts(file: string): [string, KeptVerdict][] {
  try {
    const { format, servers } = parseRecord(readOwnText(file)) ?? {};
    return format === FORMAT && isRecord(servers) ? Object.entries(servers).filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(entry: [string, unknown]): entry is [string, KeptVerdict] {
  const { key, era, version, at, isSure } = isRecord(entry[1]) ? entry[1] : {};
  return (
    typeof key === 'string' &&
    (era === 'legacy' || era === 'modern') &&
    typeof version === 'string' &&
    typeof at === 'number' &&
    typeof isSure === 'boolean'
  );
}
