import { editorReferences } from '../references.ts';
import { type ClientSource, parseJson, readJsonServers } from '../sourceFile.ts';
import { inHome, inWorkspace } from '../surroundings.ts';

export const cursor: ClientSource = {
  id: 'cursor',
  title: 'Cursor',

  places(at) {
    return [
      { file: inWorkspace(at, '.cursor', 'mcp.json'), scope: 'workspace', title: 'Cursor' },
      { file: inHome(at, '.cursor', 'mcp.json'), scope: 'user', title: 'Cursor' },
    ];
  },

  parse(text, scope) {
    return {
      ...readJsonServers(parseJson(text), { path: ['mcpServers'], references: editorReferences, scope }),
      inputs: [],
    };
  },
};
