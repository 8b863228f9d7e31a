import type { ScannedEntry, ServerScan } from '../../control/trustContract.ts';
import { didYouMean } from '../../text/nearest.ts';
import { count, oneLine } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import { SCAN_RULES } from '../../trust/scan/finding.ts';
import type { ScanCommand } from '../commands.ts';
import { print } from '../print.ts';
import { sarifOf } from '../sarif.ts';
import { withSettledGateway } from '../settledGateway.ts';
import { printStepFor } from './status.ts';

/** Exit codes, so that a script can distinguish findings from errors. */
const EXIT = { none: 0, soft: 10, hard: 11 } as const;

/** Prints what the scan finds in the lists of the servers (T1). */
export function scan({ server, json, sarif, ...target }: ScanCommand): Promise<number> {
  return withSettledGateway(target, async (control) => {
    const status = await control.request('status', {});
    const names = status.servers.map(({ name }) => name);
    if (server !== undefined && !names.includes(server)) {
      throw new Error(`there is no server "${oneLine(server)}"; ${didYouMean(server, names)}`);
    }
    const scans = await control.request('scan', server === undefined ? {} : { server });
    print(json || sarif, sarif ? sarifOf(scans) : scans, renderScans(scans));
    printStepFor(json || sarif, status);
    return EXIT[worstOf(scans)];
  });
}

function worstOf(scans: readonly ServerScan[]): keyof typeof EXIT {
  const findings = scans.flatMap(({ entries }) => entries.flatMap((entry) => entry.findings));
  if (findings.length === 0) return 'none';
  return findings.some(({ tier }) => tier === 'hard') ? 'hard' : 'soft';
}

export function renderScans(scans: readonly ServerScan[]): string {
  const lines = scans.flatMap(({ server, scanned, entries }) => [
    `${shown(server)}  ${count(scanned, 'entry', 'entries')} scanned, ${entries.length === 0 ? 'no findings' : `findings in ${entries.length}`}`,
    ...entries.flatMap((entry) => [
      `  ${labelOf(entry)}`,
      ...entry.findings.map(
        ({ rule, tier, where, quote }) => `    ${tier} ${rule} ${SCAN_RULES[rule]}, at ${shown(where)}: ${quote}`,
      ),
    ]),
  ]);
  return lines.length === 0 ? 'No server is configured.\n' : `${lines.join('\n')}\n`;
}

const MAX_NAME_CHARS = 200;
const shown = (text: string): string => oneLine(visibleText(text), MAX_NAME_CHARS);

/** Returns kind and name of an entry. */
export function labelOf({ kind, name }: Pick<ScannedEntry, 'kind' | 'name'>): string {
  return kind === 'instructions' ? kind : `${kind} ${shown(name)}`;
}
