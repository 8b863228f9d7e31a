import type { Node } from 'jsonc-parser';

/** Returns the name and value nodes of an object, in the file's order. */
export function members(object: Node): [Node, Node][] {
  return (object.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    return key && value ? [[key, value] as [Node, Node]] : [];
  });
}
