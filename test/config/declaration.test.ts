import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { schemaText } from '../../scripts/lib/generatedDocs.mjs';
import { ingestTool } from '../../src/catalog/ingest.ts';
import { buildPrimitiveCatalog } from '../../src/catalog/primitives/primitiveCatalog.ts';
import { documentSchema } from '../../src/config/declaration/document.ts';
import { TAGS } from '../../src/config/declaration/policyBlock.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { EVERYTHING, objectsIn, type Schema, schema, server, withKey } from './everything.ts';

const problemsOf = (config: unknown): string[] =>
  parseConfig(JSON.stringify(config), '/w/.vscode/waygate.json', '/w', { HOME: '/h' }).problems.map(
    ({ message }) => message,
  );

/** Objects whose keys the user chooses, and arguments of a tool. */
const FREE = /^servers$|\.(env|headers|perTool|probes|arguments)$|^(timeouts|replay)\.(servers|tools)$/;

describe('the declaration of waygate.json', () => {
  it('matches media/waygate.schema.json (written by npm run docs)', () => {
    expect(readFileSync('media/waygate.schema.json', 'utf8')).toBe(schemaText(documentSchema()));
  });

  const CLOSED = objectsIn(EVERYTHING).filter((path) => !FREE.test(path.join('.')));
  it.each(CLOSED.map((path) => [path.join('.'), path] as const))('accepts no other key in "%s"', (_, path) => {
    const [problem, ...others] = problemsOf(withKey(EVERYTHING, path, 'zzzzzzzzzz'));
    expect(others).toEqual([]);
    expect(problem).toMatch(/^"[^"]*zzzzzzzzzz" is not a key; known keys are [\w$, ]+\.$/);
    expect(path.length === 0 || problem?.includes(String(path.at(-1)))).toBe(true);
  });

  it('covers objects in which unknown keys are easy to miss', () => {
    const names = CLOSED.map((path) => path.join('.'));
    expect(names).toEqual(
      expect.arrayContaining(['', 'retry', 'policy', 'policy.rules.0', 'rateLimits.perTool.a-b', 'replay.probes.a-b']),
    );
  });

  it('knows every tag that the catalog gives', () => {
    const annotations = { readOnlyHint: true, destructiveHint: true };
    const { resources, prompts } = buildPrimitiveCatalog([
      {
        server: 'one',
        readsResources: true,
        resources: [{ uri: 'file:///a', mimeType: 'application/vnd.oasis.opendocument.text' }],
        resourceTemplates: [{ uriTemplate: 'a:{b}' }],
        prompts: [{ name: 'a' }],
      },
    ]);
    const tags = [ingestTool({ name: 'a', annotations }).tool, ...resources, ...prompts].flatMap((one) => one.tags);
    expect(tags).toEqual(expect.arrayContaining([...TAGS]));
    expect(problemsOf({ policy: { rules: [{ action: 'deny', tags }] } })).toEqual([]);
  });

  it('documents every key', () => {
    const silent: string[] = [];
    const visit = (node: Schema, path: string): void => {
      for (const [key, inner] of Object.entries(node.properties ?? {})) {
        if (!inner.markdownDescription) silent.push(`${path}/${key}`);
        visit(inner, `${path}/${key}`);
      }
      if (node.items) visit(node.items, `${path}/[]`);
      if (typeof node.additionalProperties === 'object') visit(node.additionalProperties, `${path}/*`);
    };
    visit(schema, '');
    visit(server, 'server');
    expect(silent).toEqual([]);
  });
});

describe('an error in waygate.json', () => {
  it.each([
    [{ retry: { max_attempts: 3 } }, '"retry.max_attempts" is not a key; did you mean "maxAttempts"?'],
    [{ retry: { maxAttempts: 0 } }, '"retry.maxAttempts" must be a whole number of at least 1.'],
    [{ retry: { retryableCodes: ['X'] } }, /^"retry\.retryableCodes\[0\]" must be "UPSTREAM_TIMEOUT", /],
    [
      { rateLimits: { perTool: { 'a:b#1': { maxCallsPerMinut: 1 } } } },
      '"rateLimits.perTool.a:b#1.maxCallsPerMinut" is not a key; did you mean "maxCallsPerMinute"?',
    ],
    [
      { policy: { rules: [{ action: 'allow', tol: 'x' }] } },
      '"policy.rules[0].tol" is not a key; did you mean "tool"?',
    ],
    [
      { policy: { rules: [{ action: 'deny', tags: ['read_only'] }] } },
      '"policy.rules[0].tags[0]" must be a known tag; did you mean "read-only"?',
    ],
    [
      { policy: { rules: [{ action: 'deny', tags: ['text_plain'] }, {}] } },
      '"policy.rules[1].action" is missing; add it.',
    ],
    [{ policy: { rules: [{}] } }, '"policy.rules[0].action" is missing; add it.'],
    [{ timeouts: { servers: { 'my server': 'x' } } }, /^"timeouts\.servers\["my server"\]" must be a number from /],
    [{ replay: { tools: { a: 'often' } } }, /^"replay\.tools\.a" must be "convergent", "probe_required" or /],
    [{ replay: { probes: { x: { effect: { at: '/a' } } } } }, '"replay.probes.x.tool" is missing; add it.'],
    [
      { replay: { probes: { x: { tool: 'look', effect: { at: '/a', equals: {} } } } } },
      '"replay.probes.x.effect.equals" must be a string, a number, true or false.',
    ],
    [{ policyPreset: 'loose' }, '"policyPreset" must be "safe", "balanced" or "throughput".'],
    [{ browse: { topK: 51 } }, '"browse.topK" must be a whole number from 1 to 50.'],
    [{ idleMinutes: 0 }, /^"idleMinutes" must be a number above 0, at most 1440; .*"keepAlive"/],
    [{ inputs: [{ id: 'a', type: 'command' }] }, '"inputs[0].type" must be "promptString" or "pickString".'],
    [{ inputs: [{ id: 'a b', type: 'promptString' }] }, /^"inputs\[0\]\.id" must be made of letters, digits/],
    [{ inputs: [{ id: 'a', type: 'pickString' }] }, 'The input "a" needs "options" to pick from; add them.'],
    [{ inputs: {} }, '"inputs" must be a list.'],
    [{ inputs: [{ type: 'promptString' }] }, '"inputs[0].id" is missing; add it.'],
    [
      { inputs: [{ id: 'a', type: 'promptString', pasword: true }] },
      '"inputs[0].pasword" is not a key; did you mean "password"?',
    ],
    [
      {
        inputs: [
          { id: 'a', type: 'promptString' },
          { id: 'a', type: 'promptString' },
        ],
      },
      'The input "a" is written twice; remove one.',
    ],
    [{ cache: 5 }, '"cache" must be an object.'],
  ])('names the path, what is wrong and what to do: %j', (config, message) => {
    expect(problemsOf(config)).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)]);
  });

  it('has the range of the wrong value', () => {
    const { problems } = parseConfig('{\n  "retry": {\n    "maxAttempts": 0 } }', '/w.json', '/w', {});
    expect(problems).toEqual([
      {
        severity: 'error',
        code: 'wrong_value',
        message: '"retry.maxAttempts" must be a whole number of at least 1.',
        location: { file: '/w.json', line: 3, column: 20 },
        endColumn: 21,
      },
    ]);
  });

  it('leaves the other keys of a block without safety rules in force', () => {
    const { blocks } = parseConfig('{"retry": {"maxAttempts": 3, "jitter": 9}}', '/w.json', '/w', {});
    expect(blocks.get('retry')?.value).toMatchObject({ maxAttempts: 3, jitter: 1 });
  });
});
