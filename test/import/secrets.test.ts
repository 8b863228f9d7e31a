// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the configuration's own syntax
import { describe, expect, it } from 'vitest';
import { protectSecrets } from '../../src/import/secrets.ts';
import type { ServerEntry } from '../../src/import/serverEntry.ts';

const protect = (entry: ServerEntry, env: NodeJS.ProcessEnv = {}) => protectSecrets('my-api', entry, env);
const args = (...list: string[]) => {
  const { entry, secrets } = protect({ command: 'c', args: list });
  return { args: 'args' in entry ? entry.args : [], values: secrets.map(({ value }) => value) };
};
const env = (name: string, value: string): string => {
  const { entry } = protect({ command: 'c', env: { [name]: value } });
  return 'env' in entry ? String(entry.env?.[name]) : '';
};

describe('a secret with a specific name', () => {
  it.each([
    'API_KEY',
    'GITHUB_TOKEN',
    'clientSecret',
    'DB_PASSWORD',
    'SLACK_PAT',
    'apikey',
    'GITHUBTOKEN',
    'AUTH',
    'PGPASSWORD',
  ])('%s becomes a reference', (name) => {
    expect(env(name, 'Value-of-fixture-1')).toMatch(/^\$\{input:my-api-[a-z-]+\}$/);
  });

  it.each<[string, string]>([
    ['LOG_LEVEL', 'debug'],
    ['TOKEN_FILE', '/run/secrets/token'],
    ['GOOGLE_APPLICATION_CREDENTIALS', '/home/u/key.json'],
    ['AUTH_TYPE', 'oauth'],
    ['AUTH', 'oauth'],
    ['AUTH_ENABLED', 'true'],
    ['MAX_TOKENS', '4096'],
    ['API_KEY', ''],
    ['API_KEY', '${env:API_KEY}'],
    ['AUTHORIZATION', 'Bearer ${input:x}'],
    ['KEYBOARD', 'Value-of-fixture-1'],
    ['TOKENIZER', 'Value-of-fixture-1'],
  ])('%s=%s stays', (name, value) => {
    expect(env(name, value)).toBe(value);
  });

  it('keeps the scheme of a header readable', () => {
    const headers = { Authorization: 'Bearer fixture-1', 'X-Api-Key': 'fixture-2', Accept: 'text/plain' };
    const { entry, secrets } = protect({ type: 'http', url: 'https://a.test', headers });
    expect(entry).toMatchObject({
      headers: {
        Authorization: 'Bearer ${input:my-api-authorization}',
        'X-Api-Key': '${input:my-api-x-api-key}',
        Accept: 'text/plain',
      },
    });
    expect(secrets.map(({ where, input }) => [where, input])).toEqual([
      [
        'headers.Authorization',
        {
          type: 'promptString',
          id: 'my-api-authorization',
          description: 'Authorization of the MCP server my-api',
          password: true,
        },
      ],
      ['headers.X-Api-Key', expect.objectContaining({ password: true })],
    ]);
  });
});

describe('a secret in the arguments', () => {
  it.each<[string, string[], string[]]>([
    ['--api-key=x', ['--api-key=fixture-1'], ['--api-key=${input:my-api-api-key}']],
    ['--api-key x', ['--api-key', 'fixture-1'], ['--api-key', '${input:my-api-api-key}']],
    ['-e NAME=x', ['-e', 'DB_PASSWORD=fixture-1'], ['-e', 'DB_PASSWORD=${input:my-api-db-password}']],
    ['--env=NAME=x', ['--env=DB_PASSWORD=fixture-1'], ['--env=DB_PASSWORD=${input:my-api-db-password}']],
    [
      '--header with a header',
      ['--header', 'Authorization: Bearer fixture-1'],
      ['--header', 'Authorization: Bearer ${input:my-api-authorization}'],
    ],
    ['a header in one word', ['X-Api-Key:fixture-1'], ['X-Api-Key:${input:my-api-x-api-key}']],
    ['the password of a URL', ['postgres://u:fixture-1@h/db'], ['postgres://u:${input:my-api-password}@h/db']],
    ['a parameter of a URL', ['https://h/?a=1&token=fixture-1'], ['https://h/?a=1&token=${input:my-api-token}']],
    ['a connection string', ['Server=h;Password=fixture-1;'], ['Server=h;Password=${input:my-api-password};']],
  ])('%s', (_, given, expected) => {
    expect(args(...given)).toEqual({ args: expected, values: ['fixture-1'] });
  });

  it.each([
    ['-y', '@modelcontextprotocol/server-filesystem@2026.8.31'],
    ['--token-file', '/run/token'],
    ['--no-auth', 'stdio'],
    ['--auth', '--verbose'],
    ['--auth', 'oauth'],
    ['https://mcp.example.test/v1/mcp'],
    ['https://h.test/3f2504e0-4f89-11d3-9a0c-0305e82c3301/mcp'],
    ['git+https://github.com/o/r@0123456789abcdef0123456789abcdef01234567'],
    ['/usr/local/lib/node_modules/some-very-long-package-name-2/dist/index.js'],
  ])('%s %s stays', (...given) => {
    expect(args(...given)).toEqual({ args: given, values: [] });
  });
});

describe('a secret of a known shape with any name', () => {
  it.each([
    `ghp_${'a1'.repeat(18)}`,
    `github_pat_${'a1'.repeat(20)}`,
    `glpat-${'a1'.repeat(10)}`,
    `sk-proj-${'a1'.repeat(12)}`,
    `sk_live_${'a1'.repeat(12)}`,
    `xoxb-${'12-ab'.repeat(5)}`,
    `AKIA${'A1'.repeat(8)}`,
    `AIza${'a1'.repeat(17)}a`,
    `npm_${'a1'.repeat(18)}`,
    `eyJ${'a1'.repeat(8)}.${'b2'.repeat(8)}.${'c3'.repeat(8)}`,
    '0123456789abcdef0123456789abcdef',
    `-----BEGIN ${'PRIVATE'} KEY-----\nMII`,
  ])('%s', (secret) => {
    expect(env('VALUE', secret)).toBe('${input:my-api-value}');
    expect(args('--x', secret).values).toEqual([secret]);
  });

  it('is cut out of the surrounding text', () => {
    const secret = `ghp_${'a1'.repeat(18)}`;
    expect(env('CONFIG', `{"user":"u","pat":"${secret}"}`)).toBe('{"user":"u","pat":"${input:my-api-config}"}');
  });

  it('is found in the path of a URL', () => {
    const url = 'https://hooks.test/mcp/0123456789abcdef0123456789abcdefAA/stream';
    expect(protect({ type: 'http', url }).entry).toEqual({
      type: 'http',
      url: 'https://hooks.test/mcp/${input:my-api-url}/stream',
    });
  });
});

describe('reference', () => {
  const secret = 'fixture-value-1';
  const reference = (environment: NodeJS.ProcessEnv) => {
    const { secrets } = protect({ command: 'c', env: { API_TOKEN: secret } }, environment);
    return [secrets[0]?.reference, secrets[0]?.differs, secrets[0]?.input !== undefined];
  };

  it('is a variable with the same value', () => {
    expect(reference({ OTHER: secret })).toEqual(['${env:OTHER}', false, false]);
    expect(reference({ A: secret, API_TOKEN: secret })).toEqual(['${env:API_TOKEN}', false, false]);
  });

  it('is a variable of the obvious name, with a warning if its value differs', () => {
    expect(reference({ API_TOKEN: 'another' })).toEqual(['${env:API_TOKEN}', true, false]);
    expect(reference({ MY_API_API_TOKEN: 'another' })).toEqual(['${env:MY_API_API_TOKEN}', true, false]);
    expect(reference({ API_TOKEN: '' })).toEqual(['${input:my-api-api-token}', false, true]);
  });

  it('is no variable that has a short value by chance', () => {
    const { secrets } = protect({ command: 'c', env: { PIN_SECRET: '12345' } }, { COLUMNS: '12345' });
    expect(secrets[0]?.reference).toBe('${input:my-api-pin-secret}');
  });

  it('is the same for equal values, and different for different values', () => {
    const { entry } = protect({
      command: 'c',
      args: ['--token', 'fixture-1', '--token', 'fixture-2', '--key=fixture-1'],
    });
    const [first, second] = ['${input:my-api-token}', '${input:my-api-token-2}'];
    expect(entry).toMatchObject({ args: ['--token', first, '--token', second, `--key=${first}`] });
  });
});

describe('very long text', () => {
  const secret = `ghp_${'a1'.repeat(18)}`;

  it.each(['a', 'a1', 'a=', 'a:', 'sk-a-', 'eyJ', '${', '/', 'http://', '?a=', ' '])(
    'of %j takes linear time',
    (part) => {
      const cpuMs = (chars: number): number => {
        const text = part.repeat(chars / part.length);
        const before = process.threadCpuUsage();
        protect({ command: 'c', args: [text], env: { X: text } });
        const { user, system } = process.threadCpuUsage(before);
        return (user + system) / 1_000;
      };
      cpuMs(10_000);
      // Quadratic time would be 100 times as long.
      expect(cpuMs(100_000)).toBeLessThan(30 * (cpuMs(10_000) + 5));
    },
  );

  it('does not hide a secret at any position', () => {
    for (const before of [1_970, 1_999, 2_000, 50_000]) {
      expect(env('CONFIG', `${'x '.repeat(before / 2)} ${secret} ${'y '.repeat(5_000)}`)).not.toContain(secret);
    }
  });
});
