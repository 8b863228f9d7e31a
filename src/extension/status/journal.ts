import type * as vscode from 'vscode';
import type { GatewaySnapshot } from '../../control/contract.ts';
import { serverState } from '../../control/serverStates.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { LinkState } from '../gateway/gatewayLink.ts';
import type { Disposable, Observable } from '../observable.ts';
import { asSentence } from '../plainText.ts';
import { summarize } from './health.ts';
import { isTroubled, remedyStep, serverLabel } from './remedies.ts';

export interface JournalLine {
  level: 'info' | 'warn' | 'error';
  text: string;
}

/** Returns the log lines for a change of the link: each change once, however many snapshots arrive. */
export function journal(before: LinkState, after: LinkState): JournalLine[] {
  if (after.kind === 'attached') {
    const earlier = before.kind === 'attached' && before.attachment === after.attachment ? before.snapshot : undefined;
    return [...(earlier ? [] : [attachedLine(after.snapshot)]), ...news(earlier, after.snapshot)];
  }
  if (after.kind === 'waiting') {
    return [{ level: 'warn', text: `${asSentence(after.reason)} Trying again in ${after.delayMs / 1_000} s.` }];
  }
  return [{ level: 'info', text: summarize({ link: after, policy: undefined }).headline }];
}

function attachedLine({ worker, workspace }: GatewaySnapshot): JournalLine {
  return { level: 'info', text: `Attached to gateway ${worker.build} (pid ${worker.pid}) of ${workspace}.` };
}

function news(before: GatewaySnapshot | undefined, after: GatewaySnapshot): JournalLine[] {
  const states = new Map(before?.servers.map((server) => [server.name, server.state]));
  const servers = after.servers
    .filter((server) => states.get(server.name) !== server.state)
    .flatMap((server): JournalLine[] => {
      const reason = server.reason ? [asSentence(server.reason)] : [];
      const step = isTroubled(server) ? [remedyStep(server)?.says ?? []].flat() : [];
      const text = [`Server ${serverLabel(server)}: ${serverState(server.state).words}.`, ...reason, ...step].join(' ');
      const output = isTroubled(server) ? (server.stderr ?? []).map((line) => `  ${oneLine(line, 500)}`) : [];
      return [text, ...output].map((line) => ({ level: isTroubled(server) ? 'warn' : 'info', text: line }));
    });
  const known = new Set(before?.configuration.problems.map((problem) => JSON.stringify(problem)));
  const problems = after.configuration.problems
    .filter((problem) => !known.has(JSON.stringify(problem)))
    .map(
      ({ severity, message, location }): JournalLine => ({
        level: severity === 'error' ? 'error' : 'warn',
        text: `${location.file}:${location.line}:${location.column} ${asSentence(message)}`,
      }),
    );
  return [...servers, ...problems];
}

/** Writes the changes of a link to the log, with the folder's title if there are several. */
export function keepJournal(
  link: Observable<LinkState>,
  label: () => string | undefined,
  log: vscode.LogOutputChannel,
): Disposable {
  let before = link.value;
  return link.onChange((after) => {
    const title = label();
    const start = title === undefined ? '' : `${oneLine(title, 60)}: `;
    for (const { level, text } of journal(before, after)) log[level](start + text);
    before = after;
  });
}
