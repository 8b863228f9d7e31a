import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';

export type ListedTool = Readonly<Record<string, unknown>>;

const known = new WeakMap<ListedTool, ListedTool | undefined>();

/**
 * A tool of a server as clients can read it: the very same where they can as it is. They check lists by MCP's own
 * schema, and one item that does not fit it costs them the whole list, so what does not fit is left out. Undefined
 * where nothing of use is left.
 */
export function listedTool(raw: unknown): ListedTool | undefined {
  if (!isObject(raw)) return undefined;
  if (!known.has(raw)) known.set(raw, fitted(raw));
  return known.get(raw);
}

function isObject(value: unknown): value is ListedTool {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fitted(raw: ListedTool): ListedTool | undefined {
  const flawed = flawedMembers(raw);
  if (flawed.length === 0) return raw;
  const mended: Record<string, unknown> = { ...raw };
  for (const member of flawed) delete mended[member];
  // It must be there, and an object.
  if (flawed.includes('inputSchema')) mended.inputSchema = objectSchema(raw.inputSchema);
  return flawedMembers(mended).length === 0 ? mended : undefined;
}

function flawedMembers(tool: ListedTool): string[] {
  const { error } = ToolSchema.safeParse(tool);
  return [...new Set((error?.issues ?? []).map(({ path }) => String(path[0])))];
}

/**
 * Most often all that is missing is that it says so, or a member is `null`, or a property is a boolean: in JSON Schema
 * one that may be anything, or nothing; MCP's own schema wants objects there.
 */
function objectSchema(schema: unknown): ListedTool {
  const typed: Record<string, unknown> = { ...(isObject(schema) && schema), type: 'object' };
  if (isObject(typed.properties)) {
    typed.properties = Object.fromEntries(
      Object.entries(typed.properties).map(([name, each]) => [
        name,
        each === false ? { not: {} } : isObject(each) ? each : {},
      ]),
    );
  }
  const { error } = ToolSchema.shape.inputSchema.safeParse(typed);
  for (const { path } of error?.issues ?? []) delete typed[String(path[0])];
  return typed;
}
