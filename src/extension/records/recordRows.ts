import type { RecordSourceRow, RecordSources } from '../../control/recordsContract.ts';
import { groupDigits, oneLine } from '../../text/porcelain.ts';
import { plural, t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { asSentence } from '../plainText.ts';
import type { Row, TooltipPart } from '../tree/treeRow.ts';

/** Title of a source: what it holds, or the name of the folder. */
export function sourceTitle({ kind, path = '' }: Pick<RecordSourceRow, 'kind' | 'path'>): string {
  if (kind === 'history') return t`History of this gateway`;
  if (kind === 'agents') return t`Logs of your agents`;
  return oneLine(path.split(/[\\/]/).filter(Boolean).at(-1) ?? path, 80);
}

export function sourceRow(source: RecordSourceRow): Row {
  const { connection, isGranted, problem, expires } = source;
  const title = sourceTitle(source);
  const state = stateOf(source);
  return {
    id: `records:${connection}`,
    label: notificationText`${title}`,
    description: notificationText`${state}`,
    icon: problem !== undefined ? { id: 'warning' } : { id: isGranted ? (expires ? 'clock' : 'pass') : 'circle-slash' },
    contextValue: isGranted ? 'waygate.recordSource.granted' : 'waygate.recordSource',
    accessibilityLabel: notificationText`${title}, ${state}`,
  };
}

function stateOf({ isGranted, problem, streams, expires }: RecordSourceRow): string {
  if (problem !== undefined) return asSentence(problem);
  if (!isGranted) return t`not granted`;
  const records = streams.reduce((sum, stream) => sum + stream.records, 0);
  const amount = plural(records, t`1 record`, t`${groupDigits(records)} records`);
  return expires === undefined ? amount : t`${amount}, until ${expires.slice(0, 10)}`;
}

export function streamRow(connection: string, { name, records }: RecordSourceRow['streams'][number]): Row {
  const amount = plural(records, t`1 record`, t`${groupDigits(records)} records`);
  return {
    id: `records:${connection}:${name}`,
    label: notificationText`${name}`,
    description: notificationText`${amount}`,
    icon: { id: 'list-flat' },
    contextValue: 'waygate.recordStream',
    accessibilityLabel: notificationText`${name}, ${amount}`,
  };
}

export function sourceTooltip(source: RecordSourceRow): TooltipPart[] {
  const { path, limits, since, until, expires, malformed, problem, isGranted } = source;
  const facts = [
    ...(isGranted ? [] : [t`Agents cannot read it. Grant it with Add Record Source.`]),
    ...(isGranted && limits === undefined ? [t`Agents may read all of it.`] : []),
    ...(problem === undefined ? [] : [asSentence(problem)]),
    ...(limits ?? []).map(({ name, fields }) =>
      fields === 'all' ? t`Stream ${name} with all fields.` : t`Stream ${name} with the fields ${fields.join(', ')}.`,
    ),
    ...(since === undefined ? [] : [t`Nothing before ${since}.`]),
    ...(until === undefined ? [] : [t`Nothing after ${until}.`]),
    ...(expires === undefined ? [] : [t`The grant ends on ${expires}.`]),
    ...(malformed === 0
      ? []
      : [plural(malformed, t`1 line could not be read.`, t`${groupDigits(malformed)} lines could not be read.`)]),
  ];
  return [
    { style: 'title', text: sourceTitle(source) },
    ...(path === undefined ? [] : [{ style: 'code', text: path } as const]),
    ...facts.map((text) => ({ style: 'text', text }) as const),
  ];
}

/** Message above the rows; none while all is well. */
export function recordsMessage({ problem }: RecordSources): NotificationText | undefined {
  return problem === undefined ? undefined : notificationText`${asSentence(problem)}`;
}
