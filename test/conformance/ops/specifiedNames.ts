/**
 * Converts names: the specification uses snake_case, Waygate camelCase. The gateway's own tools have one name in both.
 */
const GATEWAY_TOOL = /^tool_(browse|execute|view)$/;

export const camelCased = (value: unknown): unknown =>
  renamed(value, (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
export const snakeCased = (value: unknown): unknown =>
  renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      GATEWAY_TOOL.test(name) ? name : rename(name),
      renamed(inner, rename),
    ]),
  );
}
