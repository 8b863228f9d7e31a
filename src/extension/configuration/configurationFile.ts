import { lstatSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isAbsent, MAX_CONFIG_BYTES, readBounded } from '../../lib/readBounded.ts';
import { configurationHash } from '../gateway/serverDefinition.ts';
import { Observable } from '../observable.ts';

/** `hash` is undefined if the file is absent; `known` is false until the file has been checked. */
export interface ConfigurationState {
  known: boolean;
  hash: string | undefined;
}

/** Workspace that has the file. Nothing of an untrusted workspace is read. */
export interface WorkspaceOfFile {
  folder: string;
  isTrusted(): boolean;
}

/** Watches the presence and content of a `waygate.json` for the editor. */
export class ConfigurationFile {
  readonly state = new Observable<ConfigurationState>(
    { known: false, hash: undefined },
    (a, b) => a.known === b.known && a.hash === b.hash,
  );

  readonly path: string;
  readonly #of: WorkspaceOfFile | undefined;
  #looking: Promise<ConfigurationState>;

  constructor(path: string, of?: WorkspaceOfFile) {
    this.path = path;
    this.#of = of;
    this.#looking = Promise.resolve(this.state.value);
  }

  /** Checks the file again. Checks run one after the other, so that an older result never overwrites a newer one. */
  check(): Promise<ConfigurationState> {
    this.#looking = this.#looking.then(async () => {
      this.state.set({ known: true, hash: readHash(this.path, this.#of) });
      return this.state.value;
    });
    return this.#looking;
  }

  /** Writes the template unless a file exists; returns true if it was written. */
  async create(): Promise<boolean> {
    await mkdir(dirname(this.path), { recursive: true });
    try {
      await writeFile(this.path, CONFIGURATION_TEMPLATE, { flag: 'wx' });
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    } finally {
      await this.check();
    }
  }
}

/** Combines two files. A single file keeps its own hash, so that the absence of the other changes nothing. */
export function together(own: ConfigurationState, workspace: ConfigurationState): ConfigurationState {
  const hashes = [own.hash, workspace.hash].filter((hash) => hash !== undefined);
  return {
    known: own.known && workspace.known,
    hash: hashes.length < 2 ? hashes[0] : configurationHash(Buffer.from(hashes.join())),
  };
}

function readHash(path: string, of: WorkspaceOfFile | undefined): string | undefined {
  if (of && !of.isTrusted()) return lstatSync(path, { throwIfNoEntry: false }) && 'unread';
  try {
    return configurationHash(readBounded(path, { maxBytes: MAX_CONFIG_BYTES, within: of?.folder }));
  } catch (error) {
    // The worker reports to the user why a file cannot be read.
    return isAbsent(error, path) ? undefined : 'unreadable';
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Text that *Create Configuration* writes: valid as it is, with hints on more keys. */
export const CONFIGURATION_TEMPLATE = `{
  // The MCP servers behind Waygate. Your agent sees three tools and finds what it needs through them.
  "servers": {
    // A server is a program that speaks MCP on its standard input and output:
    //
    // "files": {
    //   "command": "npx",
    //   "args": ["-y", "@modelcontextprotocol/server-filesystem", "\${workspaceFolder}"]
    // }
    //
    // It may also have "env", "envFile", "cwd", and "disabled": true.
  },
  // Arguments that a model sends in the wrong form ("3" for 3) are repaired where their meaning is plain.
  "tolerantArgs": true
}
`;
