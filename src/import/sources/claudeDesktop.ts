import { noReferences } from '../references.ts';
import { jsonClient } from '../sourceFile.ts';
import { applicationData, joinPath } from '../surroundings.ts';

export const claudeDesktop = jsonClient({
  id: 'claude-desktop',
  title: 'Claude Desktop',
  files: (at) => ({ user: joinPath(at, applicationData(at), 'Claude', 'claude_desktop_config.json') }),
  table: () => ({ path: ['mcpServers'], references: noReferences }),
});
