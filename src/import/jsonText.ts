import { createScanner, findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';

/**
 * Edits JSON with comments and changes nothing but the added or removed part. (jsonc-parser's own `modify` reformats
 * neighbours and removes comments with a member.)
 */

/** Sets a member of an object, creating the objects on the path to it. */
export function setMember(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const key = path.at(-1) as string;
  const parentPath = path.slice(0, -1);
  const existing = root && findNodeAtLocation(root, [...path]);
  const style = styleOf(text);
  if (existing) {
    const rendered = render(value, indentationAt(text, existing.parent?.offset ?? existing.offset), style);
    return replaceRange(text, existing.offset, existing.length, rendered);
  }
  const parent = root && (parentPath.length === 0 ? root : findNodeAtLocation(root, [...parentPath]));
  if (parent?.type === 'object') {
    return insertChild(text, parent, (indent) => `${JSON.stringify(key)}: ${render(value, indent, style)}`);
  }
  return setMember(text, parentPath, { [key]: value });
}

/** Appends an item to a list, creating the list if necessary. */
export function appendItem(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const list = root && findNodeAtLocation(root, [...path]);
  if (list?.type !== 'array') return setMember(text, path, [value]);
  return insertChild(text, list, (indent) => render(value, indent, styleOf(text)));
}

/** Puts an item at the beginning of a list, creating the list if necessary. Comments stay with their items. */
export function prependItem(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const list = root && findNodeAtLocation(root, [...path]);
  const first = list?.children?.[0];
  if (list?.type !== 'array' || !first) return appendItem(text, path, value);
  const { unit, eol } = styleOf(text);
  const outer = indentationAt(text, list.offset);
  const indent = startsLine(text, first.offset) ? indentationAt(text, first.offset) : outer + unit;
  const point = endOfRemark(text, list.offset + 1);
  return replaceRange(text, point, 0, `${eol}${indent}${render(value, indent, { unit, eol })},`);
}

/** Puts an item before one of a list. Comments stay with their items. */
export function insertItem(text: string, path: readonly string[], index: number, value: unknown): string {
  if (index === 0) return prependItem(text, path, value);
  const root = parseTree(text, [], { allowTrailingComma: true });
  const before = root && findNodeAtLocation(root, [...path, index - 1]);
  const comma = before && commaAfter(text, endOf(before));
  if (!before || comma === undefined) return appendItem(text, path, value);
  const { unit, eol } = styleOf(text);
  const indent = indentationAt(text, before.offset);
  const point = endOfRemark(text, comma + 1);
  return replaceRange(text, point, 0, `${eol}${indent}${render(value, indent, { unit, eol })},`);
}

/**
 * Removes a member but keeps everything around it, including comments. Returns the text unchanged if there is no such
 * member.
 */
export function removeMember(text: string, path: readonly string[]): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const property = root && findNodeAtLocation(root, [...path])?.parent;
  return property?.type === 'property' ? removeChild(text, property) : text;
}

/** Removes an item of a list like a member. */
export function removeItem(text: string, path: readonly string[], index: number): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const item = root && findNodeAtLocation(root, [...path, index]);
  return item ? removeChild(text, item) : text;
}

function removeChild(text: string, child: Node): string {
  const siblings = child.parent?.children ?? [];
  const before = siblings[siblings.indexOf(child) - 1];
  const end = endOf(child);
  const comma = commaAfter(text, end);
  const withoutIt = comma === undefined ? cutLast(text, child.offset, end) : cutLine(text, child.offset, comma + 1);
  // If the last child is removed, the comma before it goes too.
  const orphan = comma === undefined && before ? commaAfter(text, endOf(before)) : undefined;
  return orphan === undefined ? withoutIt : replaceRange(withoutIt, orphan, 1, '');
}

interface Style {
  unit: string;
  eol: string;
}

const MAX_LINE = 120;

/** Renders JSON in the style of the rest of the file: short lists of plain values on one line. */
export function render(value: unknown, indent: string, style: Style): string {
  const { unit, eol } = style;
  const inner = indent + unit;
  if (Array.isArray(value)) {
    const plain = value.every((item) => typeof item !== 'object' || item === null);
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    if (plain && inner.length + line.length <= MAX_LINE) return line;
    return `[${eol}${value.map((item) => inner + render(item, inner, style)).join(`,${eol}`)}${eol}${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return '{}';
  const lines = members.map(([key, member]) => `${inner}${JSON.stringify(key)}: ${render(member, inner, style)}`);
  return `{${eol}${lines.join(`,${eol}`)}${eol}${indent}}`;
}

function insertChild(text: string, container: Node, rendered: (indent: string) => string): string {
  const { unit, eol } = styleOf(text);
  const outer = indentationAt(text, container.offset);
  const last = container.children?.at(-1);
  if (!last) {
    const open = container.offset + 1;
    const indent = outer + unit;
    const closing = text.slice(open, endOf(container) - 1).includes('\n') ? '' : `${eol}${outer}`;
    return replaceRange(text, open, 0, `${eol}${indent}${rendered(indent)}${closing}`);
  }
  const indent = startsLine(text, last.offset) ? indentationAt(text, last.offset) : outer + unit;
  const end = endOf(last);
  const comma = commaAfter(text, end);
  const point = endOfRemark(text, comma === undefined ? end : comma + 1);
  const closing = text.slice(point, endOf(container) - 1).includes('\n') ? '' : `${eol}${outer}`;
  const added = `${eol}${indent}${rendered(indent)}${comma === undefined ? '' : ','}${closing}`;
  const tail = text.slice(point);
  return `${text.slice(0, end)}${comma === undefined ? ',' : ''}${text.slice(end, point)}${added}${closing ? tail.trimStart() : tail}`;
}

function styleOf(text: string): Style {
  const unit = /^([ \t]+)["}/]/m.exec(text)?.[1] ?? '  ';
  return { unit: unit.startsWith('\t') ? '\t' : unit, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function indentationAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

function startsLine(text: string, offset: number): boolean {
  return /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset));
}

/** Returns the next comma if only comments precede it. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const next = scanner.getTokenOffset();
  return text[next] === ',' ? next : undefined;
}

/** Skips a comment on the same line, which belongs to the member before it. */
function endOfRemark(text: string, offset: number): number {
  const remark = /^[ \t]*(\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/)/.exec(text.slice(offset));
  return offset + (remark?.[0].length ?? 0);
}

function replaceRange(text: string, offset: number, length: number, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + length);
}

/** Cuts the last member, with the space that separates it on its line. */
function cutLast(text: string, start: number, end: number): string {
  if (startsLine(text, start)) return cutLine(text, start, end);
  const space = /[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0;
  return replaceRange(text, start - space, end - start + space, '');
}

/** Cuts a range, and its whole line if nothing else is on it. */
function cutLine(text: string, start: number, end: number): string {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t]*(\r?\n|$)/.exec(text.slice(end));
  const alone = /^[ \t]*$/.test(text.slice(lineStart, start));
  if (alone && rest) return replaceRange(text, lineStart, end + rest[0].length - lineStart, '');
  const space = /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  return replaceRange(text, start, end + space - start, '');
}
