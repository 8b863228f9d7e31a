import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { userConfigFile } from '../../config/state/stateFolder.ts';
import { CONFIGURATION_PATH, type SettingId } from '../contributions.ts';
import type { Conditions } from '../gateway/linkMachine.ts';
import { debounced } from '../gateway/pacing.ts';
import { Observable } from '../observable.ts';
import { readSetting } from '../registrations.ts';
import { ConfigurationFile, type ConfigurationState, together } from './configurationFile.ts';
import { AGENT_SETTINGS, type AgentSettings, type PolicyBlock, policyBlock } from './policy.ts';

/** Workspace, trust and settings, as the editor decides them. */
export interface Surroundings {
  workspace: string | undefined;
  trusted: boolean;
  configuration: ConfigurationState;
  nodePath: string;
  policy: PolicyBlock | undefined;
}

/** Editors save in several steps, and a branch switch touches many files. */
const QUIET_MS = 250;

const NODE_PATH: SettingId = 'waygate.gateway.nodePath';

/** Watches the workspace, its trust, its configuration and the settings. Starts no process. */
export class Environment implements vscode.Disposable {
  readonly state: Observable<Surroundings>;

  #file: ConfigurationFile | undefined;
  #watchingFile: vscode.Disposable | undefined;
  #firstCheck: Promise<unknown>;
  /** The user's own configuration, for every workspace. */
  readonly #own = new ConfigurationFile(userConfigFile());
  readonly #disposables: vscode.Disposable[];

  constructor() {
    this.#file = this.#watchFile();
    this.state = new Observable(this.#read(), (a, b) => JSON.stringify(a) === JSON.stringify(b));
    this.#firstCheck = Promise.all([this.#own.check(), this.#file?.check()]);
    const update = (): void => this.state.set(this.#read());
    this.#disposables = [
      this.#watch(
        this.#own,
        new vscode.RelativePattern(vscode.Uri.file(dirname(this.#own.path)), basename(this.#own.path)),
      ),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        void this.#file?.check();
        update();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if ([NODE_PATH, ...AGENT_SETTINGS].some((id) => event.affectsConfiguration(id))) update();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        if (firstLocalFolder() === this.state.value.workspace) return;
        this.#file = this.#watchFile();
        this.#firstCheck = Promise.all([this.#own.check(), this.#file?.check()]);
        update();
      }),
    ];
  }

  get conditions(): Conditions {
    const { workspace, trusted, configuration } = this.state.value;
    const presence = configuration.hash === undefined ? 'absent' : 'present';
    return { workspace, trusted, configuration: configuration.known ? presence : 'unknown' };
  }

  get configurationFile(): ConfigurationFile | undefined {
    return this.#file;
  }

  /** Resolves once the configuration has been checked. */
  async settled(): Promise<Surroundings> {
    await this.#firstCheck;
    return this.state.value;
  }

  dispose(): void {
    this.#watchingFile?.dispose();
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #read(): Surroundings {
    return {
      workspace: firstLocalFolder(),
      trusted: vscode.workspace.isTrusted,
      configuration: together(this.#own.state.value, this.#file?.state.value ?? { known: true, hash: undefined }),
      nodePath: readSetting(NODE_PATH) ?? '',
      policy: policyBlock(agentSettings()),
    };
  }

  #watchFile(): ConfigurationFile | undefined {
    this.#watchingFile?.dispose();
    this.#watchingFile = undefined;
    const workspace = firstLocalFolder();
    if (workspace === undefined) return undefined;
    const file = new ConfigurationFile(join(workspace, CONFIGURATION_PATH), {
      folder: workspace,
      isTrusted: () => vscode.workspace.isTrusted,
    });
    // Uses a pattern relative to the workspace, because the folder may not exist yet.
    this.#watchingFile = this.#watch(file, new vscode.RelativePattern(vscode.Uri.file(workspace), CONFIGURATION_PATH));
    return file;
  }

  #watch(file: ConfigurationFile, pattern: vscode.RelativePattern): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    const check = debounced(QUIET_MS, () => void file.check());
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(check),
      watcher.onDidChange(check),
      watcher.onDidDelete(check),
      check,
      file.state.onChange(() => this.state.set(this.#read())),
    );
  }
}

/** Returns the first folder on a real disk: programs cannot run in a virtual file system. */
function firstLocalFolder(): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0];
  return folder?.uri.scheme === 'file' ? folder.uri.fsPath : undefined;
}

function agentSettings(): AgentSettings {
  const all = vscode.workspace.getConfiguration();
  return {
    'chat.mcp.access': all.get('chat.mcp.access'),
    'chat.mcp.enabled': all.get('chat.mcp.enabled'),
    'chat.agent.enabled': all.get('chat.agent.enabled'),
  };
}
