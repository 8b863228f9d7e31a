import MiniSearch from 'minisearch';
import { buildRankIndex, rank } from '../../src/ranking/rankIndex.ts';
import { argumentWords } from '../../src/ranking/scoring/toolText.ts';
import type { DataSet } from './dataSet.ts';
import type { Card } from './measure.ts';

/** Engine under comparison: takes a catalog and returns cards. */
export interface Engine {
  name: 'waygate' | 'minisearch' | 'bm25';
  build(data: DataSet): Searcher;
}

export type Searcher = (query: string, topK: number) => Card[];

const waygate: Engine = {
  name: 'waygate',
  build(data) {
    const index = buildRankIndex(data.tools, data.servers);
    return (query, topK) =>
      rank(index, query, { topK }).hits.map(({ tool, clones }) => [tool.id, ...clones.map(({ id }) => id)]);
  },
};

/** MiniSearch as in its documentation: unchanged fields, its own tokenizer, any term may match. */
const miniSearch: Engine = {
  name: 'minisearch',
  build(data) {
    const fields = ['name', 'server', 'title', 'description', 'arguments'];
    const index = new MiniSearch<Record<string, string>>({ fields, searchOptions: { boost: { name: 3 } } });
    index.addAll(
      data.tools.map((tool) => ({
        id: tool.id,
        name: tool.upstreamName.replaceAll(/[_.-]/g, ' '),
        server: tool.server.replaceAll(/[_.-]/g, ' '),
        title: tool.title,
        description: tool.description,
        arguments: argumentWords(tool.inputSchema).names.join(' '),
      })),
    );
    return (query, topK) =>
      index
        .search(query)
        .slice(0, topK)
        .map(({ id }) => [String(id)]);
  },
};

/** BM25 over unchanged words: name, server, title and description in one text. */
const plainBm25: Engine = {
  name: 'bm25',
  build(data) {
    const postings = new Map<string, [doc: number, count: number][]>();
    const lengths: number[] = [];
    for (const [doc, tool] of data.tools.entries()) {
      const words = wordsOf([tool.upstreamName, tool.server, tool.title, tool.description].join(' '));
      lengths.push(words.length);
      const counts = new Map<string, number>();
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const [word, count] of counts) {
        const list = postings.get(word);
        if (list) list.push([doc, count]);
        else postings.set(word, [[doc, count]]);
      }
    }
    const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
    return (query, topK) => {
      const scores = new Map<number, number>();
      for (const word of new Set(wordsOf(query))) {
        const list = postings.get(word) ?? [];
        const idf = Math.log(1 + (lengths.length - list.length + 0.5) / (list.length + 0.5));
        for (const [doc, count] of list) {
          const norm = 1.2 * (0.25 + (0.75 * (lengths[doc] as number)) / average);
          scores.set(doc, (scores.get(doc) ?? 0) + (idf * count * 2.2) / (count + norm));
        }
      }
      return [...scores]
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .slice(0, topK)
        .map(([doc]) => [data.tools[doc]?.id ?? '']);
    };
  },
};

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

export const ENGINES: readonly Engine[] = [waygate, miniSearch, plainBm25];
