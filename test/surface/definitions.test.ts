import { getEncoding } from 'js-tiktoken';
import { describe, expect, it } from 'vitest';
import { GATEWAY_TOOLS } from '../../src/surface/gateway/definitions.ts';
import { INSTRUCTIONS, SERVER_INFO } from '../../src/surface/gateway/introduction.ts';

function* schemasIn(schema: unknown): Generator<Record<string, unknown>> {
  if (typeof schema !== 'object' || schema === null) return;
  yield schema as Record<string, unknown>;
  for (const value of Object.values(schema)) yield* schemasIn(value);
}

describe('what a client sees of the gateway', () => {
  it('costs at most 700 tokens, instructions included', () => {
    const tokens = getEncoding('cl100k_base').encode(JSON.stringify(GATEWAY_TOOLS) + INSTRUCTIONS).length;
    expect(tokens).toBeLessThanOrEqual(700);
    // A counter that counts nothing would pass as well.
    expect(tokens).toBeGreaterThan(200);
  });

  it('names all three tools within the first 512 characters of the instructions', () => {
    const start = INSTRUCTIONS.slice(0, 512);
    for (const { name } of GATEWAY_TOOLS) expect(start).toContain(name);
  });

  it('has a server name that Copilot makes a legal prefix of', () => {
    for (const name of [SERVER_INFO.name, SERVER_INFO.title]) expect(name).toMatch(/^[a-z0-9-]{1,13}$/);
  });

  it('has names that every client takes', () => {
    expect(GATEWAY_TOOLS.map((tool) => tool.name)).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    for (const { name } of GATEWAY_TOOLS) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
  });

  it.each(GATEWAY_TOOLS.map((tool) => [tool.name, tool.inputSchema] as const))(
    'has a plain schema for %s',
    (_, schema) => {
      expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) });
      for (const combination of ['anyOf', 'oneOf', 'allOf', 'not', '$ref'])
        expect(schema).not.toHaveProperty(combination);
      for (const part of schemasIn(schema)) if (part.type === 'array') expect(part).toHaveProperty('items');
      for (const name of schema.required ?? []) expect(schema.properties).toHaveProperty(name);
    },
  );

  it('claims to be read-only where it only reads, and nowhere else', () => {
    const hints = Object.fromEntries(GATEWAY_TOOLS.map((tool) => [tool.name, tool.annotations]));
    expect(hints.tool_browse).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(hints.tool_view).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(hints.tool_execute?.readOnlyHint).toBe(false);
  });
});
