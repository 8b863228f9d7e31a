import type * as vscode from 'vscode';
import type { MissingSecret, SecretAnswer, SecretRequest } from '../../control/contract.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { asSentence } from '../plainText.ts';
import { input, pick } from '../windows.ts';

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
    const title = notificationText`Secret ${name.replace(/^input:/, '')} of the server ${server}`;
    const kept = t`Kept in the secret storage of this editor, and in no file of the workspace.`;
    const prompt = notificationText`${description === '' ? '' : asSentence(description)} ${kept}`;
    const choices = options.map((value) => ({ label: notificationText`${value}`, value }));
    const value =
      choices.length > 0
        ? (await pick(choices, { title, placeHolder: prompt, ignoreFocusOut: true }))?.value
        : await input({ title, prompt, password });
    if (value === undefined || value === '') return false;
    await this.keep(key, value);
    return true;
  }

  /** Returns the keys of all kept values. */
  async names(): Promise<string[]> {
    const keys = await this.#storage.keys();
    return keys.filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
  }

  async keep(key: string, value: string): Promise<void> {
    await this.#storage.store(PREFIX + key, value);
  }
}
