import { getEncoding } from 'js-tiktoken';
import { describe, expect, it } from 'vitest';
import { ALL_TOOLS, GATEWAY_TOOLS, listedTools } from '../../src/modes/shared/gatewayTools.ts';
import { INSTRUCTIONS, SERVER_INFO } from '../../src/modes/shared/introduction.ts';

function* schemasIn(schema: unknown): Generator<Record<string, unknown>> {
  if (typeof schema !== 'object' || schema === null) return;
  yield schema as Record<string, unknown>;
  for (const value of Object.values(schema)) yield* schemasIn(value);
}

describe('the definition of the gateway for clients', () => {
  it('takes at most 700 tokens, instructions included', () => {
    const tokens = getEncoding('cl100k_base').encode(JSON.stringify(GATEWAY_TOOLS) + INSTRUCTIONS).length;
    expect(tokens).toBeLessThanOrEqual(700);
    // Guards against a counter that counts nothing.
    expect(tokens).toBeGreaterThan(200);
  });

  it('takes at most 1,150 tokens with the tools for resources and prompts', () => {
    const tokens = getEncoding('cl100k_base').encode(JSON.stringify(ALL_TOOLS) + INSTRUCTIONS).length;
    expect(tokens).toBeLessThanOrEqual(1_150);
    expect(tokens).toBeGreaterThan(700);
  });

  it('asks for the words of an API, in English, with a second wording', () => {
    for (const text of [String(GATEWAY_TOOLS[0]?.description), INSTRUCTIONS]) {
      expect(text).toMatch(/English API words/);
      expect(text).toMatch(/another wording|again in others/);
      expect(text).toMatch(/"[^"]+ \| [^"]+"/);
    }
  });

  it('says how to read a template', () => {
    expect(listedTools('resources')[1]?.description).toMatch(/template/);
    expect(listedTools('prompts')[1]?.description).toContain('schema:<prompt_id>');
  });

  it('says how to bring back a tool that Copilot hides', () => {
    expect(INSTRUCTIONS).toContain('activate_');
  });

  it('names all three tools within the first 512 characters of the instructions', () => {
    const start = INSTRUCTIONS.slice(0, 512);
    for (const { name } of GATEWAY_TOOLS) expect(start).toContain(name);
  });

  it('has a server name that Copilot turns into a legal prefix', () => {
    for (const name of [SERVER_INFO.name, SERVER_INFO.title]) expect(name).toMatch(/^[a-z0-9-]{1,13}$/);
  });

  it('has names that every client accepts', () => {
    expect(GATEWAY_TOOLS.map((tool) => tool.name)).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    expect(ALL_TOOLS).toHaveLength(7);
    for (const { name } of ALL_TOOLS) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
  });

  it.each(ALL_TOOLS.map((tool) => [tool.name, tool.inputSchema] as const))('has a plain schema for %s', (_, schema) => {
    expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) });
    for (const combination of ['anyOf', 'oneOf', 'allOf', 'not', '$ref'])
      expect(schema).not.toHaveProperty(combination);
    for (const part of schemasIn(schema)) if (part.type === 'array') expect(part).toHaveProperty('items');
    for (const name of schema.required ?? []) expect(schema.properties).toHaveProperty(name);
  });

  it('requires only what a tool cannot do without, forbids no argument and bounds no number', () => {
    const required = ALL_TOOLS.flatMap(({ inputSchema }) => inputSchema.required ?? []);
    expect(required).toEqual(['tool_id', 'handle', 'resource_id', 'prompt_id']);
    for (const { inputSchema } of ALL_TOOLS) {
      for (const part of schemasIn(inputSchema)) {
        for (const bound of ['additionalProperties', 'minimum', 'maximum']) expect(part).not.toHaveProperty(bound);
      }
    }
  });

  it('has nouns as titles, before which Copilot puts "Run" and "Ran"', () => {
    expect(ALL_TOOLS.map(({ title }) => title)).toEqual([
      ...['Tool search', 'Tool call', 'Result view', 'Resource search', 'Resource content'],
      ...['Prompt search', 'Prompt text'],
    ]);
    for (const { title, annotations } of ALL_TOOLS) expect(annotations.title).toBe(title);
  });

  it('declares a tool read-only only if it only reads', () => {
    for (const { name, annotations } of ALL_TOOLS) {
      if (name === 'tool_execute') expect(annotations.readOnlyHint).toBe(false);
      else expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    }
  });
});
