import type { ToolPath } from '../../control/toolContract.ts';
import { t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { shortTokens } from '../plainText.ts';

/** Tool of a server that the user may hide from agents. */
export interface ToolChoice {
  label: NotificationText;
  description: NotificationText;
  /** Name that the server gives it. */
  name: string;
  group: string;
  tokens: number | undefined;
  picked: boolean;
}

/** Lists the tools of a server by cluster: those that agents see, and those that an exact name excludes. */
export function toolChoices(paths: readonly ToolPath[], server: string, excluded: readonly string[]): ToolChoice[] {
  const shown = paths
    .filter((tool) => tool.server === server)
    .map(({ name = '', path, tokens }): ToolChoice => {
      const [, , ...segments] = path.split('/');
      const own = segments.at(-1) ?? name;
      return {
        label: notificationText`${own}`,
        description: notificationText`${shortTokens(tokens)} tokens`,
        name,
        group: segments.slice(0, -1).join(' › '),
        tokens,
        picked: true,
      };
    });
  const known = new Set(shown.map(({ name }) => name));
  const hidden = excluded
    .map(plainName)
    .filter((name): name is string => name !== undefined && !known.has(name))
    .map((name): ToolChoice => {
      const words = { label: notificationText`${name}`, description: notificationText`hidden from agents` };
      return { ...words, name, group: t`Hidden`, tokens: undefined, picked: false };
    });
  return [...shown.sort((a, b) => compare(a.group, b.group) || compare(a.label, b.label)), ...hidden];
}

/** Describes the cost of what stays. */
export function costWords(choices: readonly ToolChoice[], kept: readonly ToolChoice[]): string {
  const sum = (some: readonly ToolChoice[]): number => some.reduce((total, { tokens = 0 }) => total + tokens, 0);
  const digits = (tokens: number): string => tokens.toLocaleString('en-US');
  return t`${digits(sum(kept))} of ${digits(sum(choices))} tokens stay`;
}

/** Returns the names to exclude and to offer again. */
export function changesOf(
  choices: readonly ToolChoice[],
  kept: readonly ToolChoice[],
): { exclude: string[]; include: string[] } {
  const stays = new Set(kept.map(({ name }) => name));
  const namesOf = (some: readonly ToolChoice[]): string[] => some.map(({ name }) => name);
  return {
    exclude: namesOf(choices.filter(({ name, picked }) => picked && !stays.has(name))),
    include: namesOf(choices.filter(({ name, picked }) => !picked && stays.has(name))),
  };
}

/** Returns the name that a pattern of `tools.exclude` matches alone; undefined for one with wildcards. */
function plainName(pattern: string): string | undefined {
  const name = pattern.replace(/\[([*?[])\]/g, '\0$1');
  return /(^|[^\0])[*?[]/.test(name) ? undefined : name.replaceAll('\0', '');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
