import { hash } from 'node:crypto';
import type { RecordStore } from '../store/recordStore.ts';
import type { Database, Row } from '../store/sqlite.ts';
import { readSearchCursor, searchCursor } from './cursors.ts';
import { conditionOf } from './filters.ts';
import type { Params } from './params.ts';
import { origin } from './recordBody.ts';
import { invalid } from './requestError.ts';
import { matchExpression, searchTerms } from './searchQuery.ts';
import { connectionsOf, named, type VisibleStream } from './visible.ts';

export const SEARCH_PARAMS = ['q', 'streams', 'limit', 'cursor', 'filter', 'connection_id', 'connector_instance_id'];

/** Matches of one stream that are ranked: the newest. A complete ranking would read every match. */
const WINDOW = 1_000;
const SNIPPET_WORDS = 24;
/** Control characters that the tokenizer takes for white space, so they end where they begin. */
const BEGIN = '\u0002';
const END = '\u0003';

interface Hit {
  readonly stream: VisibleStream;
  readonly row: Row;
}

interface Candidates {
  readonly stream: VisibleStream;
  readonly rows: Row[];
  readonly isCut: boolean;
}

/** Answers the records with the words of a query: those with all of them, or else those with any. */
export function search(store: RecordStore, params: Params, visible: readonly VisibleStream[]): object {
  const query = params.one('q');
  if (query === undefined) throw invalid('q is required', 'q');
  const names = params.list('streams');
  if (params.filters.length > 0 && names.length !== 1) {
    throw invalid('filter[...] needs exactly one value of streams', 'streams');
  }
  const chosen = names.length === 0 ? visible : names.flatMap((name) => named(visible, name));
  const searched = chosen.filter(({ lexical }) => lexical.length > 0);
  const limit = params.pageLimit;
  const subject = hash('sha256', JSON.stringify([query, names, params.filters, params.one('connection_id')]), 'hex');
  const cursor = params.one('cursor');
  const place = cursor === undefined ? { offset: 0, head: store.head } : readSearchCursor(cursor, subject.slice(0, 16));
  const { found, join, terms } = matches(store, params, searched, { query, head: place.head });
  const merged = mergedHits(found);
  const shown = merged.slice(place.offset, place.offset + limit);
  const hasMore = merged.length > place.offset + limit;
  const next = hasMore ? searchCursor(subject.slice(0, 16), { ...place, offset: place.offset + limit }) : undefined;
  const cut = found.filter(({ isCut }) => isCut);
  return {
    object: 'list',
    url: params.path,
    has_more: hasMore,
    ...(next !== undefined && { next_cursor: next }),
    data: shown.map((hit) => hitBody(store.reader, hit, { terms, join })),
    meta: {
      count: merged.length,
      count_accuracy: cut.length === 0 ? 'exact' : 'lower_bound',
      recall: recallOf(merged.length, cut.length, connectionsOf(searched).length),
      warnings: params.warnings,
    },
    links: { self: params.self, next: params.next(next) },
  };
}

function matches(
  { reader }: RecordStore,
  params: Params,
  streams: readonly VisibleStream[],
  { query, head }: { query: string; head: number },
): { found: Candidates[]; join: 'AND' | 'OR'; terms: readonly string[] } {
  const terms = searchTerms(query);
  const all = (join: 'AND' | 'OR'): Candidates[] =>
    terms.length === 0 ? [] : streams.map((stream) => candidates(reader, params, stream, { terms, join, head }));
  const found = all('AND');
  if (terms.length < 2 || found.some(({ rows }) => rows.length > 0)) return { found, join: 'AND', terms };
  const loose = all('OR');
  if (loose.some(({ rows }) => rows.length > 0)) {
    params.warnings.push({
      code: 'terms_relaxed',
      param: 'q',
      message: 'No record has all words of the query; these have some of them.',
    });
  }
  return { found: loose, join: 'OR', terms };
}

function candidates(
  db: Database,
  params: Params,
  stream: VisibleStream,
  { terms, join, head }: { terms: readonly string[]; join: 'AND' | 'OR'; head: number },
): Candidates {
  const { table, words } = stream;
  const { sql, values } = conditionOf(stream, params.filters);
  // The score depends on all words and records of the index, so a grant that hides some gets the newest first.
  const score = stream.hidesWords ? 'NULL' : `bm25(${words})`;
  const rows = db.all(
    `SELECT r.seq, r.key, r.at, r.emitted, ${score} AS score FROM ${words} CROSS JOIN ${table} r ON r.seq = ${words}.rowid
     WHERE ${words} MATCH ? AND ${words}.rowid <= ? AND ${sql} ORDER BY ${words}.rowid DESC LIMIT ?`,
    expressionOf(stream, { terms, join }),
    BigInt(head),
    ...values,
    WINDOW + 1,
  );
  const isCut = rows.length > WINDOW;
  const ranked = rows
    .slice(0, WINDOW)
    .sort((a, b) => Number(a.score ?? 0) - Number(b.score ?? 0) || (String(a.at) < String(b.at) ? 1 : -1));
  return { stream, rows: ranked, isCut };
}

function expressionOf(
  stream: VisibleStream,
  { terms, join }: { terms: readonly string[]; join: 'AND' | 'OR' },
): string {
  const columns = stream.lexical.map((name) => stream.column(name));
  return matchExpression(columns, terms, join);
}

/** Takes the best of each stream in turn: scores of different indexes do not compare, and none crowds out another. */
function mergedHits(found: readonly Candidates[]): Hit[] {
  const longest = Math.max(0, ...found.map(({ rows }) => rows.length));
  return Array.from({ length: longest }, (_, rank) =>
    found.flatMap(({ stream, rows }) => (rows[rank] ? [{ stream, row: rows[rank] as Row }] : [])),
  ).flat();
}

function hitBody(db: Database, { stream, row }: Hit, query: { terms: readonly string[]; join: 'AND' | 'OR' }): object {
  const { words, lexical, connection, name } = stream;
  const indexed = [...stream.stream.columns.keys()].filter((field) => stream.field(field)?.lexical);
  // Only granted columns are in this statement.
  const snippets = lexical.map(
    (field) => `snippet(${words}, ${indexed.indexOf(field)}, '${BEGIN}', '${END}', '…', ${SNIPPET_WORDS})`,
  );
  const texts = db.get(
    `SELECT ${snippets.map((one, index) => `${one} AS s${index}`).join(', ')} FROM ${words} WHERE ${words} MATCH ? AND rowid = ?`,
    expressionOf(stream, query),
    // FTS5 ignores a limit of rowids that is not bound as an integer, and would take any match.
    BigInt(Number(row.seq)),
  );
  const marked = lexical.flatMap((field, index) => {
    const text = texts?.[`s${index}`];
    return typeof text === 'string' && text.includes(BEGIN) ? [{ field, text: highlighted(text) }] : [];
  });
  return {
    object: 'search_result',
    stream: name,
    record_key: row.key,
    connector_id: connection.connectorKey,
    record_url: `/v1/streams/${encodeURIComponent(name)}/records/${encodeURIComponent(String(row.key))}`,
    emitted_at: row.emitted,
    matched_fields: marked.map(({ field }) => field),
    ...(row.at !== '' && { authored_at: row.at }),
    ...origin(stream),
    ...(marked[0] && { snippet: marked[0] }),
    score:
      row.score === null
        ? { kind: 'recency', value: row.at === '' ? row.emitted : row.at, order: 'higher_is_better' }
        : { kind: 'bm25', value: row.score, order: 'lower_is_better' },
  };
}

/** Marks the matches. Marks in the text itself are removed, so that none is forged or left open. */
function highlighted(text: string): string {
  return text
    .replace(/<\/?mark>/gi, '')
    .replaceAll(BEGIN, '<mark>')
    .replaceAll(END, '</mark>');
}

function recallOf(ranked: number, cutStreams: number, sources: number): object {
  if (cutStreams === 0) {
    return {
      complete: true,
      ranking_scope: 'all_matches',
      truncated: false,
      ranked_candidate_count: ranked,
      sources_searched_count: sources,
    };
  }
  return {
    complete: false,
    ranking_scope: 'candidate_window',
    truncated: true,
    ranked_candidate_count: ranked,
    candidate_window_limit: WINDOW,
    truncated_source_count: cutStreams,
    sources_searched_count: sources,
  };
}
