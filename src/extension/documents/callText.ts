import type { CallDetails } from '../../control/activityContract.ts';
import { latency, oneLine, table } from '../../text/porcelain.ts';
import { visibleJson, visibleText } from '../../text/visibleText.ts';
import { t } from '../l10n.ts';

const DROPPED: Record<NonNullable<CallDetails['dropped']>, string> = {
  switched_off: t`The arguments and the answer were not kept, because activity.keepArguments is false.`,
  space: t`The arguments and the answer were dropped: they are kept in memory only, and newer calls needed the space.`,
  too_large: t`The arguments or the answer were too large to be kept in memory.`,
};

/** Shown for a call that is not kept any more. */
export const FORGOTTEN = t`This call is no longer kept. Calls are kept in memory only: the last 200, until the gateway ends.`;

/** Renders what the client asked for, as JSON. */
export function requestText({ record, arguments: given, dropped }: CallDetails): string {
  const { metaTool, toolId, subject, client, at } = record;
  return `${visibleJson(
    {
      tool: metaTool,
      ...(toolId === undefined && { subject }),
      client,
      at: new Date(at).toISOString(),
      ...(dropped && given === undefined ? { unavailable: DROPPED[dropped] } : { arguments: given }),
    },
    2,
  )}\n`;
}

/** Renders the answer as the model got it. */
export function answerText({ record, answer, dropped }: CallDetails): string {
  if (answer !== undefined) return visibleText(answer);
  if (record.phase !== 'done') return `${t`The call has not ended. This document shows its answer when it ends.`}\n`;
  return `${dropped ? DROPPED[dropped] : t`The call ended without an answer.`}\n`;
}

/** Renders the tries at the server, the stages with their durations, and the corrections. */
export function attemptsText({ attempts, stages, repairs }: CallDetails): string {
  const tries = attempts.map(({ at, durationMs, outcome }, index) => [
    String(index + 1),
    new Date(at).toISOString(),
    durationMs === undefined ? '' : latency(durationMs),
    oneLine(outcome, 200),
  ]);
  const sections = [
    section(t`Tries at the server`, [t`Try`, t`Time`, t`Took`, t`Outcome`], tries, t`The server was not called.`),
    section(
      t`Stages`,
      [t`Stage`, t`Took`],
      stages.map(({ stage, durationMs }) => [oneLine(stage, 60), latency(durationMs)]),
      t`No stages are recorded.`,
    ),
    section(
      t`Corrections of the arguments`,
      [t`Path`, t`Rule`],
      repairs.map(({ path, rule }) => [oneLine(path, 200) || t`(all)`, oneLine(rule, 100)]),
      t`The arguments were not corrected.`,
    ),
  ];
  return `# ${t`Attempts`}\n\n${sections.join('\n\n')}\n`;
}

/** Renders a table within a block of code, in which foreign text is no markup. */
function section(title: string, header: string[], rows: string[][], none: string): string {
  if (rows.length === 0) return `## ${title}\n\n${none}`;
  const lines = table(header, rows).map((line) => line.replaceAll('```', "'''"));
  return [`## ${title}`, '', '```text', ...lines, '```'].join('\n');
}
