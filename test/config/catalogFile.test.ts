import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCatalogFile } from '../../src/config/catalogFile.ts';
import { temporaryFolder } from '../support/workspace.ts';

function file(text: string, name = 'catalog.json'): string {
  const path = join(temporaryFolder('waygate-catalog-'), name);
  writeFileSync(path, text);
  return path;
}

const SCHEMA = '{"type": "object"}';

describe('the file of a static catalog', () => {
  it('accepts tools as MCP lists them, with all their members', () => {
    const tool = { name: 'a', title: 'A', description: 'b', inputSchema: { type: 'object' }, _meta: { version: '1' } };
    expect(readCatalogFile(file(JSON.stringify([tool])))).toEqual({
      tools: [{ listed: tool }],
      resources: [],
      prompts: [],
    });
  });

  it.each([
    ['an object in JSON', '{"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}', 'catalog.json'],
    ['a list in JSON', '[{"name": "a", "inputSchema": {"type": "object"}}]', 'catalog.json'],
    ['an object in YAML', 'tools:\n  - name: a\n    inputSchema: {type: object}\n', 'catalog.yaml'],
    ['a list in YAML', '- name: a\n  inputSchema: {type: object}\n', 'catalog.yml'],
  ])('may be %s', (_what, text, name) => {
    expect(readCatalogFile(file(text, name)).tools).toEqual([
      { listed: { name: 'a', inputSchema: { type: 'object' } } },
    ]);
  });

  it("accepts entries in Waygate's own form: the id is the name", () => {
    const entry = {
      id: 'billing.refund',
      kind: 'tool',
      name: 'refund',
      description: 'Pay back.',
      tags: ['destructive'],
      namespace: 'billing',
      args_schema: { type: 'object', properties: { amount: { type: 'number' } } },
    };
    expect(readCatalogFile(file(JSON.stringify({ tools: [entry] }))).tools).toEqual([
      {
        namespace: 'billing',
        listed: {
          name: 'billing.refund',
          title: 'refund',
          description: 'Pay back.',
          inputSchema: entry.args_schema,
          annotations: { destructiveHint: true },
        },
      },
    ]);
  });

  it('keeps canned answers out of the lists', () => {
    const text = JSON.stringify({
      tools: [{ name: 'a', inputSchema: {}, result: 'yes' }],
      resources: [{ uri: 'x:y', blob: 'AA==' }],
      prompts: [{ name: 'p', messages: [] }],
    });
    expect(readCatalogFile(file(text))).toEqual({
      tools: [{ listed: { name: 'a', inputSchema: {} }, answer: { content: [{ type: 'text', text: 'yes' }] } }],
      resources: [{ listed: { uri: 'x:y', name: 'x:y' }, answer: { blob: 'AA==' } }],
      prompts: [{ listed: { name: 'p' }, answer: { messages: [] } }],
    });
  });

  it.each([
    ['[', /:1:\d+: this is neither JSON nor YAML: .+\.$/],
    ['a: b: c', /:1:\d+: this is neither JSON nor YAML: .+\.$/],
    ['"text"', /:1:1: a catalog is a list of tools, or an object/],
    ['', /:1:1: a catalog is a list of tools, or an object/],
    ['[]', /:1:1: the catalog is empty/],
    ['{"tools": []}', /:1:1: the catalog is empty/],
    [`{"tools":\n  {"a": 1}}`, /:2:3: "tools" must be a list\.$/],
    [
      `[\n {"name": "a", "inputSchema": ${SCHEMA}},\n {"name": "b"}\n]`,
      /:3:2: the tool "b" needs an object as "inputSchema"/,
    ],
    ['[{"id": "b", "args_schema": []}]', /:1:2: the tool "b" needs an object as "args_schema"/],
    [`[{"name": " ", "inputSchema": ${SCHEMA}}]`, /:1:2: a tool needs a "name"/],
    ['[7]', /:1:2: a tool must be an object/],
    ['{"resources": [{}]}', /:1:16: a resource needs a "uri"/],
    ['prompts:\n  - description: x', /:2:5: a prompt needs a "name"/],
    [
      `[{"name": "a", "inputSchema": ${SCHEMA}, "result": 7}]`,
      /"result" of "a" must be a string, or an object with "content"/,
    ],
  ])('rejects %j with its place, in one sentence', (text, message) => {
    const path = file(text);
    expect(() => readCatalogFile(path)).toThrow(message);
    expect(() => readCatalogFile(path)).toThrow(new RegExp(`^${path}:`));
  });

  it('rejects multiplying aliases', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
    for (const [name, before] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf', 'hg'].map((pair) => [...pair])) {
      bomb.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(',')}]`);
    }
    expect(() => readCatalogFile(file(bomb.join('\n'), 'catalog.yaml'))).toThrow(/it cannot be used: .*alias/i);
  });
});
