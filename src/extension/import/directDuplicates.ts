import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { Environment } from '../configuration/environment.ts';
import { debounced, type Paced } from '../gateway/pacing.ts';
import { Observable } from '../observable.ts';

const QUIET_MS = 300;
const WORKSPACE_FILE = '.vscode/mcp.json';
const USER_FILE = 'mcp.json';

/**
 * Follows the servers that VS Code starts itself although Waygate has them. With many direct tools, Copilot hides tools
 * of Waygate, and each such server runs twice.
 */
export class DirectDuplicates {
  /** Names in VS Code's configuration. */
  readonly names = new Observable<readonly string[]>([], isDeepStrictEqual);
  readonly #environment: Environment;
  readonly #userFolder: string;
  readonly #log: vscode.LogOutputChannel;
  readonly #look: Paced;
  readonly #watching: vscode.Disposable[];
  #workspace: vscode.Disposable | undefined;
  #watched: string | undefined;

  /** `userFolder` holds the user's own files of this editor and profile. */
  constructor(environment: Environment, userFolder: string, log: vscode.LogOutputChannel) {
    this.#environment = environment;
    this.#userFolder = userFolder;
    this.#log = log;
    this.#look = debounced(QUIET_MS, () => void this.#find());
    this.#watching = [
      environment.state.onChange(() => this.#follow()),
      this.#watch(vscode.Uri.file(userFolder), USER_FILE),
      this.#look,
    ];
    this.#follow();
  }

  dispose(): void {
    for (const one of [...this.#watching, this.#workspace]) one?.dispose();
  }

  #follow(): void {
    const { workspace } = this.#environment.state.value;
    if (workspace !== this.#watched) {
      this.#workspace?.dispose();
      this.#workspace = workspace === undefined ? undefined : this.#watch(vscode.Uri.file(workspace), WORKSPACE_FILE);
      this.#watched = workspace;
    }
    this.#look();
  }

  #watch(folder: vscode.Uri, file: string): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, file));
    const look = (): void => this.#look();
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(look),
      watcher.onDidChange(look),
      watcher.onDidDelete(look),
    );
  }

  async #find(): Promise<void> {
    const { workspace, trusted } = this.#environment.state.value;
    const file = this.#environment.configurationFile?.path;
    const mayHaveSome =
      workspace !== undefined &&
      file !== undefined &&
      trusted &&
      existsSync(file) &&
      [join(workspace, WORKSPACE_FILE), join(this.#userFolder, USER_FILE)].some((one) => existsSync(one));
    if (!mayHaveSome) return this.names.set([]);
    try {
      // Loaded only where a file of VS Code exists.
      const { directDuplicates } = await import('./importServers.ts');
      this.names.set(directDuplicates(file, workspace, this.#userFolder));
    } catch (error) {
      // An unreadable configuration has a report of its own.
      this.#log.debug('The servers of VS Code could not be compared.', error);
    }
  }
}
