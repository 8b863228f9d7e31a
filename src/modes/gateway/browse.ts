import { type ChoiceCard, nodeCard, toCard } from '../../catalog/cards/card.ts';
import { cardsWithinBudget, responseCapTokens } from '../../catalog/cards/cardBudget.ts';
import { cardToJson, renderCardLine } from '../../catalog/cards/cardText.ts';
import { CatalogError } from '../../catalog/catalogError.ts';
import { countTokens } from '../../catalog/tokenizer/tokens.ts';
import type { GraphNode } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type RankedTool, type RankOptions, rank } from '../../ranking/rankIndex.ts';
import { meantBy } from '../../text/nearest.ts';
import type { ReportNormalisation } from '../../text/normalise.ts';
import { boundText, count, groupDigits, MAX_ANSWER_CHARS, oneLine } from '../../text/porcelain.ts';
import type { Choices } from '../primitives/primitiveView.ts';
import { argsInvalid, type CheckedArguments } from '../shared/arguments.ts';
import type { Answer, GatewayContext } from '../shared/modeContext.ts';
import { serverNotes, serverStates } from '../shared/serverNotes.ts';
import type { SessionState } from '../shared/sessionState.ts';
import { meantPath } from './meantPath.ts';

/** What stands behind the cards needs room beside them. */
const NOTES_ROOM_CHARS = 2_000;
const CARDS_ROOM_CHARS = MAX_ANSWER_CHARS - NOTES_ROOM_CHARS;
const CARDS_INSTEAD = 10;
const MAX_NAMED_NAMESPACES = 20;

/** What is looked through: a kind of things, and what is done with one that was found. */
interface Shelf {
  metaTool: 'tool_browse' | 'resource_browse' | 'prompt_browse';
  noun: 'tool' | 'resource' | 'prompt';
  /** What a query is about. */
  purpose: string;
  nextStep: string;
  choices: Choices;
}

interface Listing {
  headline: string;
  cards: readonly ChoiceCard[];
  /** How to get what did not fit. */
  rest: string;
  /** What helps where nothing, or little, was found. */
  hints: readonly string[];
  confidence?: 'good' | 'weak' | 'none';
}

export function browse(
  args: CheckedArguments,
  context: GatewayContext,
  session: SessionState,
  tell: ReportNormalisation,
): Answer {
  const view = context.view();
  const shelf: Shelf = {
    metaTool: 'tool_browse',
    noun: 'tool',
    purpose: 'what the tool should do',
    nextStep: 'Arguments of a tool: tool_view {"handle": "schema:<tool_id>", "selector": {}}. Run it: tool_execute.',
    choices: view,
  };
  const { cacheStable, learning } = context.browseConfig();
  const listing = listingOf(args, shelf, context, tell, learning ? { history: context.useHistory() } : {});
  if (typeof args.query === 'string') {
    session.recordQuery(
      args.query,
      listing.cards.map((card) => card.id),
    );
  }
  const cards = cacheStable ? session.arrange(listing.cards, view.revision) : listing.cards;
  return render({ ...listing, cards }, shelf, context);
}

export function browseResources(args: CheckedArguments, context: GatewayContext, tell: ReportNormalisation): Answer {
  const shelf: Shelf = {
    metaTool: 'resource_browse',
    noun: 'resource',
    purpose: 'what the resource is about',
    nextStep: 'Read one: resource_read. In the address of a template replace each {part}, and give the address.',
    choices: context.primitives.view().resources,
  };
  return render(listingOf(args, shelf, context, tell), shelf, context);
}

export function browsePrompts(args: CheckedArguments, context: GatewayContext, tell: ReportNormalisation): Answer {
  const shelf: Shelf = {
    metaTool: 'prompt_browse',
    noun: 'prompt',
    purpose: 'what the prompt is for',
    nextStep: 'Arguments of a prompt: tool_view {"handle": "schema:<prompt_id>", "selector": {}}. Get it: prompt_get.',
    choices: context.primitives.view().prompts,
  };
  return render(listingOf(args, shelf, context, tell), shelf, context);
}

function listingOf(
  args: CheckedArguments,
  shelf: Shelf,
  context: GatewayContext,
  tell: ReportNormalisation,
  more: Pick<RankOptions, 'history'> = {},
): Listing {
  const { query, path } = args as { query?: string; path?: string };
  if ((query === undefined) === (path === undefined)) {
    throw argsInvalid(`${shelf.metaTool} takes either "query" or "path": give one of them.`, []);
  }
  const topK = (args.top_k as number | undefined) ?? context.browseConfig().topK;
  return path === undefined ? byQuery(shelf, query as string, { topK, ...more }) : byPath(shelf, path, tell);
}

function render(listing: Listing, { metaTool, noun, nextStep, choices }: Shelf, context: GatewayContext): Answer {
  const { headline, cards, rest, hints, confidence } = listing;
  const servers = context.servers();
  const notes = serverNotes(servers, context.configuration(), context.workspace);
  const shown = fitting(cards, CARDS_ROOM_CHARS, (card) => renderCardLine(card, cards.length, cards.length));
  const lines = [headline, ...shown.map((card, i) => renderCardLine(card, i + 1, shown.length))];
  if (shown.length < cards.length) lines.push(`${groupDigits(cards.length - shown.length)} more: ${rest}`);
  const next = shown.some((card) => card.kind === noun) ? [nextStep] : [];
  const [summary, ...details] = notes;
  const closing = [...(summary === undefined ? [] : [summary]), ...next, ...hints, ...details];
  lines.push(...withinBudget(closing, lines, shown.length));
  return {
    text: boundText(lines.join('\n')),
    data: {
      cards: fitting(cards, CARDS_ROOM_CHARS, (card) => JSON.stringify(card)).map(cardToJson),
      total: cards.length,
      searched: choices.catalog.tools.length,
      ...(confidence === undefined ? {} : { confidence }),
      servers: fitting(serverStates(servers), NOTES_ROOM_CHARS, (state) => JSON.stringify(state)),
    },
    told: { kind: 'browse', method: metaTool, cards, tools: choices.catalog.byId },
  };
}

function byQuery(shelf: Shelf, query: string, options: RankOptions): Listing {
  const { noun, purpose, choices } = shelf;
  if (query.trim() === '') throw argsInvalid(`"query" is empty: say in a few words ${purpose}.`, ['query']);
  const result = rank(choices.index, query, options);
  const { cards } = cardsWithinBudget(
    result.hits.map((hit) => ({ ...hit, id: hit.tool.id })),
    (hit) => toCard(hit.tool, hit.score),
  );
  const searched = `${groupDigits(result.searched)} searched`;
  const hints = [...cloneHints(noun, result.hits)];
  if (result.confidence !== 'good') hints.push(...missHints(choices, result.nearestNames));
  return {
    headline: headlineOf(noun, result.confidence, cards.length, searched),
    cards,
    rest: 'ask for fewer at a time.',
    hints,
    confidence: result.confidence,
  };
}

/** Nothing matched, or matched badly, is said plainly: ten unrelated cards would be taken for an answer. */
function headlineOf(noun: string, confidence: 'good' | 'weak' | 'none', found: number, searched: string): string {
  if (found === 0) return `No ${noun} matches this query (${searched}).`;
  if (confidence === 'weak') return `No ${noun} matches this query well (${searched}). The nearest:`;
  return `${count(found, noun)} for this query, best first (${searched}).`;
}

function missHints({ catalog: { servers } }: Choices, nearestNames: readonly string[]): string[] {
  const named = servers.slice(0, MAX_NAMED_NAMESPACES).map((server) => `/${server.namespace} (${server.toolCount})`);
  const more = servers.length - named.length;
  return [
    ...(nearestNames.length > 0 ? [`Similar names: ${nearestNames.join(', ')}.`] : []),
    ...(named.length > 0
      ? [`There is: ${named.join(', ')}${more > 0 ? ` and ${more} more, see {"path": "/"}` : ''}.`]
      : []),
    'Try other words for one capability at a time, or look around with "path".',
  ];
}

/** One card stands for the same tool of several servers: they are named, so that one can be chosen. */
function cloneHints(noun: string, hits: readonly RankedTool[]): string[] {
  return hits
    .filter((hit) => hit.clones.length > 0)
    .map((hit) => `The same ${noun} as ${hit.tool.id}: ${hit.clones.map((clone) => clone.id).join(', ')}.`);
}

function byPath({ noun, choices }: Shelf, given: string, tell: ReportNormalisation): Listing {
  const { graph, byId } = choices.catalog;
  const path = meantPath(given, graph);
  if (path !== given) tell({ rule: 'path_style', from: oneLine(given, 128), to: path });
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
  return {
    headline: `${path}: ${count(nodes.length, 'entry', 'entries')}, ${count(tools, noun)}.`,
    cards,
    rest: 'search with "query", or browse a path inside.',
    hints: [],
  };
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

/**
 * Returns the closing lines that fit into the token bound of the answer (G2.6). An answer without cards has the room of
 * ten.
 */
function withinBudget(closing: readonly string[], lines: readonly string[], cards: number): string[] {
  let left = responseCapTokens(cards || CARDS_INSTEAD) - countTokens(`${lines.join('\n')}\n`);
  return closing.filter((line) => {
    const cost = countTokens(`${line}\n`);
    if (cost > left) return false;
    left -= cost;
    return true;
  });
}

/** A path that leads nowhere, with the one that was most likely meant: of two that there could be, none is guessed at. */
function pathError(error: unknown, path: string): unknown {
  if (!(error instanceof CatalogError)) return error;
  if (error.code === 'PATH_INVALID') return new GatewayError(error.code, error.message, { path });
  if (error.code !== 'PATH_NOT_FOUND' || !error.missing) return error;
  const { parent, label, siblings } = error.missing;
  const sibling = meantBy(label, siblings);
  const nearest = sibling === undefined ? parent : `${parent === '/' ? '' : parent}/${sibling}`;
  const message = `${error.message} The nearest is "${nearest}"; browse "${parent}" for all there.`;
  return new GatewayError(error.code, message, { path, details: { nearest } });
}
