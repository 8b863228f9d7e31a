import { noReferences } from '../references.ts';
import { type ClientSource, parseJson, readJsonServers } from '../sourceFile.ts';
import { applicationData, joinPath } from '../surroundings.ts';

export const claudeDesktop: ClientSource = {
  id: 'claude-desktop',
  title: 'Claude Desktop',

  places(at) {
    const file = joinPath(at, applicationData(at), 'Claude', 'claude_desktop_config.json');
    return [{ file, scope: 'user', title: 'Claude Desktop' }];
  },

  parse(text, scope) {
    return {
      ...readJsonServers(parseJson(text), { path: ['mcpServers'], references: noReferences, scope }),
      inputs: [],
    };
  },
};
