import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/catalog/canonicalJson.ts';
import { CatalogError } from '../../src/catalog/catalogError.ts';
import { compareCodePoints } from '../../src/catalog/codePointOrder.ts';
import {
  assignNamespaces,
  deriveName,
  deriveNameOnServer,
  fitName,
  fitNamespace,
  inferNamespace,
} from '../../src/catalog/namespace.ts';
import {
  formatPrimitiveId,
  type PrimitiveKind,
  parsePrimitiveId,
  resolveCollisions,
} from '../../src/catalog/primitives/primitiveId.ts';
import { hash8, pinOf } from '../../src/catalog/shapeHash.ts';
import { formatToolId, isName, isNamespace, parseToolId } from '../../src/catalog/toolId.ts';

const chars = (all: string, min: number, max: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...all), minLength: min, maxLength: max });
const LOWER = 'abcxyz';
const NAME_REST = 'aZ09_.-';
const parts = fc
  .record({
    namespace: fc.tuple(chars(LOWER, 1, 1), chars('az09_-', 0, 63)).map((pair) => pair.join('')),
    name: fc.tuple(chars('aZ_', 1, 1), chars(NAME_REST, 0, 127)).map((pair) => pair.join('')),
    version: fc.option(chars('aZ09._-', 1, 32)),
    hash8: fc.option(chars('0123456789abcdef', 8, 8)),
  })
  .filter(({ version, hash8 }) => version !== null || hash8 !== null);

function codeOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return error.code;
  }
}

describe('tool_id', () => {
  it('parses what it formats, within 240 characters', () => {
    fc.assert(
      fc.property(parts, (sample) => {
        const id = formatToolId(sample);
        expect(id.length).toBeLessThanOrEqual(240);
        expect(parseToolId(id)).toEqual(sample);
      }),
    );
  });

  it('formats what it parses', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'ab:@#0.\n _-'), maxLength: 16 });
    fc.assert(
      fc.property(fc.oneof(texts, parts.map(formatToolId)), (text) => {
        if (codeOf(() => parseToolId(text)) === undefined) expect(formatToolId(parseToolId(text))).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it('reports an overlong id before its grammar', () => {
    const valid = `${'a'.repeat(64)}:${'b'.repeat(128)}@${'1'.repeat(32)}#0123abcd`;
    expect(codeOf(() => parseToolId(valid))).toBeUndefined();
    for (const start of ['a:b@1', 'A:b', 'a:1', 'a:b@', 'a:b#X', 'a\n']) {
      expect(codeOf(() => parseToolId(start.padEnd(241, 'c')))).toBe('too_long');
      expect(codeOf(() => parseToolId(start.padEnd(240, 'c')))).not.toBe('too_long');
    }
    expect(codeOf(() => parseToolId('x'.repeat(241)))).toBe('too_long');
    expect(codeOf(() => parseToolId('🚀'.repeat(240)))).toBe('missing_separator');
    expect(codeOf(() => parseToolId('🚀'.repeat(241)))).toBe('too_long');
    expect(codeOf(() => parsePrimitiveId(`prompt::${'x'.repeat(241)}`))).toBe('too_long');
    expect(codeOf(() => parsePrimitiveId(`resource::${valid}`))).toBeUndefined();
  });

  it('rejects a newline in any part', () => {
    const good = { namespace: 'a', name: 'b', version: '1', hash8: '0123abcd' };
    for (const part of ['namespace', 'name', 'version', 'hash8'] as const) {
      expect(codeOf(() => formatToolId({ ...good, [part]: `${good[part]}\n` }))).toBe(`${part}_grammar`);
    }
    expect(codeOf(() => parseToolId('a:b@1\n'))).toBe('version_grammar');
  });
});

describe('primitive_id', () => {
  it('parses what it formats, and keeps the kinds apart', () => {
    const kind = fc.constantFrom<PrimitiveKind>('tool', 'resource', 'prompt');
    fc.assert(
      fc.property(kind, parts, (of, sample) => {
        const id = formatPrimitiveId({ kind: of, ...sample });
        expect(parsePrimitiveId(id)).toEqual({ kind: of, ...sample });
      }),
    );
    expect(codeOf(() => parseToolId('prompt::gh:x#deadbeef'))).toBe('name_grammar');
  });

  it('rejects a disambiguated id, which is a key and no id', () => {
    const [, second] = resolveCollisions(['fs:readme#ab12cd34', 'fs:readme#ab12cd34']);
    expect(second).toBe('fs:readme#ab12cd34~2');
    expect(codeOf(() => parsePrimitiveId(second))).toBe('hash8_grammar');
  });
});

describe('canonical JSON', () => {
  // Expected texts are the output of Python 3.11's json.dumps(sort_keys=True, separators=(",", ":")).
  it.each([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    ['é日🚀', '"\\u00e9\\u65e5\\ud83d\\ude80"'],
    ['\u007f\u0000\b\f\n\r\t"\\/', '"\\u007f\\u0000\\b\\f\\n\\r\\t\\"\\\\/"'],
    ['\ud800', '"\\ud800"'],
    [{ '\ue000': 1, '🚀': 2, z: 3 }, '{"z":3,"\\ue000":1,"\\ud83d\\ude80":2}'],
    [[0, -1, 1.5, 1e16, 0.0001, 0.00001, 1.5e-7, 1e21], '[0,-1,1.5,10000000000000000,0.0001,1e-05,1.5e-07,1e+21]'],
    [{}, '{}'],
    [[[], {}], '[[],{}]'],
  ])('of %j', (value, expected) => {
    expect(canonicalJson(value)).toBe(expected);
  });

  it('keeps the value and is ASCII', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = canonicalJson(value);
        expect(json).toMatch(/^[ -~]*$/);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('accepts nesting that would overflow a stack', () => {
    const json = '['.repeat(200_000) + ']'.repeat(200_000);
    let nested: unknown[] = [];
    for (let level = 1; level < 200_000; level++) nested = [nested];
    expect(canonicalJson(nested)).toBe(json);
  });
});

describe('code point order', () => {
  it('equals the order of the code points', () => {
    const points = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0) as number);
    const byPoints = (a: string, b: string): number => {
      const [x, y] = [points(a), points(b)];
      const at = x.findIndex((point, index) => point !== y[index]);
      if (at < 0) return x.length - y.length;
      return at >= y.length ? 1 : (x[at] as number) - (y[at] as number);
    };
    const unit = fc.constantFrom('a', 'z', '\ud7ff', '\ue000', '\uffff', '🚀', '𐀀');
    const text = fc.string({ unit, maxLength: 4 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(byPoints(a, b)));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('hashes', () => {
  const tool = { name: 'n', title: 't', description: 'd', inputSchema: {}, outputSchema: undefined, annotations: {} };

  it('hash8 ignores prose, the pin does not', () => {
    const before = { properties: { a: { description: 'one' } } };
    const after = { properties: { a: { description: 'two' } } };
    expect(hash8('n', before)).toBe(hash8('n', after));
    expect(pinOf({ ...tool, inputSchema: before })).not.toBe(pinOf({ ...tool, inputSchema: after }));
  });

  it('the pin covers everything that a model can see, and ignores the order of keys', () => {
    const changes = [
      { name: 'm' },
      { title: 'u' },
      { description: 'e' },
      { inputSchema: { type: 'object' } },
      { outputSchema: {} },
      { annotations: { readOnlyHint: true } },
    ];
    const prints = [tool, ...changes.map((change) => ({ ...tool, ...change }))].map((item) => pinOf(item));
    expect(new Set(prints).size).toBe(prints.length);
    expect(pinOf({ ...tool, inputSchema: { a: 1, b: 2 } })).toBe(pinOf({ ...tool, inputSchema: { b: 2, a: 1 } }));
  });

  it('treats an invalid schema as an empty one', () => {
    for (const schema of [undefined, null, 'x', [], { properties: [], required: 'a' }, { required: [1, null] }]) {
      expect(hash8('read_file', schema)).toBe('559d82ea');
    }
  });
});

describe('namespaces', () => {
  it.each([
    ['github', 'github'],
    ['GitHub', 'github'],
    ['My Server', 'my-server'],
    ['1password', 'mcp-1password'],
    ['io.github.owner/thing', 'io-github-owner-thing'],
    ['Café Système', 'cafe-systeme'],
    ['日本', 'mcp'],
    ['', 'mcp'],
    ['__proto__', 'proto'],
    ['github\n', 'github'],
    ['x'.repeat(100), 'x'.repeat(64)],
  ])('%j is fitted to %j', (server, namespace) => {
    expect(fitNamespace(server)).toBe(namespace);
  });

  it('always fits, and leaves valid names unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (server) => {
        expect(isNamespace(fitNamespace(server))).toBe(true);
        expect(fitNamespace(fitNamespace(server))).toBe(fitNamespace(server));
        expect(isName(fitName(server))).toBe(true);
        expect(fitName(fitName(server))).toBe(fitName(server));
      }),
      { numRuns: 1000 },
    );
  });

  it('gives every server its own namespace, in any order', () => {
    const servers = ['GitHub', 'github', 'git hub', 'GITHUB', '日本', '中国'];
    const assigned = Object.fromEntries(assignNamespaces(servers));
    expect(assigned).toEqual({
      github: 'github',
      GITHUB: 'github-2',
      GitHub: 'github-3',
      'git hub': 'git-hub',
      中国: 'mcp',
      日本: 'mcp-2',
    });
    expect(Object.fromEntries(assignNamespaces(servers.toReversed()))).toEqual(assigned);
  });

  it('stays within 64 characters even with a suffix', () => {
    const long = 'X'.repeat(80);
    const assigned = [...assignNamespaces([long, `${long}y`]).values()];
    expect(assigned.every(isNamespace)).toBe(true);
    expect(new Set(assigned).size).toBe(2);
  });
});

describe('names', () => {
  it.each([
    ['github.create_issue', 'github', 'create_issue'],
    ['slack_send_message', 'slack', 'slack_send_message'],
    ['read_file', 'mcp', 'read_file'],
    ['fs/delete', 'fs', 'delete'],
    ['ns.', 'ns', 'ns.'],
  ])('%s without a server is %s and %s', (upstreamName, namespace, name) => {
    expect(inferNamespace(upstreamName)).toBe(namespace);
    expect(deriveName(upstreamName)).toBe(name);
  });

  it.each([
    ['github.create_issue', 'create_issue'],
    ['GitHub/create_issue', 'create_issue'],
    ['issues.list', 'issues.list'],
    ['github_create_issue', 'github_create_issue'],
    ['github.', 'github.'],
  ])('%s on the server GitHub is %s', (upstreamName, name) => {
    expect(deriveNameOnServer(upstreamName, 'GitHub', 'github')).toBe(name);
  });

  it.each([
    ['search repositories', 'search_repositories'],
    ['a/b', 'a_b'],
    ['2fa-enable', '_2fa-enable'],
    ['été', 'ete'],
    ['検索', 'tool'],
    ['x\n', 'x_'],
    ['n'.repeat(200), 'n'.repeat(128)],
  ])('%j is fitted to %j', (name, fitted) => {
    expect(fitName(name)).toBe(fitted);
  });
});
