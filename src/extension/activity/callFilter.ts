import { oneLine } from '../../text/porcelain.ts';
import { t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { amounts } from '../plainText.ts';
import type { Call } from './callList.ts';
import { outcomeOf, toolName } from './callRows.ts';

const DIMENSIONS = {
  server: (call: Call) => call.server,
  tool: toolName,
  outcome: (call: Call) => outcomeOf(call).words,
  client: (call: Call) => call.client,
} satisfies Record<string, (call: Call) => string | undefined>;

type Dimension = keyof typeof DIMENSIONS;

/** Values to which the list is restricted, by dimension. A dimension without values restricts nothing. */
export type CallFilter = Partial<Record<Dimension, readonly string[]>>;

export interface FilterChoice {
  label: NotificationText;
  description: NotificationText;
  picked: boolean;
  dimension: Dimension;
  value: string;
}

export function matches(filter: CallFilter, call: Call): boolean {
  return entriesOf(filter).every(([dimension, values]) => values.includes(DIMENSIONS[dimension](call) ?? ''));
}

/** Returns every value that calls have, with their number, and those that the filter names. */
export function filterChoices(calls: readonly Call[], filter: CallFilter): FilterChoice[] {
  return (Object.keys(DIMENSIONS) as Dimension[]).flatMap((dimension) => {
    const found = new Map((filter[dimension] ?? []).map((value) => [value, 0]));
    for (const call of calls) {
      const value = DIMENSIONS[dimension](call);
      if (value) found.set(value, (found.get(value) ?? 0) + 1);
    }
    return [...found].sort(byName).map(([value, amount]) => ({
      label: notificationText`${oneLine(value, 80)}`,
      description: notificationText`${nameOf(dimension)} · ${amounts.calls(amount)}`,
      picked: filter[dimension]?.includes(value) === true,
      dimension,
      value,
    }));
  });
}

export function chosenFilter(choices: readonly Pick<FilterChoice, 'dimension' | 'value'>[]): CallFilter {
  const filter: Partial<Record<Dimension, string[]>> = {};
  for (const { dimension, value } of choices) filter[dimension] = [...(filter[dimension] ?? []), value];
  return filter;
}

/** Describes a filter above the rows; undefined for one that restricts nothing. */
export function filterMessage(filter: CallFilter, shown: number, all: number): NotificationText | undefined {
  const words = entriesOf(filter)
    .map(([dimension, values]) => `${nameOf(dimension)} ${values.map((value) => oneLine(value, 40)).join(t` or `)}`)
    .join(', ');
  if (words === '') return undefined;
  return all === 1
    ? notificationText`${shown} of 1 call: ${words}`
    : notificationText`${shown} of ${all} calls: ${words}`;
}

function entriesOf(filter: CallFilter): [Dimension, readonly string[]][] {
  return (Object.entries(filter) as [Dimension, readonly string[]][]).filter(([, values]) => values.length > 0);
}

function nameOf(dimension: Dimension): string {
  return { server: t`server`, tool: t`tool`, outcome: t`outcome`, client: t`client` }[dimension];
}

function byName([a]: [string, number], [b]: [string, number]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
