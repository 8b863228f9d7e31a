import { isRecord } from '../../lib/isRecord.ts';
import { visibleJson } from '../../text/visibleText.ts';

/** Returns a call of a tool as text: with the arguments that the tool requires, and examples of their types as values. */
export function readyCall(toolId: string, definition: unknown): string {
  const schema = isRecord(definition) && isRecord(definition.inputSchema) ? definition.inputSchema : {};
  const properties = new Map(Object.entries(isRecord(schema.properties) ? schema.properties : {}));
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
  const args = Object.fromEntries(required.map((name) => [name, exampleOf(properties.get(name))]));
  return `tool_execute ${visibleJson({ tool_id: toolId, args })}`;
}

function exampleOf(schema: unknown): unknown {
  if (!isRecord(schema)) return null;
  if ('const' in schema) return schema.const;
  if ('default' in schema) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return null;
  }
}
