import { describe, expect, it } from 'vitest';
import { clearArguments, clearSecrets } from '../../src/secrets/clearSecrets.ts';

const HEX = '9f4c1e7ab2d80356';
const valuesOf = (name: string, value: string): string[] => clearSecrets(name, value).map((secret) => secret.value);

describe('a setting', () => {
  it.each<[string, string, string[]]>([
    ['GITHUB_TOKEN', 'abc', ['abc']],
    ['DB_PASSWORD', '1234', ['1234']],
    ['Authorization', 'Bearer abc-1', ['abc-1']],
    ['X-Api-Key', 'plain', ['plain']],
    ['AUTH', 'Value-1', ['Value-1']],
    ['OPENAI_KEY', 'Value-1', ['Value-1']],
    ['DATABASE_URL', 'postgres://me:pass-1@db/shop', ['pass-1']],
    ['VALUE', 'Server=h;Password=pass-1;User=me', ['pass-1']],
    ['VALUE', `https://example.com/mcp/${HEX}${HEX}A/x`, [`${HEX}${HEX}A`]],
    ['VALUE', 'https://example.com/mcp?key=k-1-2-3&page=2', ['k-1-2-3']],
    ['VALUE', `${HEX}${HEX}`, [`${HEX}${HEX}`]],
    ['VALUE', `a ${HEX}${HEX} b, ghp_${'a1'.repeat(18)}`, [`${HEX}${HEX}`, `ghp_${'a1'.repeat(18)}`]],
  ])('finds the secrets in %s=%s', (name, value, secrets) => {
    expect(valuesOf(name, value)).toEqual(secrets);
  });

  it.each([
    ['GIT_REVISION', `${HEX}${HEX}${HEX.slice(0, 8)}`],
    ['IMAGE', `example@sha256:${HEX.repeat(4)}`],
    ['TENANT', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'],
    ['DATA', `data:image/png;base64,iVBORw0KGgo${'AAAANSUhEUg1'.repeat(4)}`],
    ['TOKEN', '${env:TOKEN}'],
    ['AUTHORIZATION', 'Bearer ${input:x}'],
    ['URL', 'https://me:${input:password}@example.com/'],
    ['PWD', '/home/x'],
    ['TOKEN_FILE', '/run/secrets/token'],
    ['PASSWORD', '<required>'],
    ['API_KEY', 'your-api-key'],
    ['PASSWORD', ''],
    ['USE_TOKEN', 'true'],
    ['AUTH', 'oauth'],
    ['SECRETARY', 'Miss Lemon 12'],
    ['KEYBOARD', 'qwerty12'],
    ['PUBLIC_KEY', 'abcdef123456789'],
    ['SECRET_NAME', 'my-secret-1'],
    ['PASS_THROUGH', 'yes please'],
    ['MAX_TOKENS', '4096'],
    ['MODEL', 'claude-sonnet-4-20250514'],
    ['SSH_AUTH_SOCK', '/tmp/ssh-x/agent.1'],
  ])('finds no secret in %s=%s', (name, value) => {
    expect(valuesOf(name, value)).toEqual([]);
  });

  it('reports place and name of each secret', () => {
    const [secret] = clearSecrets('URL', 'https://me:pass-1@example.com/?token=t-123456');
    expect(secret).toEqual({ start: 11, end: 17, value: 'pass-1', label: 'password' });
    expect(clearSecrets('URL', 'https://example.com/?token=t-123456')).toEqual([
      { start: 27, end: 35, value: 't-123456', label: 'token' },
    ]);
  });
});

describe('arguments', () => {
  it.each<[string[], [number, string, string[]][]]>([
    [['--api-key', 'k-1', '--root', '/srv'], [[1, 'api-key', ['k-1']]]],
    [['--api-key=k-1'], [[0, '', ['k-1']]]],
    [['-e', 'DB_PASSWORD=k-1'], [[1, '', ['k-1']]]],
    [['--env=DB_PASSWORD=k-1'], [[0, '', ['k-1']]]],
    [['--header', 'Authorization: Bearer k-1'], [[1, '', ['k-1']]]],
    [['me:pass-1@tcp(localhost:3306)/db'], [[0, '', ['pass-1']]]],
    [['--no-auth', 'stdio', '--auth', '--verbose', '--token', '${secret:T}'], []],
    [['--rev', `${HEX}${HEX}${HEX.slice(0, 8)}`, '--id', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'], []],
    [['-e', 'GITHUB_TOKEN', 'ghcr.io/github/github-mcp-server', '-y', 'package@1.2.3'], []],
  ])('finds the secrets among %j', (args, expected) => {
    const found = clearArguments(args).map(({ index, name, secrets }) => [
      index,
      name,
      secrets.map(({ value }) => value),
    ]);
    expect(found).toEqual(expected);
  });
});
