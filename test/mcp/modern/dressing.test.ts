import { describe, expect, it } from 'vitest';
import { encodeMessage } from '../../../src/link/frames.ts';
import { dressAnswer, type Terms } from '../../../src/mcp/modern/dressing.ts';

const INFO = { name: 'waygate', version: '1.2.3' };
const TERMS: Terms = { id: 'mine', method: 'tools/call', serverInfo: INFO, ttlMs: 0, hidesHeaders: false };
const dressed = (body: object, terms: Partial<Terms> = {}) =>
  JSON.parse(String(dressAnswer(Buffer.from(encodeMessage({ id: 7, ...body }).trim()), { ...TERMS, ...terms }))) as {
    id: unknown;
    result?: Record<string, unknown>;
    error?: Record<string, unknown>;
  };

describe('the answer of a legacy session', () => {
  it('gets the members of the revision and keeps its own', () => {
    const result = { content: [{ type: 'text', text: 'hi' }], isError: true, _meta: { ui: { resourceUri: 'ui://x' } } };
    expect(dressed({ result })).toEqual({
      jsonrpc: '2.0',
      id: 'mine',
      result: {
        ...result,
        resultType: 'complete',
        _meta: { ui: { resourceUri: 'ui://x' }, 'io.modelcontextprotocol/serverInfo': INFO },
      },
    });
  });

  it.each(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read'])(
    'says how long a result of %s may be kept, and for whom',
    (method) => {
      expect(dressed({ result: {} }, { method, ttlMs: 5 }).result).toMatchObject({ ttlMs: 5, cacheScope: 'private' });
    },
  );

  it.each(['tools/call', 'prompts/get', 'completion/complete'])('gives no such advice for %s', (method) => {
    expect(Object.keys(dressed({ result: {} }, { method, ttlMs: 5 }).result ?? {})).toEqual(['resultType', '_meta']);
  });

  it('is complete, whatever a server calls it', () => {
    const result = { resultType: 'input_required', ttlMs: -1, cacheScope: 'public', contents: [] };
    expect(dressed({ result }, { method: 'resources/read' }).result).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  it('of a hundred megabytes is not parsed, and has the required members', () => {
    const text = 'é"\\'.repeat(200_000);
    const result = { contents: [{ uri: 'x', text }], _meta: { own: true } };
    const { id, result: large } = dressed({ result }, { method: 'resources/read', id: 9 });
    expect(id).toBe(9);
    expect(large).toEqual({ ...result, resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
  });

  it('has a list of tools without what the revision dropped, however long', () => {
    const tool = { name: 'x', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } };
    const { result } = dressed(
      { result: { tools: Array(9_000).fill(tool), nextCursor: 'c' } },
      { method: 'tools/list' },
    );
    expect(result?.tools).toHaveLength(9_000);
    expect(result?.tools ?? []).toContainEqual({ name: 'x', inputSchema: { type: 'object' } });
    expect(result).toMatchObject({ nextCursor: 'c', resultType: 'complete' });
  });

  it('names no HTTP headers in schemas where the client would send them', () => {
    const region = { type: 'string', 'x-mcp-header': 'Region' };
    const inputSchema = {
      type: 'object',
      properties: { region, at: { type: 'object', properties: { zone: region } }, 'x-mcp-header': { type: 'string' } },
      examples: [{ 'x-mcp-header': 'data' }],
    };
    const tools = [{ name: 'x', inputSchema }, 'no tool'];
    const shown = (hidesHeaders: boolean) =>
      dressed({ result: { tools } }, { method: 'tools/list', hidesHeaders }).result?.tools;
    expect(shown(false)).toEqual(tools);
    const plain = { type: 'string' };
    const hidden = {
      type: 'object',
      properties: { region: plain, at: { type: 'object', properties: { zone: plain } }, 'x-mcp-header': plain },
      examples: [{ 'x-mcp-header': 'data' }],
    };
    expect(shown(true)).toEqual([{ name: 'x', inputSchema: hidden }, 'no tool']);
  });

  it.each([
    ['a missing resource', -32002, { uri: 'file:///x' }, -32602, { uri: 'file:///x' }],
    ['a server that uses a code of the revision', -32022, { supported: ['1'] }, -32603, { supported: ['1'] }],
    ['a server that uses a reserved code', -32099, undefined, -32603, undefined],
    ['a code below the reserved ones', -32100, 'own', -32100, 'own'],
    ['an error of JSON-RPC', -32603, 'own', -32603, 'own'],
    ['an old code', -32000, undefined, -32000, undefined],
  ])('has the code of the revision for %s', (_, code, data, shown, shownData) => {
    const answer = dressed({ error: { code, message: 'no', data } }, { method: 'resources/read', uri: 'file:///x' });
    expect(answer).toEqual({
      jsonrpc: '2.0',
      id: 'mine',
      error: { code: shown, message: 'no', ...(shownData === undefined ? {} : { data: shownData }) },
    });
  });
});
