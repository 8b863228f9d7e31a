import type { Node } from 'jsonc-parser';
import { nearest } from '../ops/nearest.ts';

/** Name and value nodes of an object, in the file's order. */
export function members(object: Node): [Node, Node][] {
  return (object.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    return key && value ? [[key, value] as [Node, Node]] : [];
  });
}

export function unknownKey(name: string, known: readonly string[]): string {
  const suggestion = nearest(name, known);
  return `Unknown key "${name}"${suggestion ? `; did you mean "${suggestion}"?` : `; known are ${known.join(', ')}.`}`;
}
