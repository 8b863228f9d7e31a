import type { RawServer } from '../readEntry.ts';
import { editorReferences } from '../references.ts';
import { jsonClient } from '../sourceFile.ts';
import { inHome } from '../surroundings.ts';

/** Windsurf names a server's URL `serverUrl`. */
export const windsurf = jsonClient({
  id: 'windsurf',
  title: 'Windsurf',
  files: (at) => ({ user: inHome(at, '.codeium', 'windsurf', 'mcp_config.json') }),
  table: () => ({ path: ['mcpServers'], references: editorReferences, normalise }),
});

function normalise({ serverUrl, ...raw }: RawServer): { raw: RawServer } {
  return { raw: serverUrl === undefined ? raw : { ...raw, url: serverUrl } };
}
