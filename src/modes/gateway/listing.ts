import { type ChoiceCard, nodeCard, toCard } from '../../catalog/cards/card.ts';
import { cardsWithinBudget, responseCapTokens } from '../../catalog/cards/cardBudget.ts';
import { cardToJson, renderCardLine } from '../../catalog/cards/cardText.ts';
import { CatalogError } from '../../catalog/catalogError.ts';
import type { ChoiceGraph } from '../../catalog/choiceGraph.ts';
import { fitSegment, formatPath } from '../../catalog/path.ts';
import { countTokens } from '../../catalog/tokenizer/tokens.ts';
import type { CatalogTool, GraphNode } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type RankedTool, type RankOptions, rank } from '../../ranking/rankIndex.ts';
import { meantBy } from '../../text/nearest.ts';
import type { ReportNormalisation } from '../../text/normalise.ts';
import { boundText, count, groupDigits, MAX_ANSWER_CHARS, oneLine } from '../../text/porcelain.ts';
import type { Choices } from '../primitives/primitiveView.ts';
import { argsInvalid } from '../shared/arguments.ts';
import type { GatewayToolName } from '../shared/gatewayTools.ts';
import type { Answer, GatewayContext, ToolCall } from '../shared/modeContext.ts';
import { heldNote, problemsOf, serverNotes, serverStates, startingOf } from '../shared/serverNotes.ts';
import type { SessionState } from '../shared/sessionState.ts';
import { SIGNATURE_CHARS, shortSignature } from '../shared/signature.ts';

/** Room for the lines after the cards, and for the arguments below the best ones. */
const NOTES_ROOM_CHARS = 2_000;
const SIGNED_HITS = 3;
const CARDS_ROOM_CHARS = MAX_ANSWER_CHARS - NOTES_ROOM_CHARS - SIGNED_HITS * SIGNATURE_CHARS;
const CARDS_INSTEAD = 10;
const MAX_NAMED_NAMESPACES = 20;
/** Seconds after which a starting server has probably listed its tools. */
const RETRY_AFTER_S = 5;

/** Things of one kind that a browse tool looks through. */
export interface Shelf {
  metaTool: GatewayToolName;
  noun: 'tool' | 'resource' | 'prompt';
  /** Subject of a query, for the error about an empty one. */
  purpose: string;
  /** Line that says how to go on with a card. */
  nextStep: string;
  choices: Choices;
}

export interface Listing {
  headline: string;
  cards: readonly ChoiceCard[];
  /** Advice for the cards that did not fit. */
  rest: string;
  /** Names in the query that nothing here mentions. */
  unmentioned?: readonly string[];
  /** Names of further tools where the answer is not certain. */
  further?: { path: string; names: readonly string[] };
  /** Advice where little or nothing was found. */
  hints: readonly string[];
  confidence?: 'good' | 'weak' | 'none';
  /** False for a path at which further servers or tools would appear. */
  isWhole?: boolean;
}

/** Limit of the cards where nothing matches well: more would look like an answer. */
const WEAK_CARDS = 3;

/** Room for the names of further tools, which is about a hundred tokens. */
const FURTHER_CHARS = 400;

/** Finds the cards for a query, or those at a path. */
export function listingOf(
  { args, context, onCorrection }: ToolCall,
  shelf: Shelf,
  more: Pick<RankOptions, 'history'> = {},
): Listing {
  const given = args as { query?: string; path?: string };
  // Some clients send every argument, and leave those empty that they do not mean.
  const query = given.query === '' && given.path ? undefined : given.query;
  const path = given.path === '' && query ? undefined : given.path;
  if (query !== undefined && path !== undefined) {
    throw argsInvalid(`${shelf.metaTool} takes either "query" or "path": give one of them.`, []);
  }
  if (query === undefined) return byPath(shelf, path ?? '/', onCorrection);
  const topK = (args.top_k as number | undefined) ?? context.browseConfig().topK;
  return byQuery(shelf, query, context, { topK, ...more });
}

/** Returns a shelf with a good answer to the call; waits for servers that are starting for the first time. */
export async function fullShelf(call: ToolCall, shelfNow: () => Shelf): Promise<Shelf> {
  const isGood = (): boolean => {
    try {
      return isAnswer(listingOf({ ...call, onCorrection: () => undefined }, shelfNow()));
    } catch (error) {
      return !(error instanceof GatewayError && error.code === 'PATH_NOT_FOUND');
    }
  };
  await call.context.firstLists.forAnswer(isGood, call.call.signal);
  return shelfNow();
}

/** Reports whether the tools of further servers could hardly improve a listing. */
function isAnswer({ confidence, isWhole }: Listing): boolean {
  return confidence === 'good' || (confidence === undefined && isWhole !== false);
}

/** Renders a listing within the bounds of an answer, with notes about servers that are not ready. */
export function render(
  listing: Listing,
  { noun, nextStep, choices }: Shelf,
  context: GatewayContext,
  session: SessionState,
): Omit<Answer, 'event'> {
  const { headline, cards, rest, hints, confidence, unmentioned = [], further } = listing;
  const servers = context.servers();
  const notes = serverNotes(servers, context.configuration(), context.workspace);
  const shown = fitting(cards, CARDS_ROOM_CHARS, (card) => renderCardLine(card, cards.length, cards.length));
  const unlisted = servers.filter((server) => server.unlisted).length;
  const isPartial = unlisted > 0 && !isAnswer(listing);
  // A server that is still starting may have tools for a name that no tool mentions so far.
  const named = isPartial ? '' : unmentioned.map((name) => `"${name}"`).join(', ');
  const head = [
    ...(isPartial ? [`${startingOf(unlisted, servers)}; ${count(choices.catalog.tools.length, noun)} so far.`] : []),
    headline,
    ...(named === '' ? [] : [`No ${noun} here mentions ${named}.`]),
  ];
  const found = shown.map((card, i) => renderCardLine(card, i + 1, shown.length));
  if (shown.length < cards.length) found.push(`${groupDigits(cards.length - shown.length)} more: ${rest}`);
  const next = shown.some((card) => card.kind === noun) ? [nextStep] : [];
  const [summary, ...details] = notes;
  const held = heldNote(servers);
  const isNews = session.notesHeld(held.count);
  const closing = [
    ...(summary === undefined ? [] : [summary]),
    ...(further === undefined ? [] : [`More in ${further.path}: ${further.names.join(', ')}.`]),
    ...next,
    ...(isNews ? [held.note] : []),
    ...(isPartial ? hints.filter((hint) => hint !== HOW_TO_ASK) : hints),
    ...details,
  ];
  const signed = noun === 'tool' && confidence !== undefined ? signaturesOf(shown, choices) : [];
  const fits = withinBudget([...closing, ...signed], [...head, ...found], shown.length);
  const lines = [
    ...head,
    ...found.flatMap((line, i) => (fits[closing.length + i] && signed[i] ? [line, signed[i]] : [line])),
    ...closing.filter((_, i) => fits[i]),
  ];
  const problems = fitting(problemsOf(context.configuration()), NOTES_ROOM_CHARS / 2, asJson);
  return {
    text: boundText(lines.join('\n')),
    data: {
      cards: fitting(cards, CARDS_ROOM_CHARS, (card) => JSON.stringify(card)).map(cardToJson),
      total: cards.length,
      searched: choices.catalog.tools.length,
      ...(confidence === undefined ? {} : { confidence }),
      complete: unlisted === 0,
      ...(unlisted === 0 ? {} : { retry_after: RETRY_AFTER_S }),
      problems,
      ...(unmentioned.length === 0 ? {} : { unmentioned }),
      ...(further === undefined ? {} : { further }),
      servers: fitting(serverStates(servers), NOTES_ROOM_CHARS - JSON.stringify(problems).length, asJson),
    },
  };
}

function byQuery(shelf: Shelf, query: string, context: GatewayContext, options: RankOptions): Listing {
  const { noun, purpose, choices } = shelf;
  if (query.trim() === '') throw argsInvalid(`"query" is empty: say in a few words ${purpose}.`, ['query']);
  const result = rank(choices.index, query, options);
  const hits = result.confidence === 'good' ? result.hits : result.hits.slice(0, WEAK_CARDS);
  const { cards } = cardsWithinBudget(
    hits.map((hit) => ({ ...hit, id: hit.tool.id })),
    (hit) => toCard(hit.tool, hit.score),
  );
  const searched = `${groupDigits(result.searched)} searched`;
  const hints = [...cloneHints(context, hits)];
  if (result.confidence !== 'good') hints.push(...missHints(choices, result.nearestNames));
  if (!result.certain && (result.sentence || result.confidence !== 'good')) hints.push(HOW_TO_ASK);
  const further = furtherNames(result.further);
  return {
    headline: headlineOf(noun, result.confidence, cards.length, searched),
    cards,
    rest: 'ask for fewer at a time.',
    hints,
    confidence: result.confidence,
    unmentioned: result.unmentioned,
    ...(further === undefined ? {} : { further }),
  };
}

const HOW_TO_ASK =
  'Ask for one capability in English, in the words of an API: verb, object, product, and another wording: {"query": "git stash changes | save working tree"}. Or look around with "path".';

/** Names further tools of a server as far as there is room. */
function furtherNames(tools: readonly CatalogTool[]): Listing['further'] {
  const names = fitting(
    tools.map(({ name }) => name),
    FURTHER_CHARS,
    (name) => `${name},`,
  );
  return tools[0] === undefined || names.length === 0 ? undefined : { path: `/${tools[0].namespace}`, names };
}

/** Returns the arguments of the best hits, which save a look at the schema; empty ones where a schema says nothing. */
function signaturesOf(cards: readonly ChoiceCard[], { catalog: { byId } }: Choices): string[] {
  return cards.slice(0, SIGNED_HITS).map(({ id }) => {
    const signature = shortSignature(byId.get(id)?.inputSchema);
    return signature === undefined ? '' : `    ${signature}`;
  });
}

/** Says plainly that nothing matched, or nothing well: a model would take ten unrelated cards for an answer. */
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
  ];
}

/** Names the tools behind a card that stands for several servers. Their servers may hold different data. */
function cloneHints({ reachBeside }: GatewayContext, hits: readonly RankedTool[]): string[] {
  return hits.flatMap(({ tool, clones }) =>
    clones.map((clone) => {
      const [here, there] = [reachBeside(tool.server, clone.server), reachBeside(clone.server, tool.server)];
      const own = here.length === 0 ? '' : ` (${here.join(', ')})`;
      const other = there.length === 0 ? '' : `: ${there.join(', ')}`;
      const alike =
        JSON.stringify(tool.inputSchema) === JSON.stringify(clone.inputSchema)
          ? 'same definition'
          : 'same description, other arguments';
      return `${tool.id}${own} is also in ${clone.server} (${alike}; may reach other data${other}): ${clone.id}.`;
    }),
  );
}

function byPath({ noun, choices }: Shelf, given: string, onCorrection: ReportNormalisation): Listing {
  const { graph, byId } = choices.catalog;
  const path = meantPath(given, graph);
  if (path !== given) onCorrection({ rule: 'path_style', from: oneLine(given, 128), to: path });
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
    // The path of a server that was never listed leads to nothing yet.
    isWhole: path !== '/' && tools > 0,
  };
}

const asJson = (item: object): string => JSON.stringify(item);

/** Returns the first items that fit whole. */
function fitting<T>(items: readonly T[], room: number, rendered: (item: T) => string): readonly T[] {
  let used = 0;
  const end = items.findIndex((item) => {
    used += rendered(item).length + 1;
    return used > room;
  });
  return end === -1 ? items : items.slice(0, end);
}

/**
 * Returns which further lines fit into the token bound of the answer (G2.6). An answer without cards has the room of
 * ten.
 */
function withinBudget(further: readonly string[], lines: readonly string[], cards: number): boolean[] {
  let left = responseCapTokens(cards || CARDS_INSTEAD) - countTokens(`${lines.join('\n')}\n`);
  return further.map((line) => {
    const cost = countTokens(`${line}\n`);
    if (cost > left) return false;
    left -= cost;
    return true;
  });
}

/** Makes the error for a path that leads nowhere, with the most likely path if there is only one. */
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

type Graph = Pick<ChoiceGraph, 'resolve'>;

/** Limit of a path that is corrected. */
const MAX_PATH = 512;

/** Separators of segments: slashes of either kind; then dots and colons too, which no segment has. */
const SEPARATORS = [/[\\/]+/, /[\\/.:]+/];

/**
 * Corrects a path in another style (O10.5): `github/issues`, `/github/issues/`, `\\github\\issues`, `GitHub.issues`.
 * Returns the path unchanged where it is right, leads nowhere in any style, or leads to different places in two: the
 * grammar of paths is strict, and a violation is PATH_INVALID (G3.2).
 */
function meantPath(path: string, graph: Graph): string {
  if (path.length > MAX_PATH || leads(path, graph)) return path;
  const styles = SEPARATORS.map((separator) =>
    path
      .trim()
      .split(separator)
      .filter((segment) => segment !== ''),
  );
  const meant = new Set(
    styles
      .filter((segments) => segments.length > 0)
      .map((segments) => formatPath(segments.map(meantSegment)))
      .filter((one) => leads(one, graph)),
  );
  const [only, ...others] = meant;
  return only === undefined || others.length > 0 ? path : only;
}

function meantSegment(given: string): string {
  return /[a-z0-9]/i.test(given) ? fitSegment(given.trim()) : given;
}

function leads(path: string, graph: Graph): boolean {
  try {
    graph.resolve(path);
    return true;
  } catch {
    return false;
  }
}
