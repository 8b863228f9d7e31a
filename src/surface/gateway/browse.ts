import { type ChoiceCard, nodeCard, toCard } from '../../catalog/card.ts';
import { cardsWithinBudget } from '../../catalog/cardBudget.ts';
import { cardToJson, renderCardLine } from '../../catalog/cardText.ts';
import { CatalogError } from '../../catalog/catalogError.ts';
import type { CatalogTool, GraphNode } from '../../catalog/types.ts';
import { GatewayError } from '../../ops/gatewayError.ts';
import { count, groupDigits, MAX_ANSWER_CHARS } from '../../ops/porcelain.ts';
import { rank } from '../../routing/rankIndex.ts';
import type { CatalogView } from '../catalogView.ts';
import { argsInvalid, type CheckedArguments } from './arguments.ts';
import type { Answer, GatewayContext } from './gatewayContext.ts';
import { serverNotes, serverStates } from './serverNotes.ts';

const DEFAULT_TOP_K = 10;
/** The notes and the closing lines of an answer have this much room beside its cards. */
const NOTES_ROOM_CHARS = 2_000;
const NEXT_STEP =
  'Next: tool_execute with a tool_id above; tool_view {"handle": "schema:<tool_id>", "selector": {}} shows its arguments.';

interface Listing {
  headline: string;
  cards: readonly ChoiceCard[];
  /** How many there are in all, when not every one fits. */
  total: number;
  rest: string;
}

export function browse(args: CheckedArguments, context: GatewayContext): Answer {
  const view = context.view();
  const { query, path } = args as { query?: string; path?: string };
  if ((query === undefined) === (path === undefined)) {
    throw argsInvalid('tool_browse takes either "query" or "path": give one of them.', []);
  }
  const topK = (args['top_k'] as number | undefined) ?? DEFAULT_TOP_K;
  const listing = path === undefined ? byQuery(view, query as string, topK) : byPath(view, path);
  const servers = context.servers();
  const notes = serverNotes(servers, context.configuration());
  const room = MAX_ANSWER_CHARS - NOTES_ROOM_CHARS;
  const shown = fitting(listing.cards, room, (card) => renderCardLine(card, listing.total, listing.total));
  const lines = [listing.headline, ...shown.map((card, i) => renderCardLine(card, i + 1, shown.length))];
  if (shown.length < listing.total)
    lines.push(`${count(listing.total - shown.length, 'more', 'more')}: ${listing.rest}`);
  lines.push(...notes.join('\n').slice(0, NOTES_ROOM_CHARS).split('\n').filter(Boolean));
  if (shown.some((card) => card.kind === 'tool')) lines.push(NEXT_STEP);
  return {
    text: lines.join('\n'),
    data: {
      cards: fitting(listing.cards, room, (card) => JSON.stringify(card)).map(cardToJson),
      total: listing.total,
      searched: view.catalog.tools.length,
      servers: fitting(serverStates(servers), NOTES_ROOM_CHARS, (state) => JSON.stringify(state)),
    },
  };
}

function byQuery(view: CatalogView, query: string, topK: number): Listing {
  if (query.trim() === '')
    throw argsInvalid('"query" is empty: say in a few words what the tool should do.', ['query']);
  const result = rank(view.index, query, { topK });
  const scores = new Map(result.hits.map((hit) => [hit.tool.id, hit.score]));
  const { cards } = cardsWithinBudget(
    result.hits.map((hit) => hit.tool),
    (tool: CatalogTool) => toCard(tool, scores.get(tool.id)),
  );
  const searched = `${groupDigits(result.searched)} searched`;
  const headline =
    cards.length === 0
      ? `No tool matches (${searched}). Use other words, or look around with {"path": "/"}.`
      : `${count(cards.length, 'tool')} for this query, best first (${searched}).`;
  return { headline, cards, total: cards.length, rest: '' };
}

function byPath(view: CatalogView, path: string): Listing {
  const { graph, byId } = view.catalog;
  let nodes: readonly GraphNode[];
  try {
    nodes = graph.resolve(path);
  } catch (error) {
    throw pathError(error, path);
  }
  const { cards } = cardsWithinBudget(
    nodes.map((node) => ({ ...node, id: node.path })),
    (node) => {
      const tool = node.toolId === undefined ? undefined : byId.get(node.toolId);
      return tool ? toCard(tool) : nodeCard(node);
    },
  );
  const tools = nodes.reduce((sum, node) => sum + node.toolCount, 0);
  const headline = `${path}: ${count(nodes.length, 'entry', 'entries')}, ${count(tools, 'tool')}.`;
  return { headline, cards, total: cards.length, rest: `search inside with "query", or browse a longer path.` };
}

function pathError(error: unknown, path: string): unknown {
  if (!(error instanceof CatalogError)) return error;
  if (error.code !== 'PATH_INVALID' && error.code !== 'PATH_NOT_FOUND') return error;
  const details = error.nearest === undefined ? {} : { details: { nearest: error.nearest } };
  return new GatewayError(error.code, error.message, { path, ...details });
}

/** As many of them, whole, as there is room for. */
function fitting<T>(items: readonly T[], room: number, rendered: (item: T) => string): readonly T[] {
  let used = 0;
  const end = items.findIndex((item) => {
    used += rendered(item).length + 1;
    return used > room;
  });
  return end === -1 ? items : items.slice(0, end);
}
