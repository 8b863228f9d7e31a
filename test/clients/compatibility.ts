import { readFileSync, writeFileSync } from 'node:fs';
import { ERAS, TRANSPORTS, UPSTREAMS, type WireTransport } from '../support/wire/eraWorld.ts';
import type { Spoken } from '../support/wire/recorded.ts';

/** Client over one transport. */
export interface Row {
  name: string;
  version: string;
  transport: WireTransport;
  wasRun: boolean;
  /** Protocol between the client and the gateway. */
  front?: Spoken;
  /** Revision between the gateway and each server that answered the client's call. */
  cells: Map<string, string>;
  approval?: Approval;
}

/** End of the gateway's question about a call: the client's user allows it, the client declines it, or nobody is asked. */
export type Approval = 'asks' | 'declines' | 'reads the command';

const PAGE = 'docs/compatibility.md';
const PART = /(<!-- made by npm run test:clients: begin -->\n)[\s\S]*(<!-- made by npm run test:clients: end -->)/;

/** Writes the table, unless only some of the clients were run. */
export function writeTable(rows: readonly Row[]): void {
  if (!rows.every(({ wasRun }) => wasRun)) return;
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(PART, (_, begin, end) => `${begin}${tableOf(rows)}\n${end}`),
  );
}

function tableOf(rows: readonly Row[]): string {
  const servers = ERAS.flatMap((era) => TRANSPORTS.map((transport) => `${era}, ${transport}`));
  const lines = [
    ['client', 'transport', 'opens with', 'speaks', ...servers, 'approval'],
    [...Array(5 + servers.length)].map(() => '---'),
  ];
  for (const { name, version, transport, front, cells, approval = 'fails' } of rows) {
    const answers = UPSTREAMS.map((server) => cells.get(server.name) ?? 'fails');
    lines.push([
      `${name} (${version})`,
      transport,
      front ? `\`${front.opening}\`` : 'fails',
      front?.revision ?? 'fails',
      ...answers,
      approval,
    ]);
  }
  const works = rows.reduce((sum, { cells }) => sum + cells.size, 0);
  const date = new Date().toISOString().slice(0, 10);
  return [
    `Run of ${date} on ${process.platform}: ${works} of ${rows.length * UPSTREAMS.length} calls were answered.`,
    '',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}
