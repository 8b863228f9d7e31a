import { editorReferences } from '../references.ts';
import { jsonClient } from '../sourceFile.ts';
import { inHome, inWorkspace } from '../surroundings.ts';

export const cursor = jsonClient({
  id: 'cursor',
  title: 'Cursor',
  files: (at) => ({ workspace: inWorkspace(at, '.cursor', 'mcp.json'), user: inHome(at, '.cursor', 'mcp.json') }),
  table: () => ({ path: ['mcpServers'], references: editorReferences }),
});
