import type { SecretStorage } from 'vscode';
import type { SecretAnswer, SecretQuestion } from '../control/contract.ts';

/** What the gateway may keep here: what sign-ins brought, and nothing else. */
const KEY = /^oauth-[0-9a-f]{32}$/;

/** Keeps the gateway's tokens in the editor's secret storage. */
export function secretKeeper(secrets: SecretStorage): (question: SecretQuestion) => Promise<SecretAnswer> {
  return async (question) => {
    if (!KEY.test(question.key)) return 'unavailable';
    switch (question.op) {
      case 'get': {
        const value = await secrets.get(question.key);
        return value === undefined ? {} : { value };
      }
      case 'set':
        await secrets.store(question.key, question.value);
        return {};
      case 'delete':
        await secrets.delete(question.key);
        return {};
    }
  };
}
