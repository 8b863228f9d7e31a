import { INPUT_PREFIX, type SecretSource } from '../../config/secretReferences.ts';
import { FileSecrets, secretKey } from '../../config/state/fileSecrets.ts';
import type { SecretAnswer, SecretRequest } from '../../control/contract.ts';
import { knownSecrets } from '../../secrets/mask.ts';

const STORED = 'stored ';

/** Returns the name of a stored secret that owns a known value. */
export function storedName(owner: string): string | undefined {
  return owner.startsWith(STORED) ? owner.slice(STORED.length) : undefined;
}

/** Stores secrets in an attached editor's own store, or in a private file of the state folder without one. */
export class SharedSecrets implements SecretSource {
  readonly #file: FileSecrets;
  readonly #askEditor: (request: SecretRequest) => Promise<SecretAnswer>;
  readonly #keyOf: (name: string) => string;

  constructor(root: string, workspace: string, askEditor: (request: SecretRequest) => Promise<SecretAnswer>) {
    this.#file = new FileSecrets(root, workspace);
    this.#askEditor = askEditor;
    this.#keyOf = (name) => secretKey(name, workspace, root);
  }

  /**
   * Masks the secrets of the file, and keeps them from servers, before a server is given them. An editor's store cannot
   * be listed.
   */
  async learnStored(): Promise<void> {
    for (const name of this.#file.names()) {
      if (name.startsWith(INPUT_PREFIX)) continue;
      const value = await this.#file.get(name);
      if (value !== undefined) knownSecrets.learn(STORED + name, [value]);
    }
  }

  async get(name: string): Promise<string | undefined> {
    const { value } = await this.#askEditor({ op: 'get', key: this.#keyOf(name) });
    return value ?? this.#file.get(name);
  }

  async set(name: string, value: string): Promise<void> {
    const { kept } = await this.#askEditor({ op: 'set', key: this.#keyOf(name), value });
    if (!kept) this.#file.set(name, value);
    // An older value in the file would return once the editor has detached.
    else this.#file.delete(name);
  }

  async delete(name: string): Promise<void> {
    await this.#askEditor({ op: 'delete', key: this.#keyOf(name) });
    this.#file.delete(name);
  }
}
