import type { Use } from './subjects.ts';

export interface PeerRow {
  name: string;
  p50Ms: number;
  p95Ms: number;
  browseP50Ms?: number;
  cpuMsPerCall: number;
  parallelCpuMsPerCall: number;
  callsPerSecond: number;
  /** Use before the first call and after the calls with large results. */
  idle: Use | undefined;
  used: Use | undefined;
}

export interface PeerRun {
  date: string;
  node: string;
  processor: string;
  load: [number, number];
  tools: number;
  calls: number;
  inFlight: number;
  rows: PeerRow[];
}

/** Renders a run as the tables of docs/benchmarks.md. */
export function peerTables({ date, node, processor, load, tools, calls, inFlight, rows }: PeerRun): string {
  const direct = rows.find(({ name }) => name === 'direct') as PeerRow;
  const gateways = rows.filter((row) => row !== direct);
  const lines = gateways.map((row) => {
    const added = row.p50Ms - direct.p50Ms;
    const cells = [
      row.name,
      `+${added.toFixed(2)} ms`,
      `${(row.p50Ms / direct.p50Ms).toFixed(1)} x`,
      `${row.p95Ms.toFixed(2)} ms`,
      Math.round(row.callsPerSecond).toLocaleString('en'),
      row.cpuMsPerCall.toFixed(2),
      row.parallelCpuMsPerCall.toFixed(2),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const memory = gateways.map(({ name, idle, used }) => {
    const mb = (value: number | undefined): string => (value === undefined ? '–' : String(Math.round(value)));
    const cells = [
      name,
      mb(idle?.processes),
      `${mb(idle?.privateMb)}${apart(idle)}`,
      mb(idle?.rssMb),
      `${mb(used?.privateMb)}${apart(used)}`,
      mb(used?.rssMb),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const browse = gateways.filter((row) => row.browseP50Ms !== undefined);
  const browsed = browse.map(({ name, browseP50Ms = 0 }) => `${name} ${browseP50Ms.toFixed(2)} ms`).join(', ');
  return [
    `Run of ${date}: Node ${node}, ${processor}, load ${load[0].toFixed(1)} before and ${load[1].toFixed(1)} after. ` +
      `${calls} calls one after the other and ${2 * calls} with ${inFlight} in flight; the direct call took ${direct.p50Ms.toFixed(2)} ms.`,
    '',
    `| gateway | added p50 | of direct | p95 | calls/s, ${inFlight} in flight | CPU ms a call | the same, ${inFlight} in flight |`,
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
    `\`tool_browse\` with a query takes (p50, SDK client included): ${browsed}.`,
    '',
    `| gateway, ${tools} tools | processes | private MB idle | RSS MB idle | private MB after calls | RSS MB after calls |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...memory,
  ].join('\n');
}

const PROGRAMS: Record<string, string> = { 'waygate.cjs': 'host', 'worker.cjs': 'worker' };

/** Returns the private memory of Waygate's host and worker, in parentheses. */
function apart(use: Use | undefined): string {
  const parts = Object.entries(use?.privateMbOf ?? {}).filter(([file]) => file in PROGRAMS);
  if (parts.length < 2) return '';
  return ` (${parts.map(([file, mb]) => `${PROGRAMS[file]} ${Math.round(mb)}`).join(', ')})`;
}
