import { detectDelimiter } from '../select/delimited.ts';

/** Kind of a long text by its beginning. The caller detects JSON earlier, by parsing it. */
export type TextKind =
  | { kind: 'json lines' }
  | { kind: 'table'; form: 'delimited'; delimiter: string }
  | { kind: 'table'; form: 'markdown' | 'aligned' }
  | { kind: 'log' }
  | { kind: 'prose' }
  | { kind: 'lines' };

const SAMPLE_LINES = 200;

export function textKind(sample: string, isWhole: boolean): TextKind {
  const lines = sampleLines(sample, isWhole);
  const filled = lines.filter((line) => line.trim() !== '');
  if (isJsonLines(filled)) return { kind: 'json lines' };
  if (isMarkdownTable(filled)) return { kind: 'table', form: 'markdown' };
  if (isLog(filled)) return { kind: 'log' };
  const delimiter = detectDelimiter(lines);
  if (delimiter !== undefined) return { kind: 'table', form: 'delimited', delimiter };
  if (isAligned(filled)) return { kind: 'table', form: 'aligned' };
  return isProse(filled) ? { kind: 'prose' } : { kind: 'lines' };
}

/** Returns the lines of a sample without the last, possibly incomplete one. */
function sampleLines(sample: string, isWhole: boolean): string[] {
  const lines = sample.split(/\r?\n/, SAMPLE_LINES + 1);
  return lines.length > 1 && (lines.length > SAMPLE_LINES || !isWhole) ? lines.slice(0, -1) : lines;
}

function isJsonLines(lines: readonly string[]): boolean {
  return lines.length >= 2 && lines.slice(0, 20).every((line) => /^\s*[{[]/.test(line) && canParse(line));
}

function canParse(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

const MARKDOWN_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$/;

function isMarkdownTable(lines: readonly string[]): boolean {
  const rule = lines.findIndex((line) => MARKDOWN_RULE.test(line));
  if (rule < 1 || rule > 5 || lines.length < rule + 3) return false;
  const rows = lines.slice(rule + 1);
  return rows.filter((line) => line.includes('|')).length >= rows.length * 0.8;
}

const TIME =
  /^\W{0,3}(?:\d{4}-\d\d-\d\d|\d\d?[/.-]\d\d?[/.-]\d{2,4}|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d|\d{1,2}:\d\d:\d\d|\d{10,13}\b|\d+\.\d{3,}\b)/;
const LEVEL =
  /^.{0,80}?\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|PANIC|trace|debug|info|warn|warning|error|fatal|ERR!|level=\w+)\b/;
const RUN =
  /^(?:\s+at |\s+File "|npm |> |\$ |\+ |ok \d|not ok \d|\[\s*\d+[/%\]]|\s*[✓✗×✔✖●] |(?:PASS|FAIL|ok|FAILED|---|===)\s)/;

/** Returns whether half of the lines have a time, a level, or the look of a build, a test run or a stack trace. */
function isLog(lines: readonly string[]): boolean {
  if (lines.length < 8) return false;
  const marked = lines.filter((line) => TIME.test(line) || LEVEL.test(line) || RUN.test(line)).length;
  const timed = lines.filter((line) => TIME.test(line) && !isDateCell(line)).length;
  return (
    timed >= lines.length * 0.3 ||
    (marked >= lines.length * 0.5 && lines.some((line) => LEVEL.test(line) || RUN.test(line)))
  );
}

/** Returns whether a line begins with a date and a delimiter, as the first cell of a row. */
function isDateCell(line: string): boolean {
  return /^\W?[\d:/.T+Z-]+"?[,;\t|]/.test(line) && detectRowLike(line);
}

function detectRowLike(line: string): boolean {
  return (line.match(/[,;\t|]/g)?.length ?? 0) >= 1 && !LEVEL.test(line);
}

const MIN_COLUMN_GAP = /\S(?: {2,}|\t+)(?=\S)/g;

/** Returns whether columns begin under their heading, as in `ps`, `docker ps`, `kubectl get`. */
function isAligned(lines: readonly string[]): boolean {
  const [header = '', ...rows] = lines.slice(0, 50);
  if (rows.length < 2 || header.startsWith(' ')) return false;
  const starts = [...header.matchAll(MIN_COLUMN_GAP)].map((match) => match.index + match[0].length);
  if (starts.length < 2) return false;
  const fits = (line: string): boolean =>
    starts.filter((start) => line.length <= start || line[start - 1] === ' ').length >= starts.length * 0.75;
  return rows.filter(fits).length >= rows.length * 0.9;
}

/** Returns whether the lines are long paragraphs with sentences. */
function isProse(lines: readonly string[]): boolean {
  const text = lines.join('\n');
  const sentences = text.match(/[\p{L}\p{N})"'”’][.!?](?=\s|$)|[。！？]/gu)?.length ?? 0;
  const codeMarks = text.match(/[{};=<>]|^\s{4,}\S/gm)?.length ?? 0;
  const letters = text.match(/[\p{L}\p{M} ,'’]/gu)?.length ?? 0;
  return (
    sentences >= 3 && letters >= text.length * 0.75 && codeMarks <= sentences * 2 && sentences >= lines.length * 0.25
  );
}
