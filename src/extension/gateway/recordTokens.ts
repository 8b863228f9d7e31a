import type * as vscode from 'vscode';
import { notificationText } from '../notificationText.ts';
import { input, notify } from '../windows.ts';
import { RECORDS_LABEL } from './recordsDefinition.ts';

/** Prefix of the tokens, by the origin of their provider. Servers of the gateway get none of them. */
const PREFIX = 'waygate.records.token.';

/** Client tokens of record providers in the secret storage of the editor. A token is given to its own origin alone. */
export class RecordTokens {
  readonly #storage: vscode.SecretStorage;
  /** Open question per key: the editor may start a server again while it waits. */
  readonly #asked = new Map<string, Promise<string | undefined>>();

  constructor(storage: vscode.SecretStorage) {
    this.#storage = storage;
  }

  /** Returns the token for a provider. Asks for one if none is kept; undefined if the user gives none. */
  async tokenFor(url: string): Promise<string | undefined> {
    const key = keyOf(url);
    if (key === undefined) return undefined;
    return (await this.#storage.get(key)) ?? (await this.#ask(key, url));
  }

  /** Asks for a token and keeps it in place of the present one. */
  async replace(url: string): Promise<void> {
    const key = keyOf(url);
    if (key === undefined) {
      const setting = 'waygate.records.providerUrl';
      void notify(
        'warning',
        notificationText`Set ${setting} to the address of a record provider first. The records of this machine need no token.`,
      );
      return;
    }
    if ((await this.#ask(key, url)) === undefined) return;
    void notify(
      'info',
      notificationText`Restart the server ${RECORDS_LABEL} (MCP: List Servers) to use the new token.`,
    );
  }

  #ask(key: string, url: string): Promise<string | undefined> {
    const asked = this.#asked.get(key) ?? this.#askNow(key, url).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  async #askNow(key: string, url: string): Promise<string | undefined> {
    const token = await input({
      title: notificationText`Token of ${RECORDS_LABEL}`,
      prompt: notificationText`Client token of a grant at ${new URL(url).host}. Not that of an owner, which is refused. Kept in the secret storage of this editor.`,
      password: true,
    });
    if (token === undefined || token.trim() === '') return undefined;
    await this.#storage.store(key, token.trim());
    return token.trim();
  }
}

function keyOf(url: string): string | undefined {
  return URL.canParse(url) ? PREFIX + new URL(url).origin : undefined;
}
