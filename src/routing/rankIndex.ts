import type { CatalogTool } from '../catalog/types.ts';
import { arrange } from './arrange.ts';
import { bestCandidates } from './candidates.ts';
import { cloneGroups, membersOf } from './clones.ts';
import { buildFieldIndex, type FieldTerms, fieldTermsOf, type ServerText } from './fieldIndex.ts';
import { INTENT_CODES, toolIntent } from './intent.ts';
import { Lexicon } from './lexicon.ts';
import { buildNameIndex, type NameWord, nameWords } from './nameCoverage.ts';
import type { Postings } from './postings.ts';
import { planQuery, type QueryPlan, type Vocabulary } from './queryWords.ts';
import { baseScores, gatherEvidence } from './scoring.ts';
import { buildServerIndex, type ServerIndex } from './serverEvidence.ts';
import { Scratch } from './signals.ts';
import { compileThesaurus, type Thesaurus } from './thesaurus.ts';
import { FIELDS, type FieldName } from './toolText.ts';
import { buildToolVectors, type ToolVectors } from './toolVectors.ts';
import { learnedFor, type UseHistory } from './useHistory.ts';
import { judgeMatch } from './verdict.ts';
import { DATA } from './vocabulary/data.ts';
import { DEVELOPMENT } from './vocabulary/development.ts';
import { FORMS } from './vocabulary/forms.ts';
import { IDIOMS } from './vocabulary/idioms.ts';
import { OPERATIONS } from './vocabulary/operations.ts';
import { VERBS } from './vocabulary/verbs.ts';
import { WORK } from './vocabulary/work.ts';
import { WORLD } from './vocabulary/world.ts';
import { decodeWordTable } from './wordTable.ts';

const THESAURUS = compileThesaurus([VERBS, FORMS, DEVELOPMENT, OPERATIONS, DATA, WORK, WORLD, IDIOMS]);

export interface RankServer {
  name: string;
  namespace: string;
  instructions?: string;
}

export interface RankResources {
  /** The bytes of `media/words-48.bin`; without them ranking works on words alone. */
  wordTable?: Uint8Array;
}

export interface RankIndex {
  /** In the order of their ids. */
  tools: readonly CatalogTool[];
  docOf: ReadonlyMap<string, number>;
  servers: readonly ServerText[];
  serverOf: Uint32Array;
  groupOf: Uint32Array;
  lexicon: Lexicon;
  postings: Postings;
  idf: Float64Array;
  maxIdf: number;
  names: Postings;
  serverIndex: ServerIndex;
  /** `INTENT_CODES`, a byte a tool. */
  intents: Uint8Array;
  /** The words of each tool's name as they stand there. */
  nameWords: readonly (readonly NameWord[])[];
  /** Groups of more than one tool. */
  cloneMembers: ReadonlyMap<number, readonly number[]>;
  scratch: Scratch;
  /** Filled as tools become candidates. */
  families: (string | undefined)[];
  thesaurus: Thesaurus;
  vectors?: ToolVectors;
}

export interface RankedTool {
  tool: CatalogTool;
  score: number;
  /** Other servers' identical tools, collapsed into this one. */
  clones: readonly CatalogTool[];
}

export interface RankResult {
  hits: readonly RankedTool[];
  /** `none`: nothing matched. `weak`: what matched is a small part of what was asked. */
  confidence: 'good' | 'weak' | 'none';
  searched: number;
  nearestNames: readonly string[];
}

export interface RankOptions {
  topK: number;
  server?: string;
  history?: UseHistory;
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function buildRankIndex(
  tools: readonly CatalogTool[],
  servers: readonly RankServer[],
  resources: RankResources = {},
): RankIndex {
  const sorted = [...tools].sort((a, b) => byCodePoint(a.id, b.id));
  const lexicon = new Lexicon();
  const known = new Map(servers.map((server) => [server.name, server]));
  const serverNumbers = new Map<string, number>();
  const serverTexts: ServerText[] = [];
  const serverOf = new Uint32Array(sorted.length);
  const documents: FieldTerms[] = [];
  for (const [doc, tool] of sorted.entries()) {
    let number = serverNumbers.get(tool.server);
    if (number === undefined) {
      number = serverTexts.length;
      serverNumbers.set(tool.server, number);
      const server = known.get(tool.server);
      serverTexts.push({
        name: tool.server,
        nameTerms: [...new Set([...lexicon.termsOf(tool.server), ...lexicon.termsOf(server?.namespace ?? '')])],
        textTerms: lexicon.termsOf((server?.instructions ?? '').slice(0, 2_000)),
      });
    }
    serverOf[doc] = number;
    documents.push(fieldTermsOf(tool, serverTexts[number] as ServerText, lexicon));
  }
  lexicon.seal();
  const groupOf = cloneGroups(sorted);
  const fields = buildFieldIndex(documents, lexicon.size);
  const stemsOf = (terms: readonly number[] | Int32Array, limit: number) =>
    Array.from(terms.slice(0, limit), (term) => lexicon.stems[term] as string);
  const table = resources.wordTable === undefined ? undefined : decodeWordTable(resources.wordTable);
  const field = (terms: FieldTerms, name: FieldName) => terms[FIELDS.indexOf(name)] as readonly number[];
  return {
    tools: sorted,
    docOf: new Map(sorted.map((tool, doc) => [tool.id, doc])),
    servers: serverTexts,
    serverOf,
    groupOf,
    lexicon,
    ...fields,
    names: buildNameIndex(
      documents.map((terms) => field(terms, 'name')),
      fields.idf,
      lexicon.size,
    ),
    serverIndex: buildServerIndex(
      serverTexts.map((server) => stemsOf(server.nameTerms, 20)),
      serverOf,
      fields.postings,
      lexicon.size,
    ),
    intents: Uint8Array.from(sorted, (tool) => INTENT_CODES.indexOf(toolIntent(tool))),
    nameWords: sorted.map((tool) => nameWords(tool.upstreamName)),
    cloneMembers: membersOf(groupOf),
    scratch: new Scratch(sorted.length),
    families: new Array(sorted.length),
    thesaurus: THESAURUS,
    ...(table
      ? {
          vectors: buildToolVectors(
            table,
            documents.map((terms, doc) => ({
              name: stemsOf(field(terms, 'name'), 20),
              description: stemsOf(field(terms, 'description'), 60),
              server: stemsOf(serverTexts[serverOf[doc] as number]?.nameTerms ?? [], 10),
              argumentNames: stemsOf(field(terms, 'arguments'), 40),
            })),
          ),
        }
      : {}),
  };
}

function vocabularyOf(index: RankIndex): Vocabulary {
  const { offsets } = index.postings;
  return {
    lexicon: index.lexicon,
    idf: index.idf,
    maxIdf: index.maxIdf,
    thesaurus: index.thesaurus,
    docFrequency: (term) => (offsets[term + 1] as number) - (offsets[term] as number),
    isWord: (stem) => index.vectors?.table.rows.has(stem) === true || index.thesaurus.meanings.has(stem),
  };
}

export function planFor(index: RankIndex, query: string): QueryPlan {
  return planQuery(query, vocabularyOf(index));
}

export function rank(index: RankIndex, query: string, options: RankOptions): RankResult {
  const { hits, confidence, nearestNames } = rankWithEvidence(index, query, options);
  return { hits, confidence, searched: index.tools.length, nearestNames };
}

export function rankWithEvidence(index: RankIndex, query: string, options: RankOptions) {
  const learned = new Map<number, number>();
  if (options.history) {
    for (const [id, value] of learnedFor(options.history, query)) {
      const doc = index.docOf.get(id);
      if (doc !== undefined) learned.set(doc, value);
    }
  }
  const evidence = gatherEvidence(index, planFor(index, query), learned);
  const only =
    options.server === undefined ? undefined : index.servers.findIndex(({ name }) => name === options.server);
  const topK = Math.max(0, Math.min(options.topK, index.tools.length));
  const candidates = bestCandidates(index, evidence, baseScores(index, evidence), topK, only);
  const hits = arrange(index, candidates, evidence.named, topK, only !== undefined);
  return { hits, evidence, ...judgeMatch(index, evidence, hits) };
}
