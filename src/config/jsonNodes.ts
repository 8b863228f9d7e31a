import type { Node } from 'jsonc-parser';
import { didYouMean } from '../text/nearest.ts';

/** Name and value nodes of an object, in the file's order. */
export function members(object: Node): [Node, Node][] {
  return (object.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    return key && value ? [[key, value] as [Node, Node]] : [];
  });
}

export function unknownKey(name: string, known: readonly string[]): string {
  return `Unknown key "${name}"; ${didYouMean(name, known, `known are ${known.join(', ')}.`)}`;
}

/** Where names are told as errors when they repeat: at the top, those of servers, and within a server. */
const TOLD_ELSEWHERE = /^(|servers(\/[^/]*)?)$/;

/** The later of two equal names in one object, wherever nobody else looks for them. */
export function repeatedMembers(root: Node): { value: string; offset: number }[] {
  const found: { value: string; offset: number }[] = [];
  const visit = (node: Node, path: readonly string[]): void => {
    if (node.type === 'array') for (const item of node.children ?? []) visit(item, [...path, '']);
    if (node.type !== 'object') return;
    const seen = new Set<string>();
    const told = TOLD_ELSEWHERE.test(path.map((part) => part.replaceAll('/', '_')).join('/'));
    for (const [key, value] of members(node)) {
      if (seen.has(key.value) && !told) found.push({ value: key.value, offset: key.offset });
      seen.add(key.value);
      visit(value, [...path, key.value]);
    }
  };
  visit(root, []);
  return found;
}
