import * as vscode from 'vscode';

const UNCHANGED = new vscode.EventEmitter<vscode.FileChangeEvent[]>();

/** Registers the read-only documents below `waygate:/questions/`. `textOf` returns undefined if the question is over. */
export function registerQuestionDocuments(textOf: (path: string) => string | undefined): vscode.Disposable {
  const bytesOf = (uri: vscode.Uri): Uint8Array => {
    const text = textOf(uri.path);
    if (text === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return Buffer.from(text);
  };
  const refuse = (uri: vscode.Uri): never => {
    throw vscode.FileSystemError.NoPermissions(uri);
  };
  return vscode.workspace.registerFileSystemProvider(
    'waygate',
    {
      onDidChangeFile: UNCHANGED.event,
      watch: () => new vscode.Disposable(() => undefined),
      stat: (uri) => ({ type: vscode.FileType.File, ctime: 0, mtime: 0, size: bytesOf(uri).length }),
      readFile: bytesOf,
      readDirectory: () => [],
      createDirectory: refuse,
      writeFile: refuse,
      delete: refuse,
      rename: refuse,
    },
    { isReadonly: true, isCaseSensitive: true },
  );
}
