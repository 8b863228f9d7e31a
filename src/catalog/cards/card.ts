import { CatalogError } from '../catalogError.ts';
import { compareCodePoints } from '../codePointOrder.ts';
import { splitWords } from '../topic.ts';
import type { CatalogTool, GraphNode, Safety } from '../types.ts';
import { fitCard } from './cardBudget.ts';
import { visibleLine } from './cardText.ts';

export type CardKind = 'tool' | 'agent' | 'skill' | 'internal' | 'resource' | 'prompt';

/** Fields that a card must never carry (G2.2). A value under one of these names does not compile. */
type Banned = {
  [Field in
    | 'args_schema'
    | 'inputSchema'
    | 'output_schema'
    | 'outputSchema'
    | 'examples'
    | 'annotations'
    | 'metadata'
    | '_meta'
    | 'url'
    | 'server']?: never;
};

/** Card of one choice, with the fields of G2.1 and no other. Names are wire names. */
export interface ChoiceCard extends Banned {
  id: string;
  name: string;
  description: string;
  tags: readonly string[];
  kind: CardKind;
  namespace: string;
  has_schema: boolean;
  cost_hint: number;
  side_effects: boolean;
  safety: Safety;
  score?: number;
}

export const MAX_CARD_NAME = 64;
export const MAX_CARD_TAGS = 5;
export const MAX_TAG_LENGTH = 24;

const KINDS: ReadonlySet<string> = new Set(['tool', 'agent', 'skill', 'internal', 'resource', 'prompt']);
const SAFETIES: ReadonlySet<string> = new Set(['', 'read_only', 'destructive']);

/** Makes a card from its fields, with defaults for the rest. Rejects fields outside of G2.1 and G2.3. */
export function createCard(fields: Partial<ChoiceCard> & Pick<ChoiceCard, 'id' | 'name'>): ChoiceCard {
  const card: ChoiceCard = {
    id: fields.id,
    name: fields.name,
    description: fields.description ?? '',
    tags: fields.tags ?? [],
    kind: fields.kind ?? 'tool',
    namespace: fields.namespace ?? '',
    has_schema: fields.has_schema ?? false,
    cost_hint: fields.cost_hint ?? 0,
    side_effects: fields.side_effects ?? false,
    safety: fields.safety ?? '',
    ...(fields.score === undefined ? {} : { score: fields.score }),
  };
  const refuse = (why: string): never => {
    throw new CatalogError('card_invalid', `Card "${card.id}" is not valid: ${why}.`);
  };
  if (!KINDS.has(card.kind)) refuse(`"${card.kind}" is no kind of card`);
  if (!SAFETIES.has(card.safety)) refuse(`"${card.safety}" is no safety class`);
  if (codePointLength(card.name) > MAX_CARD_NAME) refuse(`its name is longer than ${MAX_CARD_NAME} characters`);
  if (card.tags.length > MAX_CARD_TAGS) refuse(`it has more than ${MAX_CARD_TAGS} tags`);
  if (card.tags.some((tag) => codePointLength(tag) > MAX_TAG_LENGTH)) {
    refuse(`a tag is longer than ${MAX_TAG_LENGTH} characters`);
  }
  return card;
}

/** Fits cards once per tool: a catalog never changes, and truncation is the expensive part of a browse. */
const fittedCards = new WeakMap<CatalogTool, ChoiceCard>();

/** Returns the card of a tool within the token target. Throws `card_over_cap` for an id that no card can hold. */
export function toCard(tool: CatalogTool, score?: number): ChoiceCard {
  let card = fittedCards.get(tool);
  if (card === undefined) {
    card = fitCard(uncutCard(tool));
    fittedCards.set(tool, card);
  }
  return score === undefined ? card : { ...card, score };
}

/** Returns the card of a namespace or cluster. The id is the path to browse next (G2.12). */
export function nodeCard(node: GraphNode): ChoiceCard {
  return fitCard(
    createCard({
      id: node.path,
      name: firstCodePoints(node.label, MAX_CARD_NAME),
      description: visibleLine(node.hint),
      kind: 'internal',
    }),
  );
}

/** Returns the card of a tool before the budget: every field but the description is final. */
export function uncutCard(tool: CatalogTool): ChoiceCard {
  const tags = capTags(tool.tags);
  return createCard({
    id: tool.id,
    name: firstCodePoints(visibleLine(tool.upstreamName) || tool.name, MAX_CARD_NAME),
    description: visibleLine(tool.description) || visibleLine(tool.title) || splitWords(tool.name).join(' '),
    tags,
    kind: kindOf(tool.id),
    namespace: tool.namespace,
    has_schema: isFilledObject(tool.inputSchema),
    cost_hint: tool.costHint,
    side_effects: tool.sideEffects,
    safety: deriveSafety(tool.tags),
  });
}

/** Derives the kind from the prefix of the id (G10.1). */
function kindOf(id: string): CardKind {
  return id.startsWith('resource::') ? 'resource' : id.startsWith('prompt::') ? 'prompt' : 'tool';
}

/** Returns at most five tags of at most 24 characters, sorted. Safety tags take their places first (G2.3). */
export function capTags(tags: readonly string[]): string[] {
  const distinct = [...new Set(tags.map((tag) => firstCodePoints(visibleLine(tag), MAX_TAG_LENGTH)))].filter(Boolean);
  const bySafety = (tag: string): number => (safetyOfTag(tag) === '' ? 1 : 0);
  return distinct
    .sort((a, b) => bySafety(a) - bySafety(b) || compareCodePoints(a, b))
    .slice(0, MAX_CARD_TAGS)
    .sort(compareCodePoints);
}

/** Derives the safety class from tags. Destructive wins over read-only (G2.4). */
export function deriveSafety(tags: readonly string[]): Safety {
  const classes = tags.map(safetyOfTag);
  if (classes.includes('destructive')) return 'destructive';
  return classes.includes('read_only') ? 'read_only' : '';
}

function safetyOfTag(tag: string): Safety {
  const lower = tag.toLowerCase();
  if (lower === 'destructive') return 'destructive';
  return lower === 'read-only' || lower === 'read_only' ? 'read_only' : '';
}

function isFilledObject(value: unknown): boolean {
  return value !== null && typeof value === 'object' && Object.keys(value).length > 0;
}

function codePointLength(text: string): number {
  return [...text].length;
}

function firstCodePoints(text: string, count: number): string {
  return text.length <= count ? text : [...text].slice(0, count).join('');
}
