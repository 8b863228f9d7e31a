// Runs in the profile of npm start alone, so that the product has no code for the demo.

const vscode = require('vscode');

const SHOWN = 'shown';

/** @param {import('vscode').ExtensionContext} context */
exports.activate = async (context) => {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined || context.globalState.get(SHOWN)) return;
  await context.globalState.update(SHOWN, true);
  const run = vscode.commands.executeCommand;
  await run('waygate.tools.focus');
  await run('markdown.showPreview', vscode.Uri.joinPath(folder.uri, 'README.md'));
  await run('waygate.openDashboard');
  await run('workbench.action.moveEditorToRightGroup');
};
