import { canonicalJson } from '../../../catalog/canonicalJson.ts';
import { countTokens } from '../../../catalog/tokenizer/tokens.ts';
import type { CatalogTool } from '../../../catalog/types.ts';
import { GATEWAY_TOOLS, type ToolDefinition } from '../gatewayTools.ts';
import { INSTRUCTIONS } from '../introduction.ts';

const counted = new WeakMap<object, number>();

/** Counts a schema as `tools/list` carries it, exactly and only once, since a schema does not change. */
export function schemaTokens(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return countTokens(canonicalJson(schema ?? {}));
  return once(schema, () => countTokens(canonicalJson(schema)));
}

/** Counts the definition of a tool as `tools/list` would carry it to a client without Waygate. */
export function toolTokens(tool: CatalogTool): number {
  return once(tool, () => {
    const { upstreamName: name, title, description, inputSchema, outputSchema, annotations } = tool;
    return tokensOf({
      name,
      ...(title ? { title } : {}),
      description,
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    });
  });
}

/** Counts the definitions and instructions that a client is sent in place of all tools: the same number in each report. */
export function gatewayTokens(advertised: readonly ToolDefinition[] = GATEWAY_TOOLS): number {
  const instructions = once(GATEWAY_TOOLS, () => countTokens(INSTRUCTIONS));
  return advertised.reduce((sum, tool) => sum + once(tool, () => tokensOf({ ...tool })), instructions);
}

/** The schema is counted apart, because other counts share it. */
function tokensOf({ inputSchema, ...rest }: { inputSchema: unknown; name: string; [key: string]: unknown }): number {
  return schemaTokens(inputSchema) + countTokens(JSON.stringify(rest));
}

function once(key: object, count: () => number): number {
  const known = counted.get(key);
  if (known !== undefined) return known;
  const tokens = count();
  counted.set(key, tokens);
  return tokens;
}
