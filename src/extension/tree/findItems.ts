import type { ControlRequests } from '../../control/contract.ts';
import type { ToolPath, ToolPaths } from '../../control/toolContract.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { shortTokens } from '../plainText.ts';

type RankExplanation = ControlRequests['explain']['result'];

export interface FoundTool {
  label: NotificationText;
  description: NotificationText;
  detail: NotificationText;
  toolId: string;
  path: string;
}

/** More rows make each key slow, and nobody reads them. */
const MAX_ITEMS = 200;
const SAFETY_WORDS: Readonly<Record<ToolPath['safety'], string>> = {
  '': '',
  read_only: t`declared read-only`,
  destructive: t`declared destructive`,
};

/** Returns a function that asks for all paths, once for each revision of the catalog. */
export function pathsOf(link: Pick<GatewayLink, 'status' | 'request'>): () => Promise<ToolPaths> {
  let known: Promise<ToolPaths> | undefined;
  return async () => {
    const { revision } = (await link.status()).catalog;
    if ((await known?.catch(() => undefined))?.revision !== revision) known = link.request('paths', {});
    return known as Promise<ToolPaths>;
  };
}

/** Returns the tools whose path contains every word of the query, then those whose description does. */
export function containing(paths: readonly ToolPath[], query: string): FoundTool[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const named: ToolPath[] = [];
  const described: ToolPath[] = [];
  for (const tool of paths) {
    const path = tool.path.toLowerCase();
    if (words.every((word) => path.includes(word))) named.push(tool);
    else if (described.length < MAX_ITEMS) {
      const text = `${path} ${tool.description.toLowerCase()}`;
      if (words.every((word) => text.includes(word))) described.push(tool);
    }
    if (named.length >= MAX_ITEMS) break;
  }
  return [...named, ...described].slice(0, MAX_ITEMS).map((tool) => ({
    label: notificationText`${nameOf(tool.path)}`,
    description: notificationText`${tool.path}`,
    detail: notificationText`${detailOf(tool)}`,
    toolId: tool.toolId,
    path: tool.path,
  }));
}

/**
 * Returns the hits of the ranking in its order. The editor sorts items whose label contains what was typed, so the label
 * has the place and the score alone.
 */
export function ranked({ hits }: RankExplanation, paths: readonly ToolPath[]): FoundTool[] {
  const byId = new Map(paths.map((tool) => [tool.toolId, tool]));
  return hits.flatMap(({ toolId, score }, index) => {
    const tool = byId.get(toolId);
    if (!tool) return [];
    return {
      label: notificationText`${index + 1}.`,
      description: notificationText`${nameOf(tool.path)} · ${score} · ${tool.path}`,
      detail: notificationText`${detailOf(tool)}`,
      toolId,
      path: tool.path,
    };
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function detailOf({ description, tokens, safety }: ToolPath): string {
  // The end of a long line is cut.
  return [t`${shortTokens(tokens)} tokens`, SAFETY_WORDS[safety], description].filter(Boolean).join(' · ');
}
