import { count, groupDigits, oneLine, quoted, shortened } from './porcelain.ts';
import { visibleText } from './visibleText.ts';

/** Call that waits for the user. Everything but the id is in the words of a server, a file or a model. */
export interface AskedCall {
  toolId: string;
  /** Name that the server gave the tool. */
  tool: string;
  server: string;
  /** Why the user is asked. */
  reason: string;
  args: Readonly<Record<string, unknown>>;
}

const MAX_NAME_CHARS = 80;
const MAX_REASON_CHARS = 300;
/** Room for all arguments. Each gets its part, so that many or long ones hide no other. */
const ARGUMENTS_CHARS = 2_400;
const MAX_ARGUMENT_CHARS = 160;
const MIN_ARGUMENT_CHARS = 60;
const MAX_ARGUMENTS = ARGUMENTS_CHARS / MIN_ARGUMENT_CHARS;

/**
 * Returns the question and what the user has to know, one line each, in at most 5,000 characters: the tool by its id and
 * by its real name, the server, the reason, each argument. `scrub` masks secrets. A surface that reads Markdown needs
 * `markdownLine` too.
 */
export function approvalQuestion(
  { toolId, tool, server, reason, args }: AskedCall,
  scrub: (text: string) => string,
): readonly [question: string, ...details: string[]] {
  const entries = Object.entries(args)
    // With its name, because the name may show that a value is secret.
    .map(([name, value]) => visibleText(scrub(JSON.stringify({ [name]: value ?? null }))).slice(1, -1))
    .sort((a, b) => a.length - b.length);
  const room = Math.min(MAX_ARGUMENT_CHARS, Math.max(MIN_ARGUMENT_CHARS, Math.floor(ARGUMENTS_CHARS / entries.length)));
  const left = entries.length - MAX_ARGUMENTS;
  return [
    `Allow Waygate to run ${oneLine(toolId)}?`,
    `Tool ${quoted(tool, MAX_NAME_CHARS)} of the server ${quoted(server, MAX_NAME_CHARS)}`,
    `Reason: ${oneLine(reason, MAX_REASON_CHARS)}`,
    ...(entries.length === 0 ? ['It gets no arguments.'] : []),
    ...entries.slice(0, MAX_ARGUMENTS).map((entry) => `Argument ${bounded(entry, room)}`),
    ...(left > 0 ? [`${count(left, 'argument')} more, which this question cannot show`] : []),
  ];
}

function bounded(entry: string, room: number): string {
  if (entry.length <= room) return entry;
  const size = ` (${groupDigits(entry.length)} characters)`;
  return `${shortened(entry, room)}${size}`;
}

/**
 * Escapes what Markdown reads within a line: links, addresses, pictures, HTML, entities, code, emphasis and icons. Other
 * marks stay, since a client without Markdown shows the escapes.
 */
export function markdownLine(line: string): string {
  return line
    .replace(/[\\`*[\]<>&~$@|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replace(/:\/\//g, '\\://')
    .replace(/www\./gi, (found) => `${found.slice(0, -1)}\\.`);
}
