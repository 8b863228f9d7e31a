import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { isRecord } from '../../lib/isRecord.ts';

export type ListedTool = Readonly<Record<string, unknown>>;

const known = new WeakMap<ListedTool, ListedTool | undefined>();

/**
 * Returns a tool in the form for clients; a valid tool stays the same object. Clients check lists by MCP's own schema
 * and reject the whole list for one invalid item, so this omits invalid members. Returns `undefined` if nothing useful
 * remains.
 */
export function listedTool(raw: unknown): ListedTool | undefined {
  if (!isRecord(raw)) return undefined;
  if (!known.has(raw)) known.set(raw, fitted(raw));
  return known.get(raw);
}

function fitted(raw: ListedTool): ListedTool | undefined {
  const flawed = flawedMembers(raw);
  if (flawed.length === 0) return raw;
  const mended: Record<string, unknown> = { ...raw };
  for (const member of flawed) delete mended[member];
  // The schema is required, and must be an object.
  if (flawed.includes('inputSchema')) mended.inputSchema = objectSchema(raw.inputSchema);
  return flawedMembers(mended).length === 0 ? mended : undefined;
}

function flawedMembers(tool: ListedTool): string[] {
  if (isUsual(tool)) return [];
  const { error } = ToolSchema.safeParse(tool);
  return [...new Set((error?.issues ?? []).map(({ path }) => String(path[0])))];
}

/**
 * Repairs the usual flaws of a schema: a missing `type`, members that are `null`, and boolean properties. JSON Schema
 * allows a boolean as a schema that accepts everything or nothing, but MCP's own schema requires objects.
 */
function objectSchema(schema: unknown): ListedTool {
  const typed: Record<string, unknown> = { ...(isRecord(schema) && schema), type: 'object' };
  if (isRecord(typed.properties)) {
    typed.properties = Object.fromEntries(
      Object.entries(typed.properties).map(([name, each]) => [
        name,
        each === false ? { not: {} } : isRecord(each) ? each : {},
      ]),
    );
  }
  const { error } = ToolSchema.shape.inputSchema.safeParse(typed);
  for (const { path } of error?.issues ?? []) delete typed[String(path[0])];
  return typed;
}

const isTextIfAny = (value: unknown): boolean => value === undefined || typeof value === 'string';
const isFlagIfAny = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
const TASK_SUPPORT: readonly unknown[] = [undefined, 'required', 'optional', 'forbidden'];

/**
 * Returns whether a tool has the usual form, which MCP's own schema accepts. Nearly every tool has it. Only for others is
 * it worth loading the schemas of the SDK, which take two megabytes.
 */
export function isUsual(tool: ListedTool): boolean {
  const {
    name,
    title,
    description,
    icons,
    inputSchema,
    outputSchema,
    annotations = {},
    execution = {},
    _meta = {},
  } = tool;
  if (typeof name !== 'string' || !isTextIfAny(title) || !isTextIfAny(description)) return false;
  if (icons !== undefined || !isRecord(annotations) || !isRecord(execution) || !isRecord(_meta)) return false;
  const { title: label, readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const areHints = [readOnlyHint, destructiveHint, idempotentHint, openWorldHint].every(isFlagIfAny);
  if (!isTextIfAny(label) || !areHints || !TASK_SUPPORT.includes(execution.taskSupport)) return false;
  return isUsualSchema(inputSchema) && (outputSchema === undefined || isUsualSchema(outputSchema));
}

function isUsualSchema(schema: unknown): boolean {
  if (!isRecord(schema) || schema.type !== 'object') return false;
  const { properties = {}, required = [] } = schema;
  return (
    isRecord(properties) &&
    Object.values(properties).every(isRecord) &&
    Array.isArray(required) &&
    required.every((name) => typeof name === 'string')
  );
}
