/** Operations of identity, cards, paths, cache-stable browsing and primitives (G1, G2, G3, G9, G10). */
import { CacheStableSession } from '../../../src/catalog/cards/cacheStable.ts';
import {
  type ChoiceCard,
  capTags,
  createCard,
  deriveSafety,
  toCard,
  uncutCard,
} from '../../../src/catalog/cards/card.ts';
import {
  CARD_CAP_TOKENS,
  CARD_TARGET_TOKENS,
  fitCard,
  RESPONSE_PREAMBLE_TOKENS,
} from '../../../src/catalog/cards/cardBudget.ts';
import { cardToJson, renderCardLine } from '../../../src/catalog/cards/cardText.ts';
import { truncateToTokens } from '../../../src/catalog/cards/truncate.ts';
import { buildCatalog } from '../../../src/catalog/catalog.ts';
import { CatalogError } from '../../../src/catalog/catalogError.ts';
import { buildChoiceGraph } from '../../../src/catalog/choiceGraph.ts';
import { ingestTool } from '../../../src/catalog/ingest.ts';
import { deriveName, inferNamespace } from '../../../src/catalog/namespace.ts';
import { formatPath, parsePath } from '../../../src/catalog/path.ts';
import {
  formatPrimitiveId,
  type PrimitiveIdParts,
  parsePrimitiveId,
  resolveCollisions,
} from '../../../src/catalog/primitives/primitiveId.ts';
import { ingestPrompt, ingestResource } from '../../../src/catalog/primitives/primitiveIngest.ts';
import { canonicalShape, hash8, promptHash8, resourceHash8 } from '../../../src/catalog/shapeHash.ts';
import { countTokens } from '../../../src/catalog/tokenizer/tokens.ts';
import { formatToolId, parseToolId, type ToolIdParts } from '../../../src/catalog/toolId.ts';
import type { CatalogTool } from '../../../src/catalog/types.ts';
import type { ConformanceFile, Operation, OperationTable, OverruledCase } from '../conformance.ts';
import { catalogHash, orderCards, renderCardBlock, renderCardLines } from '../reference/catalogForms.ts';

export const catalogOverruled: readonly OverruledCase[] = [
  {
    id: 'cache_stable-06-top_k',
    op: 'top_k 2, one seen: marker takes a slot',
    rule: 'G9.3',
    why: 'new cards are emitted after the marker; the marker is no choice and takes no place from one',
  },
  {
    id: 'cache_stable-07-path',
    op: 'path browse twice',
    rule: 'G3.4',
    why: 'a bare "/" lists one card per namespace, also in a small catalog',
  },
];

/** Declares an operation on typed input. The files are data, so the cast is here. */
function operation<Input>(
  run: (input: Input, context: { expected: unknown; file: ConformanceFile }) => unknown,
  ignoring: readonly string[] = [],
): Operation {
  return { run: (input, context) => run(input as Input, context), ignoring };
}

/** Returns `{ok}` or `{error}` with the rule that was broken. */
function outcome(attempt: () => unknown): Record<string, unknown> {
  try {
    return { ok: attempt() };
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return { error: error.code };
  }
}

/** Returns `{ok}` or the family of the error, as the cases of ingest and cards have it. */
function catalogOutcome(attempt: () => unknown, withReason = false): unknown {
  const result = outcome(attempt);
  if ('ok' in result) return result;
  return { error: 'CATALOG_ERROR', ...(withReason ? { why: result.error } : {}) };
}

/** Ingests like `onInvalid: "raise"`: a flaw is an error. */
function ingestStrictly(raw: unknown): CatalogTool {
  const { tool, flaws } = ingestTool(raw);
  const flaw = flaws[0];
  if (flaw) throw new CatalogError(flaw.code, flaw.reason);
  return tool;
}

function toolItem(raw: unknown): Record<string, unknown> {
  const tool = ingestStrictly(raw);
  const { costHint: _, ...metadata } = tool.annotations;
  return {
    id: tool.id,
    name: tool.upstreamName,
    namespace: tool.namespace,
    kind: toCard(tool).kind,
    tags: tool.tags,
    side_effects: tool.sideEffects,
    cost_hint: tool.costHint,
    has_schema: toCard(tool).has_schema,
    output_schema: tool.outputSchema ?? null,
    metadata,
  };
}

function parsedParts(id: unknown): unknown {
  const result = outcome(() => parseToolId(id));
  return 'ok' in result ? { ...result, round_trips: formatToolId(result.ok as ToolIdParts) === id } : result;
}

function withoutNulls(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

const itemOfResource = operation((raw) =>
  catalogOutcome(() => {
    const { id, name, namespace, description, tags, uri, mimeType } = ingestResource(raw);
    const metadata = { uri, mime_type: mimeType, primitive: 'resource' };
    return { id, name, namespace, description, tags, side_effects: false, metadata };
  }),
);

const itemOfPrompt = operation((raw) =>
  catalogOutcome(() => {
    const prompt = ingestPrompt(raw);
    const { id, name, namespace, description, tags } = prompt;
    const names = prompt.arguments.map((argument) => argument.name);
    const metadata = { prompt_name: name, primitive: 'prompt', arguments: names };
    return { id, name, namespace, description, tags, args_schema: prompt.argumentsSchema, metadata };
  }),
);

/** Resolves the case's edges in a graph of Waygate: `root/x` is the namespace `x`, other ids are tools. */
const resolveInEdges = operation(({ edges, segments }: { edges: Record<string, string[]>; segments: string[] }) => {
  const namespaces = (edges.root ?? []).map((node) => node.slice('root/'.length));
  const ids = Object.values(edges)
    .flat()
    .filter((node) => node.includes(':'));
  const tools = ids.map((id) => ({ ...parseToolId(id), id, upstreamName: id }));
  const graph = buildChoiceGraph(tools, namespaces);
  return outcome(() => {
    const nodes = graph.resolve(formatPath(segments));
    const named = nodes.map((node) => node.toolId ?? `root${node.path}`);
    // The cases let a namespace without tools resolve to itself.
    return named.length > 0 ? named : [`root${formatPath(segments)}`];
  });
});

const cardFields = operation((raw, { expected }) => {
  const withScore = (expected as { score?: number }).score;
  return cardToJson(toCard(ingestStrictly(raw), withScore));
});

const bannedKeys = operation((_, { expected }) => {
  const { never_present } = expected as { never_present: string[] };
  const filled = Object.fromEntries(never_present.map((key) => [key, { secret: true }]));
  const json = JSON.stringify(cardToJson(toCard(ingestTool({ ...filled, name: 'x.y', description: 'd' }).tool)));
  return { never_present: never_present.filter((key) => !json.includes(`"${key}"`)) };
});

const constructCard = operation((fields: Partial<ChoiceCard>) => {
  const result = outcome(() => createCard({ id: 'x', name: 'x', ...fields }));
  return { result: 'ok' in result ? 'ok' : 'VALIDATION_ERROR' };
});

interface Ordering {
  items: string[];
  scores: Record<string, number> | null;
  max_cards: number;
}

const orderItems = operation(({ items, scores, max_cards }: Ordering) => {
  const cards = items.map((id) => createCard({ id, name: id, score: scores?.[id] ?? 0 }));
  // Without scores there is no ranking and nothing to order (G2.9).
  return { ids: (scores ? orderCards(cards) : cards).slice(0, max_cards).map((card) => card.id) };
});

type BudgetedFields = Pick<ChoiceCard, 'id' | 'description' | 'tags'> & { kind?: ChoiceCard['kind']; score?: number };

function fitted(fields: BudgetedFields): ChoiceCard {
  return fitCard(createCard({ ...withoutNulls(fields), id: fields.id, name: fields.id.slice(0, 64) }), { score: true });
}

/** Returns the cards of the runtime fixture, as a query that matches all of them would. */
function fixtureCards(file: ConformanceFile): ChoiceCard[] {
  return orderCards(fixtureTools(file).map((tool, index) => toCard(tool, index / 10)));
}

function fixtureTools(file: ConformanceFile): CatalogTool[] {
  const definitions = (file.groups.runtime_fixture ?? []).flatMap((fixture) => fixture.input as unknown[]);
  return definitions.map((raw) => ingestTool(raw).tool);
}

function cacheStable(run: (session: CacheStableSession, cards: ChoiceCard[], input: never) => unknown): Operation {
  return operation((input, { file }) => run(new CacheStableSession(), fixtureCards(file), input as never));
}

const ids = (cards: readonly ChoiceCard[]): string[] => cards.map((card) => card.id);

export const catalogOperations: OperationTable = {
  tool_id_format: { format_tool_id: operation((parts: ToolIdParts) => outcome(() => formatToolId(parts))) },
  tool_id_parse: { parse_tool_id: operation(parsedParts) },
  hash8: {
    hash8: operation((input: { upstream_name: string; input_schema: unknown }) => ({
      canonical_shape: canonicalShape(input.input_schema),
      hash8: hash8(input.upstream_name, input.input_schema),
    })),
  },
  infer_namespace: {
    infer_namespace: operation((name: string) => ({ namespace: inferNamespace(name), name: deriveName(name) })),
  },
  ingest_tool: { mcp_tool_to_item: operation((raw) => catalogOutcome(() => toolItem(raw), true)) },
  path_parse: { parse_path: operation((path) => outcome(() => parsePath(path))) },
  path_resolve: { resolve_path: resolveInEdges },
  // The other count is the fallback of a program without the ranks, which Waygate always has.
  tokens: { cl100k_count: operation((text: string) => ({ cl100k_base: countTokens(text) }), ['heuristic_v2']) },
  truncate_description: {
    truncate_description_to_tokens: operation((input: { text: string; max_tokens: number }) => ({
      ok: truncateToTokens(input.text, input.max_tokens),
    })),
  },
  tags_cap: {
    'item_to_card.tags': operation((tags: string[]) => ({ tags: capTags(tags), safety: deriveSafety(tags) })),
  },
  safety: { derive_safety: operation((tags: string[]) => ({ safety: deriveSafety(tags) })) },
  card_shape: {
    'card.name cap': operation(({ name_chars }: { name_chars: number }) => {
      const { tool } = ingestTool({ name: 'n'.repeat(name_chars), description: 'd' });
      return { name_chars: uncutCard(tool).name.length };
    }),
    'card JSON (with score)': cardFields,
    'card JSON (no score)': cardFields,
    'banned keys': bannedKeys,
    'construct card': constructCard,
  },
  card_render: {
    // A prompt never shows the score (G2.5); these cases use the form that does.
    render_cards_text: operation((cards: ChoiceCard[]) => ({ text: renderCardLines(cards, { score: true }) })),
    format_card_for_prompt: operation((card: ChoiceCard) => ({ text: renderCardBlock(card) })),
  },
  ordering: { 'make_choice_cards order': orderItems },
  card_budget: {
    'card budget 60/80': operation((fields: BudgetedFields) => {
      const card = fitted(fields);
      const line = renderCardLine(card, 1, 1, { score: true });
      return { description: card.description, line_tokens: countTokens(line) };
    }),
    'card over hard cap': operation((fields: BudgetedFields) => catalogOutcome(() => fitted(fields))),
    constants: operation(() => ({
      target: CARD_TARGET_TOKENS,
      hard_cap: CARD_CAP_TOKENS,
      preamble: RESPONSE_PREAMBLE_TOKENS,
    })),
  },
  primitive_id: {
    format_primitive_id: operation((parts: PrimitiveIdParts) => outcome(() => formatPrimitiveId(parts))),
    parse_primitive_id: operation((id) => outcome(() => withoutNulls(parsePrimitiveId(id)))),
    resource_hash8: operation((uri: string) => ({ hash8: resourceHash8(uri) })),
    prompt_hash8: operation((input: { name: string; arguments: string[] | null }) => ({
      hash8: promptHash8(input.name, input.arguments ?? []),
    })),
  },
  primitive_ingest: { resource_to_item: itemOfResource, prompt_to_item: itemOfPrompt },
  collisions: {
    resolve_collisions: operation((list: string[]) => ({ by_index: { ...resolveCollisions(list) } })),
    'register same tool twice (one upstream)': operation((tools: unknown[]) =>
      catalogOutcome(() => buildCatalog([{ server: 'one', tools }], { onInvalid: 'raise' })),
    ),
    // Servers of different names never collide in Waygate. Two sources of one name do, and the first keeps the tool.
    'startup collision diagnostics': operation((sources: Record<string, string[]>) => {
      const listings = Object.entries(sources).map(([source, names]) => ({
        server: 'shared',
        tools: names.map((name) => ({ name, description: source })),
      }));
      const { tools, findings } = buildCatalog(listings);
      const contested = tools.find((tool) => findings.some((finding) => finding.tool === tool.upstreamName));
      return { message_count: findings.length, winner: contested?.description };
    }),
  },
  real_catalog_ids: {
    'tool_id of a real server tool': operation(
      (input: { upstream_name: string; properties: string[]; required: string[] }) => {
        const properties = Object.fromEntries(input.properties.map((name) => [name, {}]));
        const inputSchema = { type: 'object', properties, required: input.required };
        const tool = ingestStrictly({ name: input.upstream_name, description: 'd', inputSchema });
        return { tool_id: tool.id, namespace: tool.namespace };
      },
    ),
  },
  cache_stable: {
    'first browse, then same browse': cacheStable((session, cards) => ({
      first: ids(session.arrange(cards)),
      second: ids(session.arrange(cards)),
    })),
    'hydrate lowest id, then browse': cacheStable((session, cards, input: { hydrate: string }) => {
      session.recordHydrated(input.hydrate);
      const arranged = session.arrange(cards);
      const marker = arranged.find((card) => card.kind === 'internal') as ChoiceCard;
      return { ids: ids(arranged), marker: cardToJson(marker) };
    }),
    'successful execute is recorded': cacheStable((session, _, input: { execute: string }) => {
      session.recordHydrated(input.execute);
      return { seen: session.seenIds };
    }),
    'refresh clears the seen set': cacheStable((session, cards) => {
      session.arrange(cards);
      const before = session.seenIds.length;
      session.clear();
      return { before, after: session.seenIds.length };
    }),
    'top_k 2, one seen: marker takes a slot': cacheStable((session, cards, { top_k }: { top_k: number }) => {
      const byId = [...cards].sort((a, b) => (a.id < b.id ? -1 : 1));
      session.recordHydrated((byId[0] as ChoiceCard).id);
      return { ids: ids(session.arrange(byId.slice(0, top_k))) };
    }),
    'path browse twice': operation((input: { path: string }, { file }) => {
      const nodes = buildChoiceGraph(fixtureTools(file), []).resolve(input.path);
      const session = new CacheStableSession();
      const cards = nodes.map((node) => createCard({ id: node.toolId ?? node.path, name: node.label }));
      return { first: ids(session.arrange(cards)), second: ids(session.arrange(cards)) };
    }),
  },
  catalog_hash: {
    compute_catalog_hash: operation((items: Parameters<typeof catalogHash>[0]) => ({ sha256: catalogHash(items) })),
  },
};
