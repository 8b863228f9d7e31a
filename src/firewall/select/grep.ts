import { RE2JS } from 're2js';
import { count, groupDigits } from '../../ops/porcelain.ts';
import type { ArtifactReader } from '../artifactReader.ts';
import { wholeCut } from '../longText.ts';
import { lineBatches } from './lineBatches.ts';
import { fits, fittingPrefix, MAX_SELECTION_CHARS, type Selection } from './selection.ts';
import { viewFailed } from './viewFailed.ts';

export interface GrepOptions {
  pattern: string;
  ignoreCase: boolean;
  context: number;
  limit: number;
  /** The line to begin with. */
  start: number;
}

/** A pattern that is not plain text is slow to look for: so much is searched at once, and the answer says where to go on. */
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;
const MAX_PATTERN_CHARS = 400;
const MAX_LINE_CHARS = 500;
/** Of a long line only so much is searched by a pattern. */
const MAX_SEARCHED_LINE_CHARS = 64 * 1024;

/** Lines that a pattern matches, with their numbers, in linear time. */
export async function grep(reader: ArtifactReader, options: GrepOptions): Promise<Selection> {
  const { context, limit, start } = options;
  const finder = compile(options);
  const shown: string[] = [];
  let used = 0;
  let matches = 0;
  let stop: number | undefined;
  let searched = 0;
  let lastShown = -1;
  let after = 0;
  const before: { number: number; text: string }[] = [];
  const add = (number: number, mark: string, text: string): boolean => {
    const line = `${number}${mark} ${text}`;
    if (!fits(line, MAX_SELECTION_CHARS - used)) return false;
    if (context > 0 && lastShown !== -1 && number > lastShown + 1) {
      shown.push('--');
      used += 3;
    }
    shown.push(line);
    used += line.length + 1;
    lastShown = number;
    return true;
  };

  search: for await (const batch of lineBatches(reader, start)) {
    for (const line of batch) {
      const at = finder.find(line.text);
      if (at !== undefined) {
        if (matches === limit) stop = line.number;
        else {
          for (const earlier of before) add(earlier.number, '-', earlier.text);
          if (!add(line.number, ':', around(line.text, at))) stop = line.number;
        }
        if (stop !== undefined) break search;
        matches += 1;
        after = context;
        before.length = 0;
      } else if (after > 0) {
        after -= 1;
        add(line.number, '-', around(line.text, 0));
      } else if (context > 0) {
        before.push({ number: line.number, text: around(line.text, 0) });
        if (before.length > context) before.shift();
      }
      searched += line.text.length;
      if (searched > MAX_SEARCHED_BYTES && !finder.isPlain) {
        stop = line.number + 1;
        break search;
      }
    }
  }
  const total = `of ${count(reader.info.lines, 'line')}`;
  const isDone = stop === undefined || stop >= reader.info.lines;
  const found = matches === 0 ? 'no line matches' : `${count(matches, 'line')} ${matches === 1 ? 'matches' : 'match'}`;
  return {
    text: shown.join('\n'),
    place: isDone
      ? `${found}, ${total}`
      : `${found} up to line ${groupDigits((stop as number) - 1)} ${total}; there may be more`,
    next: isDone ? undefined : { type: 'grep', ...given(options), start: stop },
  };
}

function given({ pattern, ignoreCase, context, limit }: GrepOptions): Record<string, unknown> {
  return { pattern, ...(ignoreCase ? { ignore_case: true } : {}), ...(context > 0 ? { context } : {}), limit };
}

/** What is about the match, of a line that is long. */
function around(text: string, at: number): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const from = wholeCut(text, Math.max(0, at - MAX_LINE_CHARS / 4));
  const part = fittingPrefix(text.slice(from), MAX_LINE_CHARS);
  return `${from > 0 ? '…' : ''}${part}${from + part.length < text.length ? '…' : ''}`;
}

interface Finder {
  isPlain: boolean;
  /** Where in the line the match begins. */
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
        const matcher = compiled.matcher(line.slice(0, MAX_SEARCHED_LINE_CHARS));
        return matcher.find() ? matcher.start() : undefined;
      },
    };
  } catch (error) {
    throw viewFailed(`The pattern is no RE2 expression (${(error as Error).message.slice(0, 160)}).`);
  }
}
