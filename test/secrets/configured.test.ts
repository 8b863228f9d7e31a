import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoadedConfig } from '../../src/config/fileReader.ts';
import type { ServerConfig, StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { followReferences, writtenForm } from '../../src/config/secretReferences.ts';
import { secretsGiven } from '../../src/config/secretsGiven.ts';
import { FileSecrets } from '../../src/config/state/fileSecrets.ts';
import { temporaryFolder } from '../support/workspace.ts';

const parse = (config: object): LoadedConfig =>
  parseConfig(JSON.stringify(config), '/w/waygate.json', '/w', { A: 'a' });
const sourceOf = (values: Record<string, string>) => ({ get: async (name: string) => values[name] });

describe('references to secrets', () => {
  const config = parse({
    inputs: [
      { id: 'key', type: 'promptString', password: true, description: 'the API key', default: 'never' },
      { id: 'zone', type: 'pickString', options: ['eu', 'us'], default: 'eu' },
    ],
    servers: {
      program: { command: 'x', args: ['--key=${input:key}', '${env:A}'], env: { T: 'a ${secret:T} b ${secret:U}' } },
      address: { url: 'https://${input:zone}.x/mcp?k=${secret:T}', headers: { Authorization: 'Bearer ${secret:T}' } },
    },
  });
  const [program, address] = config.servers;

  it('cause no problem, and the configuration contains no value', () => {
    expect(config.problems).toEqual([]);
    expect(writtenForm((program as StdioServerConfig).args.join(' '))).toBe('--key=${input:key} a');
    expect(writtenForm((program as StdioServerConfig).env.T as string)).toBe('a ${secret:T} b ${secret:U}');
  });

  it('are resolved for a start, and values are not resolved again', async () => {
    const source = sourceOf({ 'input:key': 'k1', T: '${secret:U}$&\0U\0', U: 'u' });
    const started = await followReferences(program as StdioServerConfig, source);
    expect(started).toMatchObject({ args: ['--key=k1', 'a'], env: { T: 'a ${secret:U}$&\0U\0 b u' } });
    expect(await followReferences(address as StdioServerConfig, sourceOf({ T: 't' }))).toMatchObject({
      url: 'https://eu.x/mcp?k=t',
      headers: { Authorization: 'Bearer t' },
    });
    const auth = { clientId: 'us', clientSecret: '${secret:T}' };
    const guarded = parse({ servers: { one: { url: 'https://x', auth } } }).servers[0] as ServerConfig;
    expect(JSON.stringify(guarded)).not.toContain('"t"');
    expect(await followReferences(guarded, sourceOf({ T: 't' }))).toMatchObject({
      auth: { clientId: 'us', clientSecret: 't' },
    });
  });

  it('report secrets and passwords as secret values, and no other inputs', async () => {
    const secrets: string[] = [];
    const source = sourceOf({ 'input:key': 'k1', 'input:zone': 'us', T: 't1', U: 'u1' });
    for (const server of [program, address] as ServerConfig[]) {
      await followReferences(server, source, (value) => secrets.push(value));
    }
    expect(secrets.sort()).toEqual(['k1', 't1', 't1', 't1', 'u1']);
  });

  it.each([
    [{ T: 't', U: 'u' }, 'It needs the input "key" (the API key), which is not set.'],
    [{ 'input:key': 'k', T: 't' }, 'It needs the secret "U", which is not set.'],
  ])('without a value give an error with the remedy: %o', async (values, sentence) => {
    const started = followReferences(program as StdioServerConfig, sourceOf(values));
    await expect(started).rejects.toThrow(sentence);
  });
});

describe('a secret in clear', () => {
  const warned = (server: object): string[] => {
    const { problems, servers } = parse({ servers: { one: server } });
    expect(problems.every(({ severity }) => severity === 'warning')).toBe(true);
    expect(servers).toHaveLength(1);
    return problems.map(({ message }) => message);
  };

  it.each([
    [
      { command: 'x', env: { GITHUB_TOKEN: 'abcdefgh1' } },
      /"servers\.one\.env\.GITHUB_TOKEN" looks like .*secret:GITHUB_TOKEN\} instead and set that secret\.$/,
    ],
    [{ command: 'x', env: { apiKey: 'abcdefgh1' } }, /"servers\.one\.env\.apiKey" looks like/],
    [{ command: 'x', env: { ANY: `ghp_${'a'.repeat(36)}` } }, /"servers\.one\.env\.ANY" looks like/],
    [
      { command: 'x', args: ['--api-key', 'abcdefgh1'] },
      /"servers\.one\.args\[1\]" looks like .*secret:api-key\} instead and set that secret\.$/,
    ],
    [{ command: 'x', args: ['--token=abcdefgh1'] }, /"servers\.one\.args\[0\]" looks like/],
    [{ command: 'x', args: [`sk-${'a'.repeat(40)}`] }, /write \$\{secret:NAME\} instead and set that secret\.$/],
    [
      { url: 'https://x', headers: { Authorization: 'Bearer abcdefgh1' } },
      /"servers\.one\.headers\.Authorization" .*secret:one_TOKEN\} instead and set that secret\.$/,
    ],
    [{ url: 'https://x', headers: { 'X-Api-Key': 'abcdefgh1' } }, /"servers\.one\.headers\.X-Api-Key" looks like/],
  ])('causes a warning and is used: %j', (server, warning) => {
    expect(warned(server)).toEqual([expect.stringMatching(warning)]);
  });

  it.each([
    { command: 'x', env: { GITHUB_TOKEN: '${env:A}', TOKEN_FILE: '/run/secrets/token', KEYBOARD: 'qwertyuiop' } },
    { command: 'x', env: { MAX_TOKENS: '4096', USE_TOKEN: 'true', API_KEY: '<your key>', PASSWORD: '' } },
    { command: 'x', args: ['--token', '${secret:T}', '--monkey', 'abcdefgh1', '--token', './token.txt'] },
    { url: 'https://x', headers: { Authorization: 'Bearer ${secret:T}', Accept: 'application/json' } },
  ])('is not suspected without reason: %j', (server) => {
    expect(warned(server)).toEqual([]);
  });
});

describe('the file of secrets', () => {
  it('is readable by the owner only, separates inputs by workspace, and shares secrets', async () => {
    const root = join(temporaryFolder('wg-'), 'state');
    const [a, b] = [new FileSecrets(root, '/a'), new FileSecrets(root, '/b')];
    expect(await a.get('T')).toBeUndefined();
    a.set('T', 'shared');
    a.set('input:key', 'of a');
    b.set('input:key', 'of b');
    expect([await b.get('T'), await a.get('input:key'), await b.get('input:key')]).toEqual(['shared', 'of a', 'of b']);
    expect(a.names()).toEqual(['T', 'input:key']);
    expect(statSync(a.file).mode & 0o777).toBe(0o600);
    expect([b.delete('input:key'), b.delete('input:key')]).toEqual([true, false]);
    expect(await a.get('input:key')).toBe('of a');
    expect(b.names()).toEqual(['T']);
  });

  it('counts as empty if it is damaged, and is rewritten', async () => {
    const root = temporaryFolder('wg-');
    const secrets = new FileSecrets(root, '/a');
    for (const text of ['', '[', 'null', '{"T": 5}']) {
      writeFileSync(secrets.file, text);
      expect(await secrets.get('T')).toBeUndefined();
    }
    secrets.set('__proto__', 'x');
    expect(await secrets.get('__proto__')).toBe('x');
    expect(readFileSync(secrets.file, 'utf8')).toContain('"__proto__"');
  });
});

describe('secrets that a server is given', () => {
  const givenTo = (server: object, kept: readonly string[] = []): string[] =>
    secretsGiven(parse({ servers: { one: server } }).servers[0] as ServerConfig, kept);

  it.each([
    [{ command: 'x', env: { DB_PASSWORD: 'hunter2', REGION: 'eu-west', TOKEN_FILE: '/run/token' } }, ['hunter2']],
    [{ command: 'x', args: ['--api-key', 'k-1-2-3', '--token=t-1-2-3', '--root', '/srv'] }, ['k-1-2-3', 't-1-2-3']],
    [{ url: 'https://x/mcp?key=k-1-2-3', headers: { 'X-Api-Key': 'h 1', Accept: 'text/plain' } }, ['k-1-2-3', 'h 1']],
    [{ url: 'https://x', headers: { Authorization: 'Bearer b-1-2-3' } }, ['b-1-2-3']],
    [{ command: 'x', env: { DSN: 'postgres://me:pass-1@db/shop' } }, ['postgres://me:pass-1@db/shop', 'pass-1']],
  ])('are found in clear in %j', (server, secrets) => {
    expect(givenTo(server)).toEqual(secrets);
  });

  it('include all kept values and the passwords within them', () => {
    const kept = ['plain words', 'Server=db;Password=pass-2;Timeout=5'];
    expect(givenTo({ command: 'x' }, kept)).toEqual([...kept, 'pass-2']);
  });
});
