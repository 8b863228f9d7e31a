import { sha256 } from '../../catalog/shapeHash.ts';
import type { ControlClient } from '../../control/client.ts';
import type { ServerStatus } from '../../control/contract.ts';
import { serverState } from '../../control/serverStates.ts';
import type { ServerScan, TrustDecision, TrustReview } from '../../control/trustContract.ts';
import { count } from '../../text/porcelain.ts';
import type { TrustCommand } from '../commands.ts';
import { print } from '../print.ts';
import { ownTrustLog } from '../runtime.ts';
import { withSettledGateway } from '../settledGateway.ts';
import { ownTerminal, type Terminal } from '../terminal.ts';
import { acceptShown, chosenIn, shownDiff, shownText, stateWords } from '../trustReview.ts';
import { printStepFor } from './status.ts';

/** Shows the pins of the servers (T2), and carries out the user's decisions about them. */
export async function trust(command: TrustCommand, terminal: Terminal = ownTerminal()): Promise<number> {
  const { action, subject, json, pin: _pin, ...target } = command;
  if (action === 'log') return printLog(json);
  if (action === 'verify') return verify(json);
  return withSettledGateway(target, async (control) => {
    const reviews = await control.request('trust', {});
    if (action === 'show') return show(control, reviews, json);
    const chosen = chosenIn(reviews, subject);
    const { server } = chosen.review;
    switch (action) {
      case 'diff':
        return shownDiff(chosen, json);
      case 'accept':
        return acceptShown(command, chosen, (decision) => decide(control, decision), terminal);
      case 'block':
        if (chosen.isServer) return quarantine(control, server, json);
        await decide(control, { action, server, keys: chosen.keys });
        print(json, { action, server, keys: chosen.keys }, `${shownText(subject)} is blocked until you accept it.\n`);
        return 0;
      case 'quarantine':
        return quarantine(control, server, json);
      case 'release':
        return release(control, chosen.review, json);
    }
  });
}

async function decide(control: ControlClient, decision: TrustDecision): Promise<void> {
  const { reason } = await control.request('decide', { ...decision, actor: 'person-cli' });
  if (reason !== undefined) throw new Error(reason);
}

async function quarantine(control: ControlClient, server: string, json: boolean): Promise<number> {
  await decide(control, { action: 'quarantine', server });
  const text = `${shownText(server)} is in quarantine: nothing of it is offered. Undo: waygate trust release ${shownText(server)}\n`;
  print(json, { action: 'quarantine', server }, text);
  return 0;
}

/** Lifts a quarantine. What differs from its pin stays held. */
async function release(control: ControlClient, review: TrustReview, json: boolean): Promise<number> {
  const { server, approved, items } = review;
  const offered = [
    ...approved,
    ...items.filter(({ pin, state }) => pin && state !== 'blocked' && review.onChange !== 'block'),
  ];
  const names = offered.map(({ key, toolId }) => toolId ?? `${server} ${key}`);
  const scans = await control.request('scan', { server });
  const lines = [
    `${shownText(server)} offers ${count(names.length, 'item')}:`,
    ...names.map((name) => `  ${shownText(name)}`),
    ...findingLines(server, scans),
  ];
  const text = `${lines.join('\n')}\n`;
  await decide(control, { action: 'release', server, lines: sha256(text) });
  print(json, { action: 'release', server, offered: names }, `${text}${shownText(server)} is released.\n`);
  return 0;
}

async function show(control: ControlClient, reviews: readonly TrustReview[], json: boolean): Promise<number> {
  const [status, scans] = [await control.request('status', {}), await control.request('scan', {})];
  const rows = reviews.map((review) => {
    const { approved, items, ...rest } = review;
    const counts = { approved: approved.length, new: 0, changed: 0, gone: 0, blocked: 0 };
    for (const { state } of items) counts[state]++;
    const launch = launchOf(review, status.servers);
    const findings = findingsOf(review.server, scans);
    const listed = items.map(({ before: _before, after: _after, ...item }) => item);
    return { ...rest, launch, counts, findings, items: listed };
  });
  const lines = rows.flatMap((row, index) => rowLines(row, reviews[index] as TrustReview));
  const next = rows.some(({ items }) => items.length > 0)
    ? 'See a change, and the pin that accepts it: waygate trust diff NAME | TOOL_ID\n'
    : '';
  print(json, rows, lines.length === 0 ? 'No server is configured.\n' : `${lines.join('\n')}\n${next}`);
  printStepFor(json, status);
  return 0;
}

type Row = Omit<TrustReview, 'approved' | 'items'> & {
  launch: string;
  counts: Record<'approved' | 'new' | 'changed' | 'gone' | 'blocked', number>;
  findings: { hard: number; soft: number };
};

const onChangeWords = (onChange: TrustReview['onChange']): string =>
  `changes are ${onChange === 'block' ? 'held back' : onChange === 'ask' ? 'asked about' : 'reported'}`;

function rowLines(
  { server, launch, since, onChange, counts, findings, quarantine, problem }: Row,
  review: TrustReview,
) {
  const { hard, soft } = findings;
  const baseline = since === undefined ? 'no baseline yet' : `baseline of ${since.slice(0, 16).replace('T', ' ')} UTC`;
  return [
    `${shownText(server)}  ${launch}, ${baseline}, ${onChangeWords(onChange)}`,
    `  ${Object.entries(counts)
      .map(([state, n]) => `${n} ${state}`)
      .join(', ')}`,
    ...(quarantine === undefined
      ? []
      : [`  quarantine: ${shownText(quarantine)} Release it: waygate trust release ${shownText(server)}`]),
    ...(problem === undefined
      ? []
      : [`  problem: ${shownText(problem)} See and accept them: waygate trust diff ${shownText(server)}`]),
    ...(hard + soft === 0 ? [] : [`  findings: ${hard} hard, ${soft} soft (waygate scan ${shownText(server)})`]),
    ...review.items.map((item) => `  ${stateWords(item, review)}`),
  ];
}

function launchOf({ server, origin }: TrustReview, servers: readonly ServerStatus[]): string {
  const state = servers.find(({ name }) => name === server)?.state;
  if (state === 'needs_approval') return serverState(state).words;
  return origin === 'user' || origin === 'given' ? 'your own' : 'launch approved';
}

function findingsOf(server: string, scans: readonly ServerScan[]): { hard: number; soft: number } {
  const all = scans
    .filter((one) => one.server === server)
    .flatMap(({ entries }) => entries.flatMap((one) => one.findings));
  const hard = all.filter(({ tier }) => tier === 'hard').length;
  return { hard, soft: all.length - hard };
}

function findingLines(server: string, scans: readonly ServerScan[]): string[] {
  const { hard, soft } = findingsOf(server, scans);
  return hard + soft === 0
    ? []
    : [`The scan has ${hard} hard and ${soft} soft findings: waygate scan ${shownText(server)}`];
}

function printLog(json: boolean): number {
  const entries = ownTrustLog().entries();
  const lines = entries.map(
    ({ seq, ts, actor, subject, pin, shown }) =>
      `${seq}  ${ts}  ${actor}  ${subject}${pin ? `  pin ${pin.slice(0, 8)}` : ''}${shown ? `  shown ${shown.slice(0, 8)}` : ''}\n`,
  );
  print(json, entries, lines.length === 0 ? 'The trust log has no entries.\n' : lines.join(''));
  return 0;
}

function verify(json: boolean): number {
  const log = ownTrustLog();
  const { lines, head, brokenAt } = log.verify();
  const text =
    brokenAt === undefined
      ? `The trust log is whole: ${count(lines, 'entry', 'entries')}, head ${head}.\n`
      : `The trust log breaks at line ${brokenAt} of ${log.file}: it was changed there, or a line before it is missing.\n`;
  print(json, { file: log.file, lines, head, ...(brokenAt !== undefined && { brokenAt }) }, text);
  return brokenAt === undefined ? 0 : 1;
}
