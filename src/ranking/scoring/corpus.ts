import type { CatalogTool } from '../../catalog/types.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { Lexicon } from '../words/lexicon.ts';
import { type ArgumentWords, argumentWords, FIELDS, readableDescription } from './toolText.ts';

/**
 * Searchable form of a tool, one for all servers that offer it. Forks of a server repeat its tools word for word and
 * would fill the first ten cards (19 % of a real pool of 10,000).
 */
export interface Document {
  /** Indexes of the merged tools, ordered by id. */
  members: readonly number[];
  arguments: ArgumentWords;
}

/** Shorter texts ("List projects") can be equal without meaning the same tool. */
const MIN_CLONE_TEXT = 24;

/**
 * Merges tools with the same name, description and required arguments if one of the two has every argument of the other:
 * releases and forks of a server differ in optional arguments (G3.11). Within a server, names differ.
 */
export function documentsOf(tools: readonly CatalogTool[]): Document[] {
  const documents: { members: number[]; arguments: ArgumentWords }[] = [];
  const byText = new Map<string, typeof documents>();
  for (const [number, tool] of tools.entries()) {
    const document = { members: [number], arguments: argumentWords(tool.inputSchema) };
    const description = tool.description.trim();
    if (description.length >= MIN_CLONE_TEXT) {
      const key = JSON.stringify([tool.upstreamName, description, ...requiredArguments(tool.inputSchema)]);
      const alike = byText.get(key);
      const same = alike?.find((other) => oneHoldsTheOther(other.arguments.names, document.arguments.names));
      if (same) {
        same.members.push(number);
        continue;
      }
      if (alike) alike.push(document);
      else byText.set(key, [document]);
    }
    documents.push(document);
  }
  return documents;
}

function requiredArguments(schema: unknown): unknown[] {
  return isRecord(schema) && Array.isArray(schema.required) ? [...schema.required].sort() : [];
}

function oneHoldsTheOther(some: readonly string[], others: readonly string[]): boolean {
  const [few, many] = some.length < others.length ? [some, others] : [others, some];
  const names = new Set(many);
  return few.every((name) => names.has(name));
}

export interface ServerText {
  name: string;
  /** Terms of the server's name and namespace. */
  nameTerms: readonly number[];
  /** Terms of its instructions. */
  textTerms: readonly number[];
}

/** Terms of all documents in one array: field `f` of document `d` starts at `starts[d * FIELDS.length + f]`. */
export interface FieldTerms {
  terms: Int32Array;
  starts: Uint32Array;
}

/** Growing array of numbers that allocates no object per number. */
export class NumberRow {
  values = new Int32Array(65_536);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const wider = new Int32Array(this.length * 2);
      wider.set(this.values);
      this.values = wider;
    }
    this.values[this.length++] = value;
  }
}

const MAX_SERVER_TERMS = 16;

export function fieldTermsOf(
  documents: readonly Document[],
  tools: readonly CatalogTool[],
  serverOf: Uint32Array,
  servers: readonly ServerText[],
  lexicon: Lexicon,
): FieldTerms {
  const row = new NumberRow();
  const starts = new Uint32Array(documents.length * FIELDS.length + 1);
  let at = 0;
  const begin = () => {
    starts[at++] = row.length;
  };
  for (const document of documents) {
    const tool = tools[document.members[0] as number] as CatalogTool;
    const server = servers[serverOf[document.members[0] as number] as number] as ServerText;
    begin();
    lexicon.addTerms(tool.upstreamName, row);
    withoutServerWords(row, starts[at - 1] as number, server.nameTerms);
    begin();
    for (const term of serverTerms(document, serverOf, servers)) row.push(term);
    begin();
    lexicon.addTerms(tool.title, row);
    begin();
    lexicon.addTerms(readableDescription(tool.description), row);
    begin();
    for (const name of document.arguments.names) lexicon.addRepeatedTerms(name, row);
    begin();
    for (const text of document.arguments.texts) lexicon.addRepeatedTerms(text, row);
    begin();
    for (const term of server.textTerms) row.push(term);
    begin();
    for (const tag of tool.tags) lexicon.addTerms(tag, row);
  }
  starts[at] = row.length;
  return { terms: row.values.subarray(0, row.length), starts };
}

/**
 * Drops the server's words from a name: `github_create_issue` of the server `github` becomes `create issue`, because
 * the server has its own field.
 */
function withoutServerWords(row: NumberRow, start: number, serverTerms: readonly number[]): void {
  let kept = start;
  const before = row.values.slice(start, row.length);
  for (const term of before) if (!serverTerms.includes(term)) row.values[kept++] = term;
  if (kept > start) row.length = kept;
  else row.values.set(before, start);
}

function serverTerms(document: Document, serverOf: Uint32Array, servers: readonly ServerText[]): Iterable<number> {
  const first = servers[serverOf[document.members[0] as number] as number] as ServerText;
  if (document.members.length === 1) return first.nameTerms;
  const terms = new Set<number>();
  for (const member of document.members) {
    for (const term of (servers[serverOf[member] as number] as ServerText).nameTerms) {
      if (terms.size < MAX_SERVER_TERMS) terms.add(term);
    }
  }
  return terms;
}
