import { isRecord } from '../../../lib/isRecord.ts';
import { oneLine } from '../../../text/porcelain.ts';
import { SEARCH_PATH } from '../../provider/recordQuery.ts';
import { bodyOf, Refusal, type ToolAnswer, textAnswer } from '../answers.ts';
import { inBraces, inQuotes, withinBudget } from '../boundedText.ts';
import { filterParams, listParam, param } from '../filters.ts';
import type { ReadContext } from '../readContext.ts';
import { parseResultId } from '../resultIds.ts';
import type { Json } from '../values.ts';
import { warningLines } from '../warnings.ts';
import { countOf, handles } from './handles.ts';
import { MAX_TEXT_BYTES } from './queryTool.ts';
import { hitsOf, type SearchResult, searchResult } from './searchHits.ts';
import { DEFAULT_LIMIT } from './searchLimits.ts';

interface SearchArguments {
  q: string;
  streams?: readonly string[];
  mode?: 'lexical' | 'semantic' | 'hybrid';
  limit?: number;
  cursor?: string;
  filter?: unknown;
  connection_id?: string;
}

const MAX_LISTED = 3;
const MAX_SOURCES = 8;

/** Answers `search` (R4). */
export async function search(args: SearchArguments, { provider, signal }: ReadContext): Promise<ToolAnswer> {
  const { mode = 'lexical', limit = DEFAULT_LIMIT } = args;
  const query = [
    ...param('q', args.q),
    ...param('limit', args.limit),
    ...param('cursor', args.cursor),
    ...listParam('streams', args.streams),
    ...filterParams(args.filter),
    ...param('connection_id', args.connection_id),
  ];
  const path = mode === 'lexical' ? SEARCH_PATH : `${SEARCH_PATH}/${mode}`;
  const answer = await provider.get({ path, query, signal });
  const found = hitsOf(bodyOf(answer));
  if (!found)
    throw new Refusal('invalid_provider_answer', 'The record provider answered a search without a list of hits.');
  const results = found.hits.slice(0, limit).map((hit, at) => searchResult(hit, at, args.q, provider.url));
  const data = dataOf(found.envelope, results.length, found.hits.length - results.length, args.cursor);
  return textAnswer(searchText(results, data), {
    data,
    results,
    provider_url: provider.url,
    request_id: answer.requestId ?? null,
  });
}

/** Returns the envelope without its hits. After a local cut its cursor would skip hits, so there is none. */
function dataOf(envelope: Json, count: number, cut: number, cursor: string | undefined): Json {
  const { next_cursor: next, ...rest } = envelope;
  const repeats = cursor !== undefined && cursor !== '' && next === cursor;
  return {
    ...rest,
    ...(next !== undefined && next !== null && cut === 0 && !repeats && { next_cursor: next }),
    ...(cut > 0 && { has_more: true }),
    ...(repeats && { has_more: false }),
    result_count: count,
    results_ref: 'structuredContent.results',
  };
}

function searchText(results: readonly SearchResult[], data: Json): string {
  const [first] = results;
  const firstId = first === undefined ? '' : ` first_fetch_id=${inline(first.id)}`;
  const head = `search: ${results.length} hit(s).${handles(data, countOf(data))}${firstId}`;
  const lines = [
    ...sourceMix(results),
    ...recallLines(data),
    ...warningLines(data),
    ...(results.length === 0 ? [] : ['Top results:']),
    ...results.slice(0, MAX_LISTED).map(resultLine),
    ...(results.length > MAX_LISTED ? [`more_results=${results.length - MAX_LISTED} in the structured output`] : []),
    ...(results.length === 0 ? [] : ['fetch(id) reads one.']),
  ];
  return withinBudget(head, lines, MAX_TEXT_BYTES, (left) => `lines_omitted=${left}`);
}

/** Names the sources of hits that come from more than one connection. */
function sourceMix(results: readonly SearchResult[]): string[] {
  const sources = new Map<string | undefined, { first: SearchResult; count: number }>();
  for (const result of results) {
    const source = sources.get(result.connection_id);
    if (source) source.count++;
    else sources.set(result.connection_id, { first: result, count: 1 });
  }
  if (sources.size < 2) return [];
  const shown = [...sources.values()]
    .slice(0, MAX_SOURCES)
    .map(
      ({ first, count }) =>
        `{connection_id:${inBraces(first.connection_id, 60)},connector_key:${inBraces(first.connector_key, 40)},count:${count},display_name:${inBraces(first.display_name, 40)}}`,
    );
  const more = sources.size - shown.length;
  return [`source_mix=${[...shown, ...(more > 0 ? [`more:${more}`] : [])].join('|')}`];
}

function recallLines({ meta }: Json): string[] {
  const recall = isRecord(meta) && isRecord(meta.recall) ? meta.recall : undefined;
  if (!recall) return [];
  if (recall.complete !== false && recall.ranking_scope !== 'candidate_window' && recall.truncated !== true) return [];
  const facts = ['ranked_candidate_count', 'candidate_window_limit', 'truncated_source_count'].flatMap((key) =>
    typeof recall[key] === 'number' ? [` ${key}=${recall[key]}`] : [],
  );
  return [
    `warning: more matches may exist; only a part was ranked.${facts.join('')} Narrow the words, streams or source.`,
  ];
}

function resultLine(result: SearchResult, at: number): string {
  const { id, title, stream, connector_key: key, display_name: name, connection_id: connection, snippet } = result;
  const parts = [
    `id=${inline(oneLine(id, 200))}`,
    `connector_key=${inBraces(key, 40)}`,
    `stream=${inBraces(stream, 60)}`,
    `title=${inQuotes(title, 80)}`,
    ...(name === undefined ? [] : [`display_name=${inQuotes(name, 60)}`]),
    ...(snippet === undefined ? [] : [`snippet=${inQuotes(snippet.replace(/<\/?\w+>/g, ''), 96)}`]),
    ...(connection === undefined || isEmbedded(id) ? [] : [`connection_id=${inQuotes(connection)}`]),
  ];
  return `${at + 1}. ${parts.join(' ')}`;
}

/** Returns an id as it is, or in quotes where its end would not be visible. */
function inline(id: string): string {
  return /^[^\s"]+$/.test(id) ? id : inQuotes(id);
}

function isEmbedded(id: string): boolean {
  try {
    return parseResultId(id).connectionId !== undefined;
  } catch {
    return false;
  }
}
