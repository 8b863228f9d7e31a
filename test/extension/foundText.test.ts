import { expect, it } from 'vitest';
import type { ArtifactSelection } from '../../src/control/artifactContract.ts';
import { foundText, type Selector } from '../../src/extension/documents/foundText.ts';
import { ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { textContent } from '../../src/results/envelope/partContent.ts';
import { select } from '../../src/results/select/selectors.ts';
import { temporaryFolder } from '../support/workspace.ts';

/** Keeps a text that is searched in several answers, and returns how to select from it. */
async function kept(): Promise<(selector: Selector) => Promise<ArtifactSelection>> {
  const store = new ArtifactStore({ folder: temporaryFolder('wg-found-') });
  const lines = Array.from({ length: 200_000 }, (_, line) => `line ${line}: ${'x'.repeat(90)}`);
  const { handle } = await store.store({
    kind: 'text',
    source: 'erp:large',
    content: textContent(lines.join('\n')),
    mediaType: 'text/plain',
    label: 'text',
    owner: 'workspace',
  });
  return async (selector) => {
    const reader = await store.open(handle);
    if (!reader) throw new Error('not kept');
    const { text, next } = await select(reader, selector).finally(() => reader.close());
    return { text, ...(next && { next }) };
  };
}

it('shows what was found in a large result without empty lines for the parts before it', async () => {
  const text = await foundText(await kept(), { type: 'grep', pattern: 'line 19999[89]:', context: 0 });
  expect(text.split('\n').map((line) => line.slice(0, 20))).toEqual([
    '199998: line 199998:'.slice(0, 20),
    '199999: line 199999:'.slice(0, 20),
    '',
  ]);
});

it('says that nothing was found in any part of a large result', async () => {
  expect(await foundText(await kept(), { type: 'grep', pattern: 'line [a-z]+:' })).toBe('Nothing was found.\n');
});
