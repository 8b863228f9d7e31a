import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { protectSecrets } from '../../src/import/secrets.ts';
import { clearSecrets } from '../../src/secrets/clearSecrets.ts';
import { scrubSecretChunks, scrubSecrets } from '../../src/secrets/mask.ts';
import { NAME_SHAPES, SECRET_MASK } from '../../src/secrets/names.ts';
import { isRandom, SECRET_SHAPES } from '../../src/secrets/shapes.ts';
import { computedMs } from '../support/computedMs.ts';
import { NAME_EXAMPLES } from './nameExamples.ts';

interface Example {
  /** Row of the table. */
  row: string;
  /** Text with its secret in the middle. */
  before: string;
  secret: string;
  after: string;
}

const SHAPE_EXAMPLES: Example[] = SECRET_SHAPES.flatMap((shape): Example[] => {
  if ('prefixes' in shape) {
    return shape.prefixes.map((prefix) => {
      return { row: `${shape.issuer} ${prefix}`, before: '', secret: prefix + shape.example, after: '' };
    });
  }
  const [before = '', secret = '', after = ''] = shape.example.split(/[«»]/);
  return [{ row: shape.issuer, before, secret, after }];
});
const PEM = {
  row: 'private key',
  before: '',
  secret: `-----BEGIN ${'RSA'} PRIVATE KEY-----\nMIIEow==\n-----END ${'RSA'} PRIVATE KEY-----`,
  after: '',
};
const EXAMPLES = [...SHAPE_EXAMPLES, PEM];
const NAMES = NAME_EXAMPLES.flatMap(({ weight, names }) => names.map((name) => ({ weight, name })));
const VALUE = 'q7Rw2Zx9Lk4Tn8Vb3M';

function warnings(server: object): string[] {
  const config = parseConfig(JSON.stringify({ servers: { one: server } }), '/w/waygate.json', '/w', {});
  return config.problems.map(({ message }) => message);
}

const imported = (server: Parameters<typeof protectSecrets>[1]): string =>
  JSON.stringify(protectSecrets('one', server, {}).entry);

describe.each(EXAMPLES)('the row $row', ({ before, secret, after }) => {
  const text = before + secret + after;

  it('is masked', () => {
    expect(scrubSecrets(`seen ${text} here`)).toBe(`seen ${before}${SECRET_MASK}${after} here`);
  });

  it('causes a warning, as a variable and as an argument', () => {
    expect(warnings({ command: 'x', env: { VALUE: text } })).toEqual([
      expect.stringMatching(/"servers\.\w+\.env\.VALUE" looks like/),
    ]);
    expect(warnings({ command: 'x', args: [text] })).toEqual([
      expect.stringMatching(/"servers\.\w+\.args\[0\]" looks like/),
    ]);
  });

  it('is replaced by the import', () => {
    const entry = imported({ command: 'x', args: [text], env: { VALUE: text } });
    expect(entry).toContain('$' + '{input:');
    expect(entry).not.toContain(JSON.stringify(secret).slice(1, -1));
  });
});

it('every row of names has examples of its weight', () => {
  expect(NAME_EXAMPLES.map(({ weight }) => weight)).toEqual(NAME_SHAPES.map(({ weight }) => weight));
  expect(NAME_EXAMPLES.every(({ names }) => names.length > 0)).toBe(true);
});

describe.each(NAMES)('the name $name', ({ name }) => {
  it('is masked', () => {
    expect(scrubSecrets(`${name}=${VALUE}`)).toBe(`${name}=${SECRET_MASK}`);
  });

  it('causes a warning, as a variable and as an argument', () => {
    expect(warnings({ command: 'x', env: { [name]: VALUE } })).toHaveLength(1);
    expect(warnings({ command: 'x', args: [`--${name.replace(/^_/, '')}`, VALUE] })).toHaveLength(1);
    expect(warnings({ command: 'x', args: [`${name}=${VALUE}`] })).toHaveLength(1);
  });

  it('is replaced by the import', () => {
    expect(imported({ command: 'x', args: [`${name}=${VALUE}`], env: { [name]: VALUE } })).not.toContain(VALUE);
  });
});

/** Places in which a token may stand. */
const PLACES: readonly (readonly [string, string])[] = [
  ['', ''],
  ['found ', ' here'],
  ['{"any":"', '","n":1}'],
  ['{\\"any\\":\\"', '\\"}'],
  ['{"log":"line\\n', '\\nnext"}'],
  ['{"token": "', '"}'],
  ["{'secret': '", "'}"],
  ['https://example.com/?a=1&access_token=', '&b=2'],
  ['https://example.com/p/', '?x'],
  ['next=https%3A%2F%2Fexample.com%2F%3Ft%3D', '&x'],
  ['Authorization: Bearer ', '\r\nAccept: */*'],
  ['X-Api-Key: ', '\n'],
  ["curl -H 'Authorization: token ", "' https://example.com"],
  ['export ANY=', ' && run'],
  ['run --token=', ' --verbose'],
  ['run --any "', '"'],
  ['2026-01-02T03:04:05Z WARN sent (', ') to the server'],
  ['\u001b[31m', '\u001b[0m'],
  ['any: ', '\nother: 1\n'],
  ['<key>', '</key>'],
  ['`', '`'],
  ['a,b,', ',c'],
];

const token = fc.oneof(
  ...SECRET_SHAPES.flatMap((shape) => {
    if (!('prefixes' in shape)) return [];
    const { prefixes, body, random } = shape;
    const bodies = fc.stringMatching(new RegExp(`^(?:${body.source})$`));
    const made = random ? bodies.filter(isRandom) : bodies;
    return [fc.tuple(fc.constantFrom(...prefixes), made).map((parts) => parts.join(''))];
  }),
);
const secretValue = fc.stringMatching(/^[A-Za-z]{3}\d[A-Z]{2}[a-z][A-Za-z0-9]{10,30}$/);
const place = fc.constantFrom(...PLACES);

describe('generated secrets', () => {
  it('are masked in every place, and the mask is stable', () => {
    fc.assert(
      fc.property(place, token, ([before, after], secret) => {
        const masked = scrubSecrets(before + secret + after);
        expect(masked).not.toContain(secret);
        expect(masked.startsWith(before + SECRET_MASK)).toBe(true);
        // A token with "=" in it may read as a name and its value.
        if (!secret.includes('=')) expect(masked).toBe(before + SECRET_MASK + after);
        expect(scrubSecrets(masked)).toBe(masked);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each<(name: string, value: string) => [string, string]>([
    (name, value) => [`${name}=${value}`, `${name}=${SECRET_MASK}`],
    (name, value) => [`${name}: ${value}\nx: 1`, `${name}: ${SECRET_MASK}\nx: 1`],
    (name, value) => [`{"${name}":"${value}","n":1}`, `{"${name}":"${SECRET_MASK}","n":1}`],
    (name, value) => [`{\\"${name}\\": \\"${value}\\"}`, `{\\"${name}\\": \\"${SECRET_MASK}\\"}`],
    (name, value) => [`export ${name}='${value}'; run`, `export ${name}='${SECRET_MASK}'; run`],
    (name, value) => [`x?a=1&${name}=${value}&b`, `x?a=1&${name}=${SECRET_MASK}&b`],
    (name, value) => [`run --${name} ${value} -v`, `run --${name} ${SECRET_MASK} -v`],
    (name, value) => [`<${name}>${value}</${name}>`, `<${name}>${SECRET_MASK}</${name}>`],
    (name, value) => [`{"name": "${name}", "value": "${value}"}`, `{"name": "${name}", "value": "${SECRET_MASK}"}`],
    (name, value) => [`A=b;${name}=${value};C=d`, `A=b;${name}=${SECRET_MASK};C=d`],
    (name, value) => [`cfg["${name}"] = "${value}"`, `cfg["${name}"] = "${SECRET_MASK}"`],
    (name, value) => [`${name}: |\n  ${value}\n`, `${name}: |\n  ${SECRET_MASK}\n`],
  ])('are masked under every name: %s', (inContext) => {
    const names = fc.constantFrom(...NAMES.map(({ name }) => name.replace(/^_/, '')));
    fc.assert(
      fc.property(names, secretValue, (name, value) => {
        const [text, masked] = inContext(name, value);
        expect(scrubSecrets(text)).toBe(masked);
        expect(scrubSecrets(masked)).toBe(masked);
      }),
      { numRuns: 300 },
    );
  });

  const passwords = fc.stringMatching(/^[A-Za-z][A-Za-z0-9!*+~.^-]{2,10}\d[A-Za-z]{3}$/);
  it.each<(value: string) => [string, string]>([
    (value) => [`postgres://me:${value}@db/x`, `postgres://me:${SECRET_MASK}@db/x`],
    (value) => [`curl -u me:${value} https://x`, `curl -u me:${SECRET_MASK} https://x`],
    (value) => [`login me password ${value}`, `login me password ${SECRET_MASK}`],
    (value) => [`IDENTIFIED BY '${value}'`, `IDENTIFIED BY '${SECRET_MASK}'`],
    (value) => [`identified with x by '${value}'`, `identified with x by '${SECRET_MASK}'`],
    (value) => [`sshpass -p ${value} x`, `sshpass -p ${SECRET_MASK} x`],
    (value) => [`mysqldump -u me -p${value} x`, `mysqldump -u me -p${SECRET_MASK} x`],
    (value) => [`docker login -u me -p ${value} x`, `docker login -u me -p ${SECRET_MASK} x`],
    (value) => [`redis-cli -h x -a ${value} x`, `redis-cli -h x -a ${SECRET_MASK} x`],
    (value) => [`authorization basic ${btoa(`u:${value}`)}`, `authorization basic ${SECRET_MASK}`],
    (value) => [`Server=h;Password=${value}&<x>;Y=1`, `Server=h;Password=${SECRET_MASK};Y=1`],
    (value) => [`Authorization: Basic ${btoa(`u:${value}`)}`, `Authorization: Basic ${SECRET_MASK}`],
    (value) => [`DB_PASS="${value}; it's"`, `DB_PASS="${SECRET_MASK}"`],
  ])('are masked as passwords: %s', (inContext) => {
    fc.assert(
      fc.property(passwords, (value) => {
        const [text, masked] = inContext(value);
        expect(scrubSecrets(text)).toBe(masked);
        expect(scrubSecrets(masked)).toBe(masked);
      }),
      { numRuns: 300 },
    );
  });

  const soup = fc
    .array(
      fc.oneof(
        token,
        secretValue,
        fc.constantFrom(...NAMES.map(({ name }) => name)),
        fc.constantFrom(
          ...PLACES.flat(),
          '=',
          ': ',
          ' ',
          '\n',
          '"',
          "'",
          '\\',
          '(',
          '[',
          '://u:',
          '@h',
          '--',
          'Bearer ',
        ),
        fc.constantFrom('string', 'word', '12345678', SECRET_MASK, '/home/x', 'value', 'name', '<', '>', ';', '?', '&'),
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));

  it('leave a stable text, whatever surrounds them', () => {
    fc.assert(
      fc.property(soup, (text) => {
        const masked = scrubSecrets(text);
        expect(scrubSecrets(masked)).toBe(masked);
      }),
      { numRuns: 5_000 },
    );
  });

  it('are found in a stream as in the whole text', () => {
    const texts = fc.array(soup, { minLength: 1, maxLength: 3 }).map((all) => all.join('\n'));
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 400 }), (text, shift) => {
        const long = `${'plain words '.repeat(6_000)}${'x'.repeat(shift)} ${text} ${'more words '.repeat(700)}${text}`;
        const chunks = long.match(/[\s\S]{1,9973}/g) ?? [];
        expect([...scrubSecretChunks(chunks)].join('')).toBe(scrubSecrets(long));
      }),
      { numRuns: 60 },
    );
  });
});

/** Texts that hold no secret, as code, prose, logs and documents have them. */
const HARMLESS = [
  'token: string',
  'pwd: /home/x',
  'PWD=/home/me/project',
  'process.env.SECRET',
  'const token = process.env.GITHUB_TOKEN;',
  'apiKey: process.env.OPENAI_API_KEY,',
  'SECRET_KEY = os.environ["SECRET_KEY"]',
  "SECRET_KEY = env('SECRET_KEY')",
  'function login(password: string, token?: string): Promise<Token> {',
  'password: z.string().min(8),',
  'const secret = crypto.randomBytes(32)',
  'token = await getToken(user)',
  'if (token === undefined || password == "x1234567") return',
  'secret: Buffer | null',
  'token: vscode.CancellationToken',
  ['$', '{env:TOKEN}'].join(''),
  ['token=$', '{{ secrets.GITHUB_TOKEN }}'].join(''),
  ['write $', '{secret:GITHUB_TOKEN} there'].join(''),
  'token: $TOKEN',
  'password=%PASSWORD%',
  'Authorization: Bearer <token>',
  'commit 0123456789abcdef0123456789abcdef01234567',
  `sha256:${'0123456789abcdef'.repeat(4)}`,
  'id=3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  `"integrity": "sha512-${'ZmFrZWhhc2g'.repeat(7)}=="`,
  `data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUg'.repeat(20)}==`,
  'password: <required>',
  "password: '<required>'",
  'password: ********',
  'password: changeme',
  'api_key = "YOUR_API_KEY"',
  'token: "your-token-here"',
  'the secretary: Miss Lemon',
  'secretary=MissLemon42',
  'keyboard: qwerty12345678',
  'passport: A12345678',
  'author=John Smith 1234567890',
  '"key": "PROJ-1234"',
  'primary_key=id_12345678',
  'cache-key: node-modules-0123456789abcdef',
  'run --token <token>',
  '  --token string   The access token',
  '  --password PASSWORD  the password',
  'max_tokens: 4096, total_tokens: 1234567, "prompt_tokens": 123456',
  'nextPageToken: CAoQAA1234567890',
  'Unexpected token: identifier',
  'Error: invalid password: authentication failed',
  'password: must be at least 8 characters',
  'credentials: include',
  '{"required":["token","password"],"properties":{"token":{"type":"string","description":"The token"}}}',
  '"password": "Enter your password"',
  'auth: oauth2',
  'tests pass: 123456',
  'token_type: bearer',
  'token_endpoint: https://login.example.com/oauth2/token',
  'Bearer authentication required',
  'a basic understanding of things',
  'docker run -u 1000:1000 image',
  'git@github.com:owner/repo.git',
  'https://example.org:8080/a@b',
  'https://example.com/path?page=2&sort=name',
  'class="sk-folding-cube sk-cube-of-words"',
  'pat: Pattern',
  'Token: "{token}"',
  'model: sk-learn-pipeline-v12',
  'at tokenize (token.js:120:14)',
  'https://docs.example.com/token:refresh',
  'S3 key: photos/2024/img_0001.jpg',
  'sessionId: 3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIabcdefghijklmnop me@host',
  'arn:aws:secretsmanager:us-east-1:123456789012:secret:my-secret-AbCdEf',
];

describe('texts without a secret', () => {
  it.each(HARMLESS)('%s', (text) => {
    expect(scrubSecrets(text)).toBe(text);
    expect(scrubSecrets(`{"text":${JSON.stringify(text)}}`)).toBe(`{"text":${JSON.stringify(text)}}`);
  });
});

describe('long hostile texts', () => {
  const pieces = [
    ...SECRET_SHAPES.flatMap((shape) => ('prefixes' in shape ? shape.prefixes : [shape.example.replace(/[«»]/g, '')])),
    ...NAMES.flatMap(({ name }) => [`${name}=`, `${name}: "`]),
    ...['a', 'a1', '=', ':', '"', '\\"', '://', '://a:', 'a=', '-', '--token ', '<token>', '/', '?a=', ' ', 'curl '],
    ...['token=/', "password='", 'secret=<', 'bearer        ', 'Basic ', 'token=true,', 'value:', 'name=token value='],
    ...['login a password ', 'eyJaaaaa.', 'sk-aaa ', '%20sk-', '\\nsk-', 'token=Bearer ', ';password=', 'key: |\n '],
    ...[`-----BEGIN ${'PRIVATE'} KEY-----`, ['$', '{'].join(''), ['$', '{a}token='].join('')],
  ];

  it.each([
    ['masked', scrubSecrets, 5_000],
    ['searched in a setting', (text: string) => clearSecrets('VALUE', text), 2_500],
  ] as const)('are %s in linear time', (_, work, chars) => {
    const cost = (piece: string, length: number): number => {
      const text = piece.repeat(Math.ceil(length / piece.length));
      return computedMs(() => work(text));
    };
    for (const piece of pieces) cost(piece, 1_000);
    const slow = pieces.filter((piece) => {
      const [once, eight] = [cost(piece, chars), cost(piece, 8 * chars)];
      // Linear work takes 8 times as long, quadratic work 64 times.
      return eight > 25 * once + 60;
    });
    expect(slow).toEqual([]);
  });
});
