import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { documentSchema } from '../../src/config/declaration/document.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { EVERYTHING, withKey } from './everything.ts';

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false });
ajv.addVocabulary(['markdownDescription', 'defaultSnippets']);
const isValid = ajv.compile(documentSchema());

/** Returns the errors that the editor's schema and the reader find. */
function flawsOf(config: unknown): { schema: unknown[]; reader: string[] } {
  isValid(config);
  const text = JSON.stringify(config);
  const { problems } = parseConfig(text, '/w/.vscode/waygate.json', '/w', { HOME: '/h', URL: 'https://x' });
  const reader = problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  return { schema: isValid.errors ?? [], reader };
}

const program = (more: object) => ({ servers: { one: { command: 'x', ...more } } });
const address = (more: object) => ({ servers: { one: { url: 'https://x', ...more } } });
const input = (more: object) => ({ inputs: [{ id: 'a', type: 'promptString', ...more }] });
const rule = (more: object) => ({ policy: { rules: [{ action: 'deny', ...more }] } });

/** Samples, and whether both accept them. */
const SAMPLES: readonly [config: unknown, isAccepted: boolean][] = [
  [EVERYTHING, true],
  [{}, true],
  [{ $schema: 5 }, false],
  [{ $schema: 'https://example.com/schema.json' }, true],
  [address({ url: 'HTTPS://X/mcp' }), true],
  [address({ url: 'https://x?key=@' }), true],
  [address({ url: '${env:URL}' }), true],
  [address({ url: 'https://${secret:host}/mcp' }), true],
  [address({ url: '${secret:url}' }), false],
  [address({ url: ' https://x' }), false],
  [address({ url: 'https:x' }), false],
  [address({ url: 'ftp://x' }), false],
  [address({ url: 'https://name:word@x' }), false],
  [address({ url: 'https://name@x' }), false],
  [address({ url: 'https://${secret:token}@x' }), false],
  [address({ auth: { issuer: 'login.example' } }), false],
  [address({ auth: { clientSecret: 'plain' } }), false],
  [address({ headers: { 'X-A': '1' } }), true],
  [address({ headers: { 'X A': '1' } }), false],
  [address({ headers: { A: '1\r\n2' } }), false],
  [address({ args: [] }), false],
  [address({ type: 'stdio' }), false],
  [{ servers: { one: { type: 'records', tokens: ['${secret:a}'] } } }, false],
  [{ servers: { one: { type: 'records', tokens: [] } } }, false],
  [address({ type: 'records' }), false],
  [address({ type: 'records', tokens: [] }), false],
  [program({ headers: {} }), false],
  [program({ auth: {} }), false],
  [program({ url: 'https://x' }), false],
  [program({ type: 'http' }), false],
  [program({ command: ' ' }), false],
  [program({ command: 'x\u0000' }), false],
  [program({ cwd: '\t' }), false],
  [program({ env: { A: 'x', B: 1, C: true } }), true],
  [program({ env: { 'A=B': '1' } }), false],
  [program({ env: { '': '1' } }), false],
  [program({ env: { A: null } }), false],
  [program({ required: 'no' }), true],
  [program({ required: ' Off ' }), true],
  [program({ required: 'never' }), false],
  [program({ required: 1 }), false],
  [program({ disabled: 'no' }), false],
  [program({ startTimeoutSeconds: '30' }), true],
  [program({ startTimeoutSeconds: 'thirty' }), false],
  [program({ disabled: true, url: 'x' }), false],
  [{ servers: { one: { url: 'x', disabled: true } } }, false],
  [{ servers: { ' ': { command: 'x' } } }, false],
  [{ servers: { one: {} } }, false],
  [input({}), true],
  [input({ type: 'pickString' }), false],
  [input({ type: 'pickString', options: [] }), false],
  [input({ type: 'pickString', options: ['x'] }), true],
  [input({ id: 'a b' }), false],
  [rule({ tags: ['destructive', 'text_plain'] }), true],
  [rule({ tags: ['read_only'] }), false],
  [rule({ tool: ' ' }), false],
  [{ policy: { rules: {} } }, true],
  [{ policy: { rules: { action: 'deny' } } }, false],
  [{ policy: null }, false],
  [{ cache: { allow: null } }, true],
  [{ rateLimits: { tool_view: { maxCallsPerMinute: '5' } } }, true],
  [{ rateLimits: { tool_view: { maxCallsPerMinute: 1.5 } } }, false],
  [{ mode: 'Gateway' }, false],
];

/** Errors that a JSON Schema cannot express. Only the reader finds them. */
const READER_ONLY: readonly [what: string, config: unknown][] = [
  ['a repeated id', { inputs: ['a', 'b'].map((description) => ({ id: 'a', type: 'promptString', description })) }],
  ['bounds of a number in quotes', program({ startTimeoutSeconds: '0' })],
  ['a fraction in quotes', { artifacts: { maxBytes: '1.5' } }],
  ['an address that no parser accepts', address({ url: 'https://x:99999' })],
  ['an unknown reference', program({ args: ['${nothing}'] })],
  ['a variable that is not set', program({ args: ['${env:NOTHING}'] })],
  ['a secret in a place that allows none', program({ command: '${secret:x}' })],
  ['a reference to an input that is not declared', program({ args: ['${input:x}'] })],
  ['a file that is missing', program({ envFile: '/w/no.env' })],
];

describe('the schema and the reader of waygate.json', () => {
  it.each(SAMPLES)('agree about %j: %s', (config, isAccepted) => {
    const { schema, reader } = flawsOf(config);
    expect([schema.length === 0, reader.length === 0], JSON.stringify({ schema, reader })).toEqual([
      isAccepted,
      isAccepted,
    ]);
  });

  const VALUES = [
    null,
    true,
    0,
    -1,
    1.5,
    7,
    1e9,
    '',
    ' ',
    'x',
    'yes',
    '300',
    'a\u0000b',
    [],
    [null],
    [' '],
    {},
    { x: 1 },
  ];
  it.each(pathsIn(EVERYTHING).map((path) => [path.join('.'), path] as const))(
    'agree about odd values of %s',
    (_, path) => {
      const differing = VALUES.filter((value) => {
        const config = withKey(EVERYTHING, path.slice(0, -1), path.at(-1) as string, value);
        const { schema, reader } = flawsOf(config);
        return (schema.length === 0) !== (reader.length === 0);
      });
      expect(differing).toEqual(path.at(-1) === 'envFile' ? ['x', 'yes', '300'] : []);
    },
  );

  it.each(READER_ONLY)('differ about %s', (_, config) => {
    const { schema, reader } = flawsOf(config);
    expect([schema, reader.length]).toEqual([[], 1]);
  });
});

function pathsIn(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = [...path, Array.isArray(value) ? Number(key) : key];
    return [own, ...pathsIn(inner, own)];
  });
}
