import * as vscode from 'vscode';
import type { MissingSecret, SecretAnswer, SecretRequest } from '../../control/contract.ts';
import { oneLine } from '../../text/porcelain.ts';

/** Prefix of the gateway's secrets, which keeps the extension's other secrets out of its reach. */
const PREFIX = 'waygate.secret.';

/** Secret store of the editor, which the gateway of this window queries. */
export class EditorSecrets {
  readonly #storage: vscode.SecretStorage;

  constructor(storage: vscode.SecretStorage) {
    this.#storage = storage;
  }

  readonly answer = async (request: SecretRequest): Promise<SecretAnswer> => {
    const key = PREFIX + request.key;
    switch (request.op) {
      case 'get':
        return { kept: true, value: await this.#storage.get(key) };
      case 'set':
        await this.#storage.store(key, request.value);
        return { kept: true };
      case 'delete':
        await this.#storage.delete(key);
        return { kept: true };
    }
  };

  /** Asks the user once; resolves to whether a value was entered. */
  async ask(server: string, { key, name, description, password, options }: MissingSecret): Promise<boolean> {
    const title = oneLine(`Waygate: ${name.replace(/^input:/, '')} for ${server}`);
    const hint = oneLine(description);
    const value =
      options.length > 0
        ? await vscode.window.showQuickPick([...options], { title, placeHolder: hint, ignoreFocusOut: true })
        : await vscode.window.showInputBox({ title, prompt: hint, password, ignoreFocusOut: true });
    if (value === undefined || value === '') return false;
    await this.keep(key, value);
    return true;
  }

  async keep(key: string, value: string): Promise<void> {
    await this.#storage.store(PREFIX + key, value);
  }
}
