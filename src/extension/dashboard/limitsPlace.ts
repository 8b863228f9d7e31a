import { findNodeAtLocation, modify, parseTree } from 'jsonc-parser';

/** Number that *Add Limits…* proposes, for the user to change before the file is saved. */
const PROPOSED = 60;
const PROPOSED_PATH = ['rateLimits', 'tool_execute', 'maxCallsPerMinute'];

/** Place of the limits in a waygate.json, with the edits that make one. Offsets of `select` count after the edits. */
export interface LimitsPlace {
  edits: readonly { offset: number; length: number; content: string }[];
  select: { offset: number; length: number };
}

/** Finds the limits in a text, or proposes one of calls a minute. A broken text is opened as it is. */
export function limitsPlace(text: string): LimitsPlace {
  const found = placeOf(text, ['rateLimits']);
  if (found) return { edits: [], select: found };
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const insertSpaces = !indent.startsWith('\t');
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const formattingOptions = { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol };
  const edits = modify(text, PROPOSED_PATH, PROPOSED, { formattingOptions });
  const select = placeOf(edited(text, edits), PROPOSED_PATH);
  return select ? { edits, select } : { edits: [], select: { offset: 0, length: 0 } };
}

function edited(text: string, edits: LimitsPlace['edits']): string {
  return [...edits]
    .sort((a, b) => b.offset - a.offset)
    .reduce((result, { offset, length, content }) => {
      return `${result.slice(0, offset)}${content}${result.slice(offset + length)}`;
    }, text);
}

function placeOf(text: string, path: string[]): LimitsPlace['select'] | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root && findNodeAtLocation(root, path);
  return node && { offset: node.offset, length: node.length };
}
