import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { userConfigFile } from '../../config/state/stateFolder.ts';
import { CONFIGURATION_PATH, type SettingId } from '../contributions.ts';
import type { Conditions } from '../gateway/linkMachine.ts';
import { debounced } from '../gateway/pacing.ts';
import { Observable } from '../observable.ts';
import { readSetting } from '../registrations.ts';
import { ConfigurationFile, type ConfigurationState, together } from './configurationFile.ts';
import { AGENT_SETTINGS, type AgentSettings, type PolicyBlock, policyBlock } from './policy.ts';

/** Folder, trust and settings, as the editor decides them. */
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
const RECORDS_URL: SettingId = 'waygate.records.providerUrl';

/** State of the window that all its folders share. */
interface WindowState extends Pick<Surroundings, 'trusted' | 'nodePath' | 'policy'> {
  /** The user's own configuration. */
  own: ConfigurationState;
  /** Address of the record provider, empty by default. */
  recordsUrl: string;
}

/** Watches the trust, the settings and the user's own configuration. Starts no process. */
export class WindowEnvironment implements vscode.Disposable {
  readonly state: Observable<WindowState>;
  readonly firstCheck: Promise<unknown>;
  readonly #own = new ConfigurationFile(userConfigFile());
  readonly #watching: vscode.Disposable;

  constructor() {
    this.state = new Observable(this.#read(), isDeepStrictEqual);
    this.firstCheck = this.#own.check();
    const update = (): void => this.state.set(this.#read());
    const folder = vscode.Uri.file(dirname(this.#own.path));
    this.#watching = vscode.Disposable.from(
      watchFile(this.#own, new vscode.RelativePattern(folder, basename(this.#own.path))),
      this.#own.state.onChange(update),
      vscode.workspace.onDidGrantWorkspaceTrust(update),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if ([NODE_PATH, RECORDS_URL, ...AGENT_SETTINGS].some((id) => event.affectsConfiguration(id))) update();
      }),
    );
  }

  dispose(): void {
    this.#watching.dispose();
  }

  #read(): WindowState {
    return {
      trusted: vscode.workspace.isTrusted,
      nodePath: readSetting(NODE_PATH) ?? '',
      policy: policyBlock(agentSettings(), acceptsServers()),
      own: this.#own.state.value,
      recordsUrl: readSetting(RECORDS_URL) ?? '',
    };
  }
}

/** Watches the configuration of a folder. */
export class Environment implements vscode.Disposable {
  readonly state: Observable<Surroundings>;
  readonly configurationFile: ConfigurationFile | undefined;
  readonly #window: WindowEnvironment;
  readonly #folder: string | undefined;
  readonly #isFirst: boolean;
  readonly #firstCheck: Promise<unknown>;
  readonly #watching: vscode.Disposable;

  /**
   * `folder` is undefined if none is open on a real disk. The user's own configuration alone makes only the first
   * folder have a gateway: each would start the same servers.
   */
  constructor(window: WindowEnvironment, folder: string | undefined, isFirst: boolean) {
    this.#window = window;
    this.#folder = folder;
    this.#isFirst = isFirst;
    const file =
      folder === undefined
        ? undefined
        : new ConfigurationFile(join(folder, CONFIGURATION_PATH), {
            folder,
            isTrusted: () => vscode.workspace.isTrusted,
          });
    this.configurationFile = file;
    this.state = new Observable(this.#read(), isDeepStrictEqual);
    this.#firstCheck = Promise.all([window.firstCheck, file?.check()]);
    const update = (): void => this.state.set(this.#read());
    this.#watching = vscode.Disposable.from(
      window.state.onChange(update),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void file?.check()),
      ...(file === undefined || folder === undefined
        ? []
        : [
            // Uses a pattern relative to the folder, because the file's own may not exist yet.
            watchFile(file, new vscode.RelativePattern(vscode.Uri.file(folder), CONFIGURATION_PATH)),
            file.state.onChange(update),
          ]),
    );
  }

  get conditions(): Conditions {
    const { workspace, trusted, configuration } = this.state.value;
    const presence = configuration.hash === undefined ? 'absent' : 'present';
    return { workspace, trusted, configuration: configuration.known ? presence : 'unknown' };
  }

  /** Resolves once the configuration has been checked. */
  async settled(): Promise<Surroundings> {
    await this.#firstCheck;
    return this.state.value;
  }

  dispose(): void {
    this.#watching.dispose();
  }

  #read(): Surroundings {
    const { own, ...window } = this.#window.state.value;
    const file = this.configurationFile?.state.value ?? { known: true, hash: undefined };
    const isServed = this.#isFirst || file.hash !== undefined;
    return { workspace: this.#folder, ...window, configuration: isServed ? together(own, file) : file };
  }
}

function watchFile(file: ConfigurationFile, pattern: vscode.RelativePattern): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher(pattern);
  const check = debounced(QUIET_MS, () => void file.check());
  return vscode.Disposable.from(
    watcher,
    watcher.onDidCreate(check),
    watcher.onDidChange(check),
    watcher.onDidDelete(check),
    check,
  );
}

/** Reports whether the editor has the part of VS Code's API that takes MCP servers. */
export function acceptsServers(): boolean {
  return (
    typeof vscode.lm?.registerMcpServerDefinitionProvider === 'function' &&
    typeof vscode.McpStdioServerDefinition === 'function'
  );
}

function agentSettings(): AgentSettings {
  const all = vscode.workspace.getConfiguration();
  return {
    'chat.mcp.access': all.get('chat.mcp.access'),
    'chat.mcp.enabled': all.get('chat.mcp.enabled'),
    'chat.agent.enabled': all.get('chat.agent.enabled'),
  };
}
