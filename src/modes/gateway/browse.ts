import { canonicalJson } from '../../catalog/canonicalJson.ts';
import type { ChoiceCard } from '../../catalog/cards/card.ts';
import { cardToJson } from '../../catalog/cards/cardText.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { type CallEvent, completedEvent } from '../shared/callEvent.ts';
import { schemaTokens } from '../shared/catalog/definitionTokens.ts';
import type { TokenMeter } from '../shared/catalog/tokenMeter.ts';
import { type GatewayTool, PROMPT_BROWSE, RESOURCE_BROWSE, TOOL_BROWSE } from '../shared/gatewayTools.ts';
import type { Answer, FailedCall, RunnableTool, ToolCall } from '../shared/modeContext.ts';
import { signInOf } from '../shared/unknownTool.ts';
import { fullShelf, type Listing, listingOf, render, type Shelf } from './listing.ts';

export const toolBrowse: RunnableTool<'tool_browse'> = {
  ...TOOL_BROWSE,
  run: async (call) => {
    const { args, context, session } = call;
    const shelfNow = (): Shelf => ({
      metaTool: 'tool_browse',
      noun: 'tool',
      purpose: 'what the tool should do',
      nextStep: 'Arguments of a tool: tool_view {"handle": "schema:<tool_id>"}. Run it: tool_execute.',
      choices: context.view(),
    });
    const { cacheStable, learning } = context.browseConfig();
    const waited = await fullShelf(call, shelfNow);
    const path = typeof args.path === 'string' ? args.path.replace(/^\/+/, '') : '';
    const hasSignedIn = path !== '' && (await signInOf(`${path}/`, context, call.call));
    const shelf = hasSignedIn ? shelfNow() : waited;
    const listing = listingOf(call, shelf, learning ? { history: context.useHistory() } : {});
    if (typeof args.query === 'string') {
      session.recordQuery(
        args.query,
        listing.cards.map((card) => card.id),
      );
    }
    const cards = cacheStable ? session.arrange(listing.cards, context.view().revision) : listing.cards;
    return answer(TOOL_BROWSE, call, shelf, { ...listing, cards });
  },
  failed,
};

export const resourceBrowse: RunnableTool<'resource_browse'> = {
  ...RESOURCE_BROWSE,
  run: async (call) => {
    const shelf = await fullShelf(call, () => ({
      metaTool: 'resource_browse',
      noun: 'resource',
      purpose: 'what the resource is about',
      nextStep: 'Read one: resource_read. In the address of a template replace each {part}, and give the address.',
      choices: call.context.primitives.view().resources,
    }));
    return answer(RESOURCE_BROWSE, call, shelf, listingOf(call, shelf));
  },
  failed,
};

export const promptBrowse: RunnableTool<'prompt_browse'> = {
  ...PROMPT_BROWSE,
  run: async (call) => {
    const shelf = await fullShelf(call, () => ({
      metaTool: 'prompt_browse',
      noun: 'prompt',
      purpose: 'what the prompt is for',
      nextStep: 'Arguments of a prompt: tool_view {"handle": "schema:<prompt_id>"}. Get it: prompt_get.',
      choices: call.context.primitives.view().prompts,
    }));
    return answer(PROMPT_BROWSE, call, shelf, listingOf(call, shelf));
  },
  failed,
};

function answer(tool: GatewayTool, { args, context, session }: ToolCall, shelf: Shelf, listing: Listing): Answer {
  const { byId } = shelf.choices.catalog;
  const attributes: CallEvent['attributes'] = (meter) => ({
    ...queryShape(args),
    ...cardCounts(listing.cards, byId, meter),
  });
  return { ...render(listing, shelf, context, session), event: completedEvent(tool, { attributes }) };
}

function failed({ args, error }: FailedCall): Partial<CallEvent> {
  return { attributes: () => ({ error_code: error.code, ...queryShape(args) }) };
}

function cardCounts(
  cards: readonly ChoiceCard[],
  tools: ReadonlyMap<string, CatalogTool>,
  meter: TokenMeter,
): Record<string, unknown> {
  const found = cards.filter((card) => tools.has(card.id));
  const cardTokens = found.reduce((sum, card) => sum + meter.count(canonicalJson(cardToJson(card))), 0);
  const avoided = found.reduce((sum, card) => sum + schemaTokens(tools.get(card.id)?.inputSchema), 0);
  return {
    card_count: cards.length,
    tool_ids: found.map((card) => card.id),
    card_tokens: cardTokens,
    schema_tokens_avoided: Math.max(0, avoided - cardTokens),
  };
}

/** Returns the size of the question, without its words. */
function queryShape({ query, path }: FailedCall['args']): Record<string, unknown> {
  return {
    query_chars: typeof query === 'string' ? query.length : 0,
    path_depth: typeof path === 'string' ? path.split('/').filter((segment) => segment !== '').length : 0,
  };
}
