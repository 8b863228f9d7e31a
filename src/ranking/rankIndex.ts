import type { CatalogTool } from '../catalog/types.ts';
import { arrange, furtherTools } from './arrange.ts';
import type { CandidateNotes } from './candidateNotes.ts';
import { bestCandidates } from './candidates.ts';
import { explain } from './explain.ts';
import type { RankExplanation } from './explanation.ts';
import { INTENT_CODES, toolIntent } from './intent.ts';
import { type Document, documentsOf, fieldTermsOf, type ServerText } from './scoring/corpus.ts';
import { buildFieldIndex } from './scoring/fieldIndex.ts';
import { buildNameIndex } from './scoring/nameCoverage.ts';
import type { Postings } from './scoring/postings.ts';
import { baseScores, gatherEvidence } from './scoring/scoring.ts';
import { buildServerIndex, type ServerIndex } from './scoring/serverEvidence.ts';
import { type PhrasePostings, Scratch } from './scoring/signals.ts';
import { learnedFor, type UseHistory } from './useHistory.ts';
import { judgeMatch, type Verdict } from './verdict.ts';
import type { KnownMeaning } from './words/concepts.ts';
import { Lexicon } from './words/lexicon.ts';
import { planQuery, type QueryPlan, type Vocabulary } from './words/queryWords.ts';
import type { Thesaurus } from './words/thesaurus.ts';
import { wholeVocabulary } from './words/vocabulary.ts';

export interface RankServer {
  name: string;
  namespace: string;
  instructions?: string;
}

/**
 * Index of a catalog. A document is a tool, once for all servers that offer it; documents are ordered by their first
 * ids.
 */
export interface RankIndex {
  /** Ordered by id. */
  tools: readonly CatalogTool[];
  serverOf: Uint32Array;
  servers: readonly ServerText[];
  documents: readonly Document[];
  /** Document by tool id. */
  docOf: ReadonlyMap<string, number>;
  /** Servers that offer each document. */
  serversOf: readonly (readonly number[])[];
  /** First server of each document. */
  firstServer: Uint32Array;
  /** Documents of more than one server. */
  shared: readonly number[];
  lexicon: Lexicon;
  postings: Postings;
  idf: Float64Array;
  maxIdf: number;
  phrases: WeakMap<readonly number[], PhrasePostings>;
  names: Postings;
  serverIndex: ServerIndex;
  /** Codes of `INTENT_CODES`, one byte per document. */
  intents: Uint8Array;
  scratch: Scratch;
  /** Filled as documents become candidates. */
  notes: Map<number, CandidateNotes>;
  /** Numbers of the families of variants. */
  families: Map<string, number>;
  thesaurus: Thesaurus;
  meaningsHere: Map<string, KnownMeaning[]>;
}

export interface RankedTool {
  tool: CatalogTool;
  score: number;
  /** Identical tools of other servers, merged into this hit. */
  clones: readonly CatalogTool[];
}

export interface RankResult extends Verdict {
  hits: readonly RankedTool[];
  searched: number;
  /** Other tools of the first hit's server, best first, if the answer is not certain. */
  further: readonly CatalogTool[];
}

export interface RankOptions {
  /** Maximum number of cards. */
  topK: number;
  /** Restricts the results to tools of this server. */
  server?: string;
  history?: UseHistory;
}

/** Compares by code unit, which equals code point order because ids are ASCII (G1.1). */
function byId(a: CatalogTool, b: CatalogTool): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

export function buildRankIndex(tools: readonly CatalogTool[], servers: readonly RankServer[]): RankIndex {
  const sorted = [...tools].sort(byId);
  const lexicon = new Lexicon();
  const { serverOf, texts, sizes } = readServers(sorted, servers, lexicon);
  const documents = documentsOf(sorted);
  const fieldTerms = fieldTermsOf(documents, sorted, serverOf, texts, lexicon);
  lexicon.seal();
  const fields = buildFieldIndex(fieldTerms, lexicon.size);
  const serversOf = documents.map(({ members }) => members.map((member) => serverOf[member] as number));
  const docOf = new Map<string, number>();
  const shared: number[] = [];
  for (const [doc, { members }] of documents.entries()) {
    if (members.length > 1) shared.push(doc);
    for (const member of members) docOf.set((sorted[member] as CatalogTool).id, doc);
  }
  const serverStems = texts.map(({ nameTerms }) => nameTerms.map((term) => lexicon.stems[term] as string));
  const firstTool = (document: Document) => sorted[document.members[0] as number] as CatalogTool;
  return {
    tools: sorted,
    serverOf,
    servers: texts,
    documents,
    docOf,
    serversOf,
    firstServer: Uint32Array.from(serversOf, (list) => list[0] as number),
    shared,
    lexicon,
    ...fields,
    phrases: new WeakMap(),
    names: buildNameIndex(fieldTerms, fields.idf, lexicon.size),
    serverIndex: buildServerIndex(
      serverStems,
      (doc) => serversOf[doc] as readonly number[],
      sizes,
      fields.postings,
      lexicon.size,
    ),
    intents: Uint8Array.from(documents, (document) => INTENT_CODES.indexOf(toolIntent(firstTool(document)))),
    scratch: new Scratch(documents.length),
    notes: new Map(),
    families: new Map(),
    thesaurus: wholeVocabulary(),
    meaningsHere: new Map(),
  };
}

const MAX_INSTRUCTIONS = 2_000;

function readServers(tools: readonly CatalogTool[], servers: readonly RankServer[], lexicon: Lexicon) {
  const known = new Map(servers.map((server) => [server.name, server]));
  const numbers = new Map<string, number>();
  const texts: ServerText[] = [];
  const serverOf = new Uint32Array(tools.length);
  for (const [at, tool] of tools.entries()) {
    let number = numbers.get(tool.server);
    if (number === undefined) {
      number = texts.length;
      numbers.set(tool.server, number);
      const server = known.get(tool.server);
      texts.push({
        name: tool.server,
        nameTerms: [...new Set([...lexicon.termsOf(tool.server), ...lexicon.termsOf(server?.namespace ?? '')])],
        textTerms: lexicon.termsOf((server?.instructions ?? '').slice(0, MAX_INSTRUCTIONS)),
      });
    }
    serverOf[at] = number;
  }
  const sizes = new Uint32Array(texts.length);
  for (const server of serverOf) sizes[server] = (sizes[server] as number) + 1;
  return { serverOf, texts, sizes };
}

function vocabularyOf(index: RankIndex): Vocabulary {
  const { offsets } = index.postings;
  return {
    lexicon: index.lexicon,
    idf: index.idf,
    maxIdf: index.maxIdf,
    thesaurus: index.thesaurus,
    meaningsHere: index.meaningsHere,
    docFrequency: (term) => (offsets[term + 1] as number) - (offsets[term] as number),
    isWord: (stem) => index.thesaurus.phraseLengths.has(stem),
  };
}

export function planFor(index: RankIndex, query: string): QueryPlan {
  return planQuery(query, vocabularyOf(index));
}

export function rank(index: RankIndex, query: string, options: RankOptions): RankResult {
  const { hits, base, verdict } = rankWithEvidence(index, query, options);
  return {
    hits: verdict.confidence === 'none' ? [] : hits.map(({ tool, score, clones }) => ({ tool, score, clones })),
    ...verdict,
    searched: index.tools.length,
    further: verdict.certain || verdict.confidence === 'none' ? [] : furtherTools(index, hits, base),
  };
}

function rankWithEvidence(index: RankIndex, query: string, options: RankOptions) {
  const uses = options.history ? learnedFor(options.history, query) : new Map<string, number>();
  const evidence = gatherEvidence(index, planFor(index, query), uses);
  const only =
    options.server === undefined ? undefined : index.servers.findIndex(({ name }) => name === options.server);
  const topK = Math.max(0, Math.min(options.topK, index.tools.length));
  const base = baseScores(index, evidence);
  const candidates = bestCandidates(index, evidence, base, topK, only);
  const hits = arrange(index, candidates, evidence, topK, only);
  return { hits, base, evidence, verdict: judgeMatch(index, evidence, hits) };
}

export function explainRanking(index: RankIndex, query: string, options: RankOptions): RankExplanation {
  const { hits, evidence, verdict } = rankWithEvidence(index, query, options);
  return explain(index, query, evidence, hits, verdict.confidence);
}
