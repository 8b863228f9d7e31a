import { describe, expect, it } from 'vitest';
import { normaliseCall } from '../../src/modes/shared/normaliseCall.ts';
import { fixedGateway, SHOP } from './fixedGateway.ts';

describe('a call in another spelling', () => {
  it.each([
    [
      'tool_browse',
      { topK: '5', q: 'x' },
      'tool_browse',
      { top_k: 5, query: 'x' },
      ['field_alias', 'field_alias', 'integer_text'],
    ],
    [
      'toolBrowse',
      { path: '/', limit: ' 3.0 ' },
      'tool_browse',
      { path: '/', top_k: 3 },
      ['token_alias', 'field_alias', 'integer_text'],
    ],
    [
      'tool_browse',
      { query: 'x', render: 'plain_text' },
      'tool_browse',
      { query: 'x', render: 'porcelain' },
      ['token_alias'],
    ],
    [
      'tool_execute',
      { toolId: 'a', arguments: { topK: '5' }, dryRun: true },
      'tool_execute',
      { tool_id: 'a', args: { topK: '5' }, dry_run: true },
      ['field_alias', 'field_alias', 'field_alias'],
    ],
    [
      'tool_view',
      { handle: 'h', selector: { type: 'jsonKeys', keys: ['a'] } },
      'tool_view',
      { handle: 'h', selector: { type: 'json_keys', keys: ['a'] } },
      ['token_alias'],
    ],
    [
      'tool_view',
      { handle: 'h', selector: { type: 'HEAD', chars: '50' } },
      'tool_view',
      { handle: 'h', selector: { type: 'head', chars: 50 } },
      ['token_alias', 'integer_text'],
    ],
  ])('is corrected: %s %j to %s %j', (name, args, meantName, meantArgs, rules) => {
    const before = structuredClone(args);
    const { name: readName, args: readArgs, corrections } = normaliseCall(name, args);
    expect([readName, readArgs]).toEqual([meantName, meantArgs]);
    expect(corrections.map(({ rule }) => rule)).toEqual(rules);
    // The object of the caller is not modified.
    expect(args).toEqual(before);
  });

  it.each([
    ['tools.execute', 'tool_execute'],
    ['toolExecute', 'tool_execute'],
    ['mcp_waygate_tool_execute', 'tool_execute'],
    ['mcp__waygate__tool_browse', 'tool_browse'],
    ['waygate:tools/view', 'tool_view'],
    ['resources-read', 'resource_read'],
  ])('by the name %s is a call of %s, with a note', (given, name) => {
    const corrections = [{ rule: 'token_alias', from: given, to: name }];
    expect(normaliseCall(given, {})).toEqual({ name, args: {}, corrections });
  });

  it.each(['mcp_other_tool_execute', 'waygate', 'execute', 'tool_executes', 'tools'])(
    'by the name %s is not a call of a gateway tool',
    (given) => expect(normaliseCall(given, {})).toEqual({ name: given, args: {}, corrections: [] }),
  );

  it.each([
    ['two names for one argument', 'tool_browse', { query: 'x', q: 'y' }],
    ['a mistyped name', 'tool_browse', { qeury: 'x' }],
    ['an invalid number', 'tool_browse', { query: 'x', top_k: '-5' }],
    [
      'a flag as text, because a dry run is never guessed',
      'tool_execute',
      { tool_id: 'a', args: {}, dry_run: 'false' },
    ],
    ['a pattern that looks like a number', 'tool_view', { handle: 'h', selector: { type: 'grep', pattern: '5' } }],
    ['a query that looks like a number', 'tool_browse', { query: '5' }],
    ['arguments that are no object', 'tool_browse', [1]],
    ['an unknown tool', 'tool_remove', { q: 'x' }],
    ['a correct call', 'tool_browse', { query: 'x', top_k: 5, render: 'json' }],
  ])('is left unchanged: %s', (_what, name, args) => {
    expect(normaliseCall(name, args)).toEqual({ name, args, corrections: [] });
  });

  it('is answered like the corrected call, and the answer names each rule in text, in data and in an error', async () => {
    const shop = fixedGateway(SHOP);
    const plain = await shop.text('tool_browse', { path: '/files' });
    expect(await shop.text('toolBrowse', { path: '/files', render: 'text' })).toBe(
      `${plain}note: "toolBrowse" was read as "tool_browse" (token_alias)\nnote: "text" was read as "porcelain" (token_alias)\n`,
    );
    const { structuredContent } = await shop.call('tool_browse', { path: '/files', render: 'structured' });
    expect(structuredContent).toMatchObject({
      total: 2,
      normalised: [{ rule: 'token_alias', from: 'structured', to: 'json' }],
    });
    const refused = await shop.text('tool_browse', { q: 'x', topK: 0 });
    expect(refused).toMatch(/^Error ARGS_INVALID: "top_k" .*\n/);
    expect(refused).toContain('note: "topK" was read as "top_k" (field_alias)\n');
    expect(shop.calls.map(({ metaTool }) => metaTool)).toEqual(Array(4).fill('tool_browse'));
  });

  it.each([
    [
      'a reason for the call',
      { query: 'x', reason: 'to find it' },
      { query: 'x' },
      '"reason" was ignored (extra_argument)',
    ],
    [
      'too many cards',
      { query: 'x', top_k: '100' },
      { query: 'x', top_k: 50 },
      '"top_k: 100" was read as "50" (too_many)',
    ],
  ])('reads %s, with a note', async (_what, given, meant, note) => {
    expect(normaliseCall('tool_browse', given).args).toEqual(meant);
    expect(await fixedGateway(SHOP).text('tool_browse', given)).toContain(`note: ${note}\n`);
  });

  it('keeps its notes in an answer of maximum length', async () => {
    const tools = Array.from({ length: 400 }, (_, n) => ({ name: `tool_${n}`, description: 'words '.repeat(50) }));
    const crowd = fixedGateway({ crowd: tools });
    const text = await crowd.text('tool_browse', { query: 'words', topK: '50' });
    expect(text.length).toBeLessThan(8_000);
    expect(text).toMatch(
      /\nnote: "topK" was read as "top_k" \(field_alias\)\nnote: "top_k: 50" was read as "50" \(integer_text\)\n$/,
    );
  });
});
