import { describe, expect, it } from 'vitest';
import { FileTokens } from '../../src/config/state/fileTokens.ts';
import type { SecretAnswer, SecretRequest } from '../../src/control/contract.ts';
import { scrubSecrets } from '../../src/secrets/mask.ts';
import { SharedTokens } from '../../src/worker/gateway/sharedTokens.ts';
import { temporaryFolder } from '../support/workspace.ts';

function kept() {
  const file = new FileTokens(temporaryFolder('wg-'));
  const editor = { values: new Map<string, string>(), here: true };
  const ask = async (request: SecretRequest): Promise<SecretAnswer> => {
    if (!editor.here) return { kept: false };
    if (request.op === 'set') editor.values.set(request.key, request.value);
    if (request.op === 'delete') editor.values.delete(request.key);
    return { kept: true, value: request.op === 'get' ? editor.values.get(request.key) : undefined };
  };
  return { file, editor, tokens: new SharedTokens(file, ask) };
}

describe('tokens of sign-ins', () => {
  it('are stored in the editor and not in a file', async () => {
    const { tokens, editor, file } = kept();
    await tokens.set('k', 'one');
    expect([editor.values.get('k'), await file.get('k'), await tokens.get('k')]).toEqual(['one', undefined, 'one']);
    await tokens.delete('k');
    expect([editor.values.get('k'), await tokens.get('k')]).toEqual([undefined, undefined]);
  });

  it('are stored in the file without an editor, and stay there', async () => {
    const { tokens, editor, file } = kept();
    editor.here = false;
    await tokens.set('k', 'one');
    editor.here = true;
    await tokens.set('k', 'two');
    expect([editor.values.get('k'), await file.get('k'), await tokens.get('k')]).toEqual([undefined, 'two', 'two']);
  });

  it('remain available without the editor, and a renewal meanwhile wins when it returns', async () => {
    const { tokens, editor } = kept();
    await tokens.set('k', 'one');
    editor.here = false;
    expect(await tokens.get('k')).toBe('one');
    await tokens.set('k', 'two');
    editor.here = true;
    expect(await tokens.get('k')).toBe('two');
    await tokens.delete('k');
    expect(await tokens.get('k')).toBeUndefined();
  });

  it('are deleted here after another window deleted them', async () => {
    const { tokens, editor } = kept();
    await tokens.set('k', 'one');
    editor.values.clear();
    expect(await tokens.get('k')).toBeUndefined();
    editor.here = false;
    expect(await tokens.get('k')).toBeUndefined();
  });

  it('are masked in every text of this process, old values included', async () => {
    const grant = (n: number, more = {}) =>
      JSON.stringify({
        issuer: 'https://issuer.example',
        resource: 'https://shop.example',
        client: { client_id: `client-${n}`, client_secret: `Client-kept-${n}` },
        tokens: { access_token: `Access-kept-${n}`, refresh_token: `Refresh kept ${n}` },
        ...more,
      });
    const words = [1, 2, 3].flatMap((n) => [`Access-kept-${n}`, `Refresh kept ${n}`, `Client-kept-${n}`]);
    const left = () => words.filter((one) => scrubSecrets(one) === one);
    const { tokens, file, editor } = kept();
    await file.set('one', grant(1));
    expect(left()).toEqual(words);
    await tokens.get('one');
    await tokens.set('one', grant(2));
    editor.values.set('two', grant(3));
    expect(left()).toEqual(words.slice(6));
    await tokens.get('two');
    await tokens.delete('two');
    await tokens.get('two');
    expect(left()).toEqual([]);
    expect(scrubSecrets('client-1 at https://issuer.example')).toBe('client-1 at https://issuer.example');
  });
});
