import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildCatalog } from '../../src/catalog/catalog.ts';
import type { RankExplanation } from '../../src/ranking/explanation.ts';
import { buildRankIndex, explainRanking } from '../../src/ranking/rankIndex.ts';
import { waygate } from '../support/census.ts';
import { testWorkspace } from '../support/workspace.ts';

const TOOLS = [
  { name: 'send_letter', description: 'Post an epistle to a recipient.', inputSchema: { type: 'object' } },
  { name: 'erase_file', description: 'Take a document away for good.', inputSchema: { type: 'object' } },
  { name: 'plan_meeting', description: 'Arrange an appointment of several people.', inputSchema: { type: 'object' } },
  { name: 'draw_chart', description: 'Make a diagram of figures.', inputSchema: { type: 'object' } },
];

/** Returns the meanings that raised each tool, by name. */
function meanings({ hits }: RankExplanation): Record<string, readonly unknown[]> {
  return Object.fromEntries(
    hits.map(({ toolId, contributions }) => [
      toolId.replace(/#.*/, ''),
      contributions.filter(({ from }) => from === 'meaning'),
    ]),
  );
}

it('ranks in the shipped worker like in the sources, with the same vocabulary', async () => {
  const workspace = testWorkspace();
  const file = join(workspace.folder, 'tools.json');
  writeFileSync(file, JSON.stringify({ tools: TOOLS.map(({ name, ...tool }) => ({ name: `desk.${name}`, ...tool })) }));
  const { tools, servers } = buildCatalog([{ server: 'desk', tools: TOOLS }]);
  const index = buildRankIndex(tools, servers);
  for (const query of ['remove a pdf', 'dispatch mail', 'visualize statistics', 'schedule a conference']) {
    const expected = meanings(explainRanking(index, query, { topK: 10 }));
    expect(Object.values(expected).flat()).not.toEqual([]);
    const { stdout } = await waygate(workspace, ['browse', query, '--explain', '--json', '--catalog', file]);
    expect(meanings(JSON.parse(stdout) as RankExplanation)).toEqual(expected);
  }
});
