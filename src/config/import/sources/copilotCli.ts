import type { RawServer } from '../readEntry.ts';
import { bracedReferences } from '../references.ts';
import { type ClientSource, parseJson, readJsonServers } from '../sourceFile.ts';
import { inHome, inWorkspace, joinPath } from '../surroundings.ts';

/** Copilot CLI: `type: "local"` is stdio, and `tools: ["*"]` says what is so anyway. */
export const copilotCli: ClientSource = {
  id: 'copilot-cli',
  title: 'Copilot CLI',

  places(at) {
    const own = at.env['COPILOT_HOME'];
    return [
      { file: inWorkspace(at, '.github', 'mcp.json'), scope: 'workspace', title: 'Copilot CLI' },
      {
        file: own ? joinPath(at, own, 'mcp-config.json') : inHome(at, '.copilot', 'mcp-config.json'),
        scope: 'user',
        title: 'Copilot CLI',
      },
    ];
  },

  parse(text, scope) {
    const normalise = ({ tools, ...raw }: RawServer) => ({
      raw: Array.isArray(tools) && tools.length === 1 && tools[0] === '*' ? raw : { ...raw, tools },
    });
    const table = { path: ['mcpServers'], references: bracedReferences, scope, normalise };
    return { ...readJsonServers(parseJson(text), table), inputs: [] };
  },
};
