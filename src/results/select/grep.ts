import { RE2JS } from 're2js';
import { wholeCut } from '../../text/longText.ts';
import { count, groupDigits } from '../../text/porcelain.ts';
import type { ArtifactReader } from '../artifacts/artifactReader.ts';
import { type Segment, segmentBatches } from './segmentBatches.ts';
import { fits, fittingPrefix, MAX_SELECTION_CHARS, type Selection } from './selection.ts';
import { viewFailed } from './viewFailed.ts';

export interface GrepOptions {
  pattern: string;
  ignoreCase: boolean;
  context: number;
  limit: number;
  /** Line to begin with, and the place within a long one. */
  start: number;
  offset: number;
}

/**
 * Amount of text that is searched at once. A pattern that is not plain text is slow, and the answer says where to
 * continue.
 */
const MAX_SEARCHED_CHARS = 16 * 1024 * 1024;
const MAX_PATTERN_CHARS = 400;
const MAX_LINE_CHARS = 500;

/** Returns the lines that match a pattern, with their numbers, in linear time. */
export async function grep(reader: ArtifactReader, options: GrepOptions): Promise<Selection> {
  const finder = compile(options);
  const page = new Page(options);
  const stop = await search(reader, options, finder, page);
  const total = `of ${count(reader.info.lines, 'line')}`;
  const found = page.matches === 0 ? 'no match' : count(page.matches, 'match', 'matches');
  if (!stop) return { text: page.text, place: `${found}, ${total}` };
  const where = stop.isPart ? `byte ${groupDigits(stop.start)}` : `line ${groupDigits(stop.number)}`;
  return {
    text: page.text,
    place: `${found} before ${where} ${total}; there may be more`,
    next: { type: 'grep', ...given(options), start: stop.number, ...(stop.isPart ? { offset: stop.start } : {}) },
  };
}

/** Returns where to continue; undefined when all was searched. */
async function search(
  reader: ArtifactReader,
  { start, offset }: GrepOptions,
  finder: Finder,
  page: Page,
): Promise<Segment | undefined> {
  let searched = 0;
  for await (const batch of segmentBatches(reader, start, offset)) {
    for (const segment of batch) {
      if (searched > MAX_SEARCHED_CHARS && !finder.isPlain) return segment;
      searched += segment.text.length;
      const at = finder.find(segment.text);
      if (at === undefined) page.pass(segment);
      else if (!page.addMatch(segment, at)) return segment;
    }
  }
  return undefined;
}

/** Content of one answer: matches, each with the lines around it. */
class Page {
  matches = 0;
  readonly #options: GrepOptions;
  readonly #shown: string[] = [];
  #used = 0;
  #last = -1;
  #after = 0;
  #before: Segment[] = [];

  constructor(options: GrepOptions) {
    this.#options = options;
  }

  get text(): string {
    return this.#shown.join('\n');
  }

  /** Adds a match; false when there is no room for it. */
  addMatch(segment: Segment, at: number): boolean {
    if (this.matches === this.#options.limit) return false;
    for (const earlier of this.#before) this.#add(earlier, '-', 0);
    this.#before = [];
    if (!this.#add(segment, ':', at)) return false;
    this.matches += 1;
    this.#after = this.#options.context;
    return true;
  }

  /** Keeps a line as possible context of a match. A part of a line is no context. */
  pass(segment: Segment): void {
    if (segment.isPart || this.#options.context === 0) return;
    if (this.#after > 0) {
      this.#after -= 1;
      this.#add(segment, '-', 0);
      return;
    }
    this.#before.push(segment);
    if (this.#before.length > this.#options.context) this.#before.shift();
  }

  #add({ number, start, isPart, text }: Segment, mark: string, at: number): boolean {
    const place = isPart ? ` at byte ${start + Buffer.byteLength(text.slice(0, at))}` : '';
    const line = `${number}${place}${mark} ${around(text, at)}`;
    if (!fits(line, MAX_SELECTION_CHARS - this.#used)) return false;
    if (this.#options.context > 0 && this.#last !== -1 && number > this.#last + 1) {
      this.#shown.push('--');
      this.#used += 3;
    }
    this.#shown.push(line);
    this.#used += line.length + 1;
    this.#last = number;
    return true;
  }
}

function given({ pattern, ignoreCase, context, limit }: GrepOptions): Record<string, unknown> {
  return { pattern, ...(ignoreCase ? { ignore_case: true } : {}), ...(context > 0 ? { context } : {}), limit };
}

/** Returns the surroundings of a match in a long line. */
function around(text: string, at: number): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const from = wholeCut(text, Math.max(0, at - MAX_LINE_CHARS / 4));
  const part = fittingPrefix(text.slice(from), MAX_LINE_CHARS);
  return `${from > 0 ? '…' : ''}${part}${from + part.length < text.length ? '…' : ''}`;
}

interface Finder {
  isPlain: boolean;
  /** Returns the start of the match in the line. */
  find(line: string): number | undefined;
}

function compile({ pattern, ignoreCase }: GrepOptions): Finder {
  if (pattern === '' || pattern.length > MAX_PATTERN_CHARS) {
    throw viewFailed(`"pattern" must have 1 to ${groupDigits(MAX_PATTERN_CHARS)} characters.`);
  }
  if (!ignoreCase && !/[\\^$.*+?()[\]{}|]/.test(pattern)) {
    return {
      isPlain: true,
      find: (line) => {
        const at = line.indexOf(pattern);
        return at === -1 ? undefined : at;
      },
    };
  }
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return {
      isPlain: false,
      find: (line) => {
        const matcher = compiled.matcher(line);
        return matcher.find() ? matcher.start() : undefined;
      },
    };
  } catch (error) {
    throw viewFailed(`The pattern is no RE2 expression (${(error as Error).message.slice(0, 160)}).`);
  }
}
