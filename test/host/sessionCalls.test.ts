import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import { faultAnswer } from '../../src/host/session/clientCall.ts';
import { journalCallOf } from '../../src/host/session/sessionCalls.ts';
import type { Mode } from '../../src/link/mode.ts';

const kept = (name: string, mode: Mode, args: object = {}) =>
  journalCallOf(
    7,
    { jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: args } },
    Buffer.from('{}\n'),
    mode,
  );

describe("a call in the host's journal", () => {
  it.each<[string, Mode, string, string]>([
    ['tool_browse', 'gateway', 'convergent', 'tool_browse'],
    ['mcp__waygate__tool_browse', 'gateway', 'convergent', 'tool_browse'],
    ['resources.read', 'gateway', 'convergent', 'resource_read'],
    ['toolView', 'gateway', 'convergent', 'tool_view'],
    ['mcp__waygate__tool_execute', 'gateway', 'never_replay', 'tool_execute'],
    ['read', 'gateway', 'never_replay', 'read'],
    ['tool_view', 'transparent', 'convergent', 'tool_view'],
    // Could be the name of a listed tool.
    ['resources.read', 'transparent', 'never_replay', 'resources.read'],
    ['tools.view', 'transparent', 'never_replay', 'tools.view'],
    ['tool_view', 'passthrough', 'never_replay', 'tools/call'],
  ])('%s has in %s mode the contract %s, and is recorded as %s', (name, mode, contract, tool) => {
    expect(kept(name, mode)).toMatchObject({ contract, declared: contract !== 'convergent', payload: { tool } });
  });

  it.each<[string, Mode, unknown, boolean]>([
    ['tool_execute', 'gateway', 'json', true],
    ['mcp__waygate__tool_execute', 'gateway', 'structured', true],
    ['tool_execute', 'transparent', 'JSON', true],
    ['tool_execute', 'gateway', 'porcelain', false],
    ['tool_execute', 'gateway', 7, false],
    ['tool_execute', 'gateway', undefined, false],
    // The argument belongs to the server.
    ['one.draw', 'transparent', 'json', false],
    ['draw', 'passthrough', 'json', false],
  ])('%s in %s mode with render %j wants data: %j', (name, mode, render, wantsData) => {
    expect(kept(name, mode, { render }).payload.wantsData).toBe(wantsData);
  });
});

describe('an answer in place of the worker', () => {
  const fault = faultOf('exited', { generation: 1, detail: '' }, (text) => text);
  const terms = { fault, knowledge: 'outcome_unknown', contract: 'never_replay', dispatches: 1 } as const;
  const error = { error: 'UPSTREAM_UNAVAILABLE', retryable: false, details: { outcome: 'unknown' } };

  it('is a JSON-RPC error with the error object as data, except for a tool call', () => {
    const answer = JSON.parse(faultAnswer({ id: 7, method: 'resources/read' }, terms));
    expect(answer).toMatchObject({ id: 7, error: { code: -32603, data: error } });
    expect(answer.error.data.message).toBe(answer.error.message);
  });

  it('is text, or the error object in both places if the client wants data', () => {
    const call = { id: 7, method: 'tools/call' };
    const { result: lines } = JSON.parse(faultAnswer(call, terms));
    expect(lines).toEqual({
      content: [{ type: 'text', text: expect.stringMatching(/^Error UPSTREAM_/) }],
      isError: true,
    });
    const { result: data } = JSON.parse(faultAnswer({ ...call, wantsData: true }, terms));
    expect(data).toMatchObject({ structuredContent: error, isError: true });
    expect(JSON.parse(data.content[0].text)).toEqual(data.structuredContent);
  });
});
