import { editorReferences } from '../references.ts';
import { type ClientSource, parseJson, readJsonServers } from '../sourceFile.ts';
import { inHome } from '../surroundings.ts';

/** Windsurf calls a server's URL `serverUrl`. */
export const windsurf: ClientSource = {
  id: 'windsurf',
  title: 'Windsurf',

  places(at) {
    return [{ file: inHome(at, '.codeium', 'windsurf', 'mcp_config.json'), scope: 'user', title: 'Windsurf' }];
  },

  parse(text, scope) {
    const normalise = ({ serverUrl, ...raw }: Readonly<Record<string, unknown>>) => ({
      raw: serverUrl === undefined ? raw : { ...raw, url: serverUrl },
    });
    const table = { path: ['mcpServers'], references: editorReferences, scope, normalise };
    return { ...readJsonServers(parseJson(text), table), inputs: [] };
  },
};
