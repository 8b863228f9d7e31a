import type { RawServer } from '../readEntry.ts';
import { bracedReferences } from '../references.ts';
import { jsonClient } from '../sourceFile.ts';
import { inWorkspace, movable } from '../surroundings.ts';

/** Copilot CLI: `type: "local"` means stdio, and `tools: ["*"]` is the default. */
export const copilotCli = jsonClient({
  id: 'copilot-cli',
  title: 'Copilot CLI',
  files: (at) => ({
    workspace: inWorkspace(at, '.github', 'mcp.json'),
    user: movable(at, 'COPILOT_HOME', ['.copilot'], 'mcp-config.json'),
  }),
  table: () => ({ path: ['mcpServers'], references: bracedReferences, normalise }),
});

function normalise({ tools, ...raw }: RawServer): { raw: RawServer } {
  return { raw: Array.isArray(tools) && tools.length === 1 && tools[0] === '*' ? raw : { ...raw, tools } };
}
