import { basename, join } from 'node:path';
import { RefusedFile, readOwnText } from '../../lib/readBounded.ts';
import { INPUT_PREFIX, type SecretSource } from '../secretReferences.ts';
import { readPrivateJson, writePrivateJson } from './privateFile.ts';
import { ensurePrivateFolder, StateFolderError, workspaceStateFolder } from './stateFolder.ts';

const FILE = 'secrets.json';

/**
 * Stores secrets in a file with mode 0600 in the state folder, for hosts without an editor's secret storage. Secrets
 * belong to the user, inputs to one workspace.
 */
export class FileSecrets implements SecretSource {
  readonly file: string;
  readonly #root: string;
  readonly #workspace: string;

  constructor(root: string, workspace: string) {
    this.#root = root;
    this.file = join(root, FILE);
    this.#workspace = workspace;
  }

  async get(name: string): Promise<string | undefined> {
    return this.#read().get(this.#keyOf(name));
  }

  set(name: string, value: string): void {
    this.#write(this.#read().set(this.#keyOf(name), value));
  }

  delete(name: string): boolean {
    const values = this.#read();
    const found = values.delete(this.#keyOf(name));
    if (found) this.#write(values);
    return found;
  }

  /** Returns the names that apply here: all secrets, and the inputs of this workspace. */
  names(): string[] {
    const here = workspaceKey(this.#workspace, this.#root);
    return [...this.#read().keys()]
      .flatMap((key) => {
        const [name, owner] = key.split('@') as [string, string | undefined];
        return owner === undefined || owner === here ? [name] : [];
      })
      .sort();
  }

  #keyOf(name: string): string {
    return secretKey(name, this.#workspace, this.#root);
  }

  #read(): Map<string, string> {
    const content = readPrivateJson(this.file);
    if (typeof content !== 'object' || content === null) return new Map();
    return new Map(Object.entries(content).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  }

  /** Throws if the values of a file that is not believed would get lost. */
  #assertOwn(): void {
    try {
      readOwnText(this.file);
    } catch (error) {
      if (!(error instanceof RefusedFile)) return;
      throw new StateFolderError(
        `${this.file} is not used: ${error.message}; make it yours with the mode 600, or remove it.`,
      );
    }
  }

  #write(values: ReadonlyMap<string, string>): void {
    ensurePrivateFolder(this.#root);
    this.#assertOwn();
    writePrivateJson(this.file, Object.fromEntries(values));
  }
}

/** Returns the storage key of a secret or input. */
export function secretKey(name: string, workspace: string, root: string): string {
  return name.startsWith(INPUT_PREFIX) ? `${name}@${workspaceKey(workspace, root)}` : name;
}

function workspaceKey(workspace: string, root: string): string {
  return basename(workspaceStateFolder(workspace, root));
}
