import type { CatalogTool } from '../catalog/types.ts';
import type { RankIndex } from './rankIndex.ts';
import { type NameWord, nameWords } from './scoring/nameCoverage.ts';

/** Details needed only for the few documents that become candidates. Created on first use, then kept. */
export interface CandidateNotes {
  /** Words of the tool's name, unstemmed. */
  words: readonly WeighedWord[];
  /** Number of the server, name and description without the parts in which variants differ. */
  family: number;
}

const MAX_NAME_MASS = 6;

/** Word of a name with its share (0 to 1) of the name's weight. The weight of very rare words is capped. */
export interface WeighedWord extends NameWord {
  mass: number;
}

export function notesOn(index: RankIndex, doc: number): CandidateNotes {
  let notes = index.notes.get(doc);
  if (notes === undefined) {
    const { server, upstreamName, description } = firstTool(index, doc);
    const text = `${server}\n${familyName(upstreamName)}\n${familyText(description)}`;
    const family = index.families.get(text) ?? index.families.size;
    index.families.set(text, family);
    const words = nameWords(upstreamName).map((word) => {
      const term = index.lexicon.lookup(word.stem);
      const idf = term === undefined ? index.maxIdf : (index.idf[term] as number);
      return { ...word, mass: Math.min(1, idf / MAX_NAME_MASS) };
    });
    notes = { words, family };
    index.notes.set(doc, notes);
  }
  return notes;
}

export function firstTool(index: RankIndex, doc: number): CatalogTool {
  return index.tools[index.documents[doc]?.members[0] as number] as CatalogTool;
}

/** Removes the version from a name: `create_invoice_v2`, `createInvoice2` and `create_invoice_beta` are one family. */
export function familyName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[_.-](?:beta|alpha|preview|legacy|deprecated|old|new|copy|latest)$/, '')
    .replace(/[_.-]?v?\d+$/, '')
    .replace(/\d+/g, '#');
}

/** Returns the words of a description without numbers and without remarks in brackets. */
export function familyText(description: string): string {
  return description
    .slice(0, 400)
    .replace(/\([^()]*\)/g, ' ')
    .replace(/[^\p{L}]+/gu, ' ')
    .trim();
}
