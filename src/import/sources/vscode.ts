import type { RawServer } from '../readEntry.ts';
import { editorReferences } from '../references.ts';
import { type ClientSource, parseJson, readEditorInputs, readJsonServers, valueAt } from '../sourceFile.ts';
import { applicationData, inHome, inWorkspace, joinPath, type Place, type Surroundings } from '../surroundings.ts';

/** Editors of the VS Code family, with the folder of their data. */
const EDITORS: readonly [title: string, folder: string][] = [
  ['VS Code', 'Code'],
  ['VS Code Insiders', 'Code - Insiders'],
  ['VSCodium', 'VSCodium'],
];

/** VS Code: `servers` and `inputs` of the workspace, of the user, and of each of the user's profiles. */
export const vscode: ClientSource = {
  id: 'vscode',
  title: 'VS Code',

  places(at) {
    return [
      { file: inWorkspace(at, '.vscode', 'mcp.json'), scope: 'workspace', title: 'VS Code' },
      ...userFolders(at).flatMap(([title, folder]) => ofUser(at, title, folder)),
    ];
  },

  parse(text, scope) {
    const root = parseJson(text);
    // A file copied from another client keeps that client's key.
    const key = valueAt(root, ['servers']) === undefined ? 'mcpServers' : 'servers';
    // An older form has one `sandbox` for all servers of the file.
    const sandbox = valueAt(root, ['sandbox']);
    const normalise = (raw: RawServer) => ({ raw: sandbox && raw.sandboxEnabled === true ? { sandbox, ...raw } : raw });
    const silent = ['gallery', 'version'];
    return {
      ...readJsonServers(root, { path: [key], references: editorReferences, scope, normalise, silent }),
      inputs: readEditorInputs(valueAt(root, ['inputs'])),
    };
  },
};

/** Returns the folders of the user's data of every such editor, with its title. */
export function userFolders(at: Surroundings): [title: string, folder: string][] {
  return [
    ...EDITORS.map(([title, folder]): [string, string] => [title, joinPath(at, applicationData(at), folder, 'User')]),
    ['code-server', inHome(at, '.local', 'share', 'code-server', 'User')],
    ['VS Code Server', inHome(at, '.vscode-server', 'data', 'User')],
    ...(at.editorFolder === undefined ? [] : [['VS Code', at.editorFolder] as [string, string]]),
  ];
}

function ofUser(at: Surroundings, title: string, folder: string): Place[] {
  const profiles = joinPath(at, folder, 'profiles');
  return [
    { file: joinPath(at, folder, 'mcp.json'), scope: 'user', title },
    ...at.subfolders(profiles).map((profile): Place => {
      const file = joinPath(at, profiles, profile, 'mcp.json');
      return { file, scope: 'user', title: `${title} (profile ${profile})` };
    }),
  ];
}
