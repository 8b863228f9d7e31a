import { oneLine } from '../../text/porcelain.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { count } from '../plainText.ts';
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
    const amounts = new Map((filter[dimension] ?? []).map((value) => [value, 0]));
    for (const call of calls) {
      const value = DIMENSIONS[dimension](call);
      if (value) amounts.set(value, (amounts.get(value) ?? 0) + 1);
    }
    return [...amounts].sort(byName).map(([value, amount]) => ({
      label: notificationText`${oneLine(value, 80)}`,
      description: notificationText`${dimension} · ${count(amount, 'call')}`,
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
  const words = entriesOf(filter).map(
    ([dimension, values]) => `${dimension} ${values.map((value) => oneLine(value, 40)).join(' or ')}`,
  );
  return words.length === 0 ? undefined : notificationText`${shown} of ${count(all, 'call')}: ${words.join(', ')}`;
}

function entriesOf(filter: CallFilter): [Dimension, readonly string[]][] {
  return (Object.entries(filter) as [Dimension, readonly string[]][]).filter(([, values]) => values.length > 0);
}

function byName([a]: [string, number], [b]: [string, number]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
