import { describe, expect, it } from 'vitest';
import { buildCatalog } from '../../src/catalog/catalog.ts';
import { fitsTokens } from '../../src/catalog/tokenizer/tokens.ts';
import { StrippedTools } from '../../src/modes/transparent/strippedTools.ts';

const tool = (name: string, description = 'Does it.') => ({ name, description, inputSchema: { type: 'object' } });

const NOBODY = { servers: () => [], workspace: '/workspace' };

describe('the stripped list', () => {
  it('cuts a description after a sentence, and a long sentence after a token (G2.8)', () => {
    const sentences = `First sentence. ${'Second sentence of many words. '.repeat(20)}`;
    const catalog = buildCatalog([
      { server: 's', tools: [tool('one', sentences), tool('two', 'word '.repeat(200)), tool('three')] },
    ]);
    const described = Object.fromEntries(
      new StrippedTools(catalog).list.map(({ name, description }) => [name, description]),
    );
    expect(described.s__one).toMatch(/^First sentence\. .*\.$/);
    expect(described.s__two).toMatch(/…$/);
    expect(described.s__three).toBe('Does it.');
    for (const words of Object.values(described)) expect(fitsTokens(words as string, 60)).toBe(true);
  });

  it('resolves names that would collide, each to its own tool', () => {
    const catalog = buildCatalog([{ server: 's', tools: [tool('a b'), tool('a/b'), tool('a_b')] }]);
    const tools = new StrippedTools(catalog);
    const resolved = tools.list.map(({ name }) => tools.resolve(name, NOBODY).upstreamName);
    expect(resolved.sort()).toEqual(['a b', 'a/b', 'a_b']);
    for (const { id } of catalog.tools) expect(tools.resolve(id, NOBODY).id).toBe(id);
    expect(() => tools.resolve('s__nothing', NOBODY)).toThrow(/There is no tool/);
    expect(() => tools.resolve('%E0%A4%A', NOBODY)).toThrow(/There is no tool/);
  });
});
