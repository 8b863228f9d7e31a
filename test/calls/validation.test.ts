import { createServer } from 'node:http';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/calls/json.ts';
import { argumentError } from '../../src/calls/validation/argumentError.ts';
import { ArgumentValidator } from '../../src/calls/validation/argumentValidator.ts';
import { SchemaCompiler } from '../../src/calls/validation/compileSchema.ts';
import { isLightPattern, linearEngine } from '../../src/calls/validation/linearPattern.ts';
import { checkSchemaHealth, SCHEMA_LIMITS, schemaFindings } from '../../src/calls/validation/schemaHealth.ts';
import { profileSchema } from '../../src/calls/validation/schemaProfile.ts';
import { ThreadedCheck } from '../../src/calls/validation/threadedCheck.ts';
import { sampleListings } from '../catalog/sampleListings.ts';
import schemaForms from '../fixtures/catalog/schemaForms.json' with { type: 'json' };

/** Tests verdicts, not speed: hostileSchemas.test.ts has the shipped limits. */
const unhurried = () =>
  new ThreadedCheck(undefined, { answerMs: 20_000, valueMs: 20_000, compileMs: 20_000, startMs: 20_000 });

const validator = new ArgumentValidator({ thread: unhurried() });
afterAll(() => validator.dispose());

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });

/** Returns the error that a model reads for invalid arguments. */
async function modelError(schema: JsonObject, args: unknown) {
  const verdict = await validator.validate(schema, args);
  if (verdict.kind !== 'invalid') throw new Error(`it is ${verdict.kind}`);
  const tool = { id: 'git:log#00000000', name: 'log', server: 'git', inputSchema: schema };
  const { message, details } = argumentError(tool, verdict, args, (words) =>
    words.replaceAll('SECRET', 'MASK'),
  ).toObject();
  return { message, ...(details as { path: unknown; problems: string[]; places: unknown; expected: JsonObject }) };
}

describe('validation', () => {
  it('accepts schemas without a type, without properties, or empty', async () => {
    for (const schema of [
      {},
      null,
      undefined,
      { $schema: 'http://json-schema.org/draft-07/schema#' },
      { type: 'object' },
    ]) {
      expect(await validator.validate(schema, { any: 1 })).toEqual({ kind: 'valid' });
    }
  });

  it('uses the dialect that a schema declares', async () => {
    const tuple = { properties: { at: { type: 'array', items: [{ type: 'integer' }] } } };
    const wrong = { at: ['x'] };
    expect(
      await validator.validate({ $schema: 'http://json-schema.org/draft-07/schema#', ...tuple }, wrong),
    ).toMatchObject({ kind: 'invalid' });
    // Lists of items are not valid in 2020-12, but are accepted without a declared dialect.
    expect(
      await validator.validate({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...tuple }, wrong),
    ).toMatchObject({ kind: 'bad_schema' });
    expect(await validator.validate({ ...tuple }, wrong)).toMatchObject({ kind: 'invalid' });
    const prefixed = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { at: { prefixItems: [{ type: 'integer' }] } },
    };
    expect(await validator.validate(prefixed, wrong)).toMatchObject({ kind: 'invalid' });
    // Draft-04 writes an exclusive bound in its own way.
    const old = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      properties: { n: { minimum: 1, exclusiveMinimum: true } },
    };
    expect(await validator.validate(old, { n: 1 })).toMatchObject({ kind: 'unchecked' });
  });

  it('follows references into properties and back to the root', async () => {
    const byProperty = object({ a: { type: 'integer' }, b: { $ref: '#/properties/a' } });
    expect((await modelError(byProperty, { b: 'x' })).problems).toEqual(['b must be a whole number, not a string']);
    const tree = object({ value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#' } } });
    expect(await validator.validate(tree, { value: 1, children: [{ value: 2 }] })).toEqual({ kind: 'valid' });
    expect((await modelError(tree, { children: [{ children: [{ value: 'x' }] }] })).path).toEqual([
      'children',
      0,
      'children',
      0,
      'value',
    ]);
  });

  it('names the place of each problem, that of a missing or unknown argument too, with secrets masked', async () => {
    const row = object({ id: { type: 'integer' } }, { required: ['id'], additionalProperties: false });
    const schema = object({ rows: { type: 'array', items: row }, 'a.b': { type: 'string' } }, { required: ['name'] });
    const { places } = await modelError(schema, { rows: [{ id: 1 }, { SECRET: 2 }], 'a.b': 3 });
    expect(places).toEqual([['name'], ['a.b'], ['rows', 1, 'id'], ['rows', 1, 'MASK']]);
  });

  it('refuses arguments nested too deep to be sent', async () => {
    const args = { a: JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) };
    expect((await modelError(object({ a: {} }), args)).message).toContain(
      'the arguments must not be nested deeper than 200 levels',
    );
  });

  it('compiles only quick schemas on the event loop', async () => {
    const wide = (n: number) =>
      object(Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, { type: 'string' }])));
    const own = new ArgumentValidator({ thread: unhurried() });
    expect(await own.validate(wide(400), { p0: 1 })).toMatchObject({ kind: 'invalid' });
    expect(own.compiled).toBe(0);
    expect(await own.validate(wide(40), { p0: 1 })).toMatchObject({ kind: 'invalid' });
    expect(own.compiled).toBe(1);
    own.dispose();
  });

  it('compiles nothing beyond the configured limits', async () => {
    const own = new ArgumentValidator({ limits: { ...SCHEMA_LIMITS, maxProperties: 1 } });
    const two = object({ a: { type: 'string' }, b: { type: 'string' } });
    const reason = 'its schema exceeds the limits (2 properties > 1)';
    expect(await own.validate(two, { a: 1 })).toEqual({ kind: 'unchecked', reason });
    const wider = new ArgumentValidator({ limits: SCHEMA_LIMITS });
    expect(await wider.validate(two, { a: 1 })).toMatchObject({ kind: 'invalid' });
    for (const one of [own, wider]) one.dispose();
  });

  it('never fetches a reference', async () => {
    let asked = 0;
    const server = createServer((_, answer) => {
      asked += 1;
      answer.end('{}');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as { port: number };
    const schema = object({ a: { $ref: `http://127.0.0.1:${port}/a.json` } });
    expect(await validator.validate(schema, { a: 1 })).toMatchObject({
      kind: 'unchecked',
      reason: expect.stringContaining('reference'),
    });
    await new Promise((closed) => server.close(closed));
    expect(asked).toBe(0);
  });

  it('forwards a call with a note if its well-formed schema is unusable', async () => {
    // A real server sends an empty enum.
    expect(await validator.validate(object({ a: { enum: [] } }), { a: 1 })).toMatchObject({ kind: 'unchecked' });
    // A promise would count as true.
    expect(await validator.validate({ $async: true, ...object({ a: { type: 'string' } }) }, { a: 1 })).toMatchObject({
      kind: 'unchecked',
    });
  });

  it('keeps patterns apart, and interprets them as JavaScript does', async () => {
    const schema = object({
      a: { pattern: '^a+$' },
      b: { pattern: '^b+$' },
      u: { pattern: '^\\u0041$' },
      c: { pattern: 'b' },
    });
    expect(await validator.validate(schema, { a: 'aa', b: 'bb', u: 'A', c: 'abc' })).toEqual({ kind: 'valid' });
    expect((await modelError(schema, { a: 'bb', b: 'bb' })).problems).toEqual(['a must be a string that matches ^a+$']);
    expect(linearEngine('^a$', 'u').toString()).not.toBe(linearEngine('^b$', 'u').toString());
  });

  it('checks patterns outside the linear engine in the thread', async () => {
    const schema = object({ a: { pattern: '^(?=.*\\d)\\w{3,100}$' } });
    expect(isLightPattern('^(?=.*\\d)\\w{3,100}$')).toBe(false);
    expect(await validator.validate(schema, { a: 'ab1' })).toEqual({ kind: 'valid' });
    expect(await validator.validate(schema, { a: 'abc' })).toMatchObject({ kind: 'invalid' });
  });

  it('isolates the identifiers of schemas', async () => {
    const $id = 'http://example.com/inner';
    const named = object({ a: { $ref: $id } }, { $defs: { inner: { $id, type: 'string' } } });
    expect(await validator.validate(named, { a: 'x' })).toEqual({ kind: 'valid' });
    expect(await validator.validate(named, { a: 1 })).toMatchObject({ kind: 'invalid' });
    // Schemas that only name the identifier have nothing to check against: one runs in place, one in the thread.
    const elsewhere = object({ a: { $ref: $id } });
    const inThread = object({ a: { $ref: $id }, again: { $ref: '#' } });
    for (const schema of [elsewhere, inThread]) {
      expect(await validator.validate(schema, { a: 1 })).toMatchObject({ kind: 'unchecked' });
    }
  });

  it.each([
    ['date', '2024-02-29', '2023-02-29'],
    ['date-time', '2024-01-01T10:00:00', 'tomorrow'],
    ['date-time', '2024-01-01T10:00:00.5+02:00', '2024-01-01'],
    ['time', '10:00:00Z', '25:00:00'],
    ['duration', 'P1DT2H', 'P'],
    ['email', 'a@b.example', 'a at b'],
    ['hostname', 'host-1.example', 'a b'],
    ['ipv4', '192.0.2.1', '192.0.2.256'],
    ['ipv6', '2001:db8::1', '2001:db8::g'],
    ['uri', 'https://example.com/a?b=c', 'example.com/a'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567'],
  ])('checks the format %s', async (format, good, bad) => {
    const schema = object({ a: { type: 'string', format } });
    expect(await validator.validate(schema, { a: good })).toEqual({ kind: 'valid' });
    expect((await modelError(schema, { a: bad })).message).toContain(`of format ${format}, like `);
  });

  it('ignores unknown formats', async () => {
    expect(await validator.validate(object({ a: { type: 'string', format: 'cidrv4' } }), { a: '?' })).toEqual({
      kind: 'valid',
    });
  });

  it('holds a bounded number of compiled validators, and drops them with the catalog', async () => {
    const compiler = new SchemaCompiler<string>(linearEngine, 8);
    for (let i = 0; i < 100; i++) compiler.validator(`k${i}`, () => ({ dialect: 'draft-07', schema: { minimum: i } }));
    expect(compiler.size).toBeLessThanOrEqual(8);
    let compiled = 0;
    const again = () => {
      compiled += 1;
      return { dialect: 'draft-07' as const, schema: { minimum: 99 } };
    };
    compiler.validator('k99', again);
    expect(compiled).toBe(0);

    const own = new ArgumentValidator();
    await own.validate(object({ a: { type: 'string' } }), {});
    expect(own.compiled).toBe(1);
    own.clear();
    expect(own.compiled).toBe(0);
    own.dispose();
  });

  it('forwards a call with a note if no thread can start', async () => {
    const missing = new URL('./missing.ts', import.meta.url);
    const own = new ArgumentValidator({ thread: new ThreadedCheck(missing) });
    const recursive = object({ a: { $ref: '#' } });
    for (let i = 0; i < 2; i++) {
      expect(await own.validate(recursive, { a: 1 })).toEqual({
        kind: 'unchecked',
        reason: 'the validation thread did not start',
      });
    }
    own.dispose();
  });

  it('does not blame the thread for time in which its own event loop was blocked', async () => {
    const answers = `
      import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ id, value }) => {
        parentPort.postMessage({ compiled: id });
        parentPort.postMessage({ id, errors: [] });
        Atomics.store(value, 0, 1);
        Atomics.notify(value, 0);
      });
      parentPort.postMessage('ready');`;
    const limits = { answerMs: 20_000, valueMs: 20_000, compileMs: 20_000, startMs: 20_000 };
    const own = new ThreadedCheck(new URL(`data:text/javascript,${encodeURIComponent(answers)}`), limits);
    let overruns = 0;
    const ask = (value: Int32Array) =>
      own.check({ key: 'k', dialect: 'draft-07', schema: '{}', value }, () => {
        overruns += 1;
      });
    const flag = () => new Int32Array(new SharedArrayBuffer(4));
    await ask(flag());
    Object.assign(limits, { answerMs: 1, valueMs: 1, compileMs: 1 });
    // From here on, timers run before messages.
    await new Promise((turn) => setImmediate(turn));
    const answered = flag();
    const asked = ask(answered);
    // The message is sent before any timer runs.
    for (let i = 0; i < 5; i++) await undefined;
    Atomics.wait(answered, 0, 0);
    Atomics.wait(flag(), 0, 0, 50);
    expect(await asked).toMatchObject({ kind: 'answered' });
    expect(overruns).toBe(0);
    own.dispose();
  });

  it('never throws, whatever the schema and value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue(), async (schema, args) => {
        const verdict = await validator.validate(schema, args);
        expect(['valid', 'invalid', 'unchecked', 'bad_schema']).toContain(verdict.kind);
        expect(await validator.validate(schema, args)).toEqual(verdict);
      }),
      { numRuns: 200 },
    );
  });

  it.each(Object.entries(schemaForms.usable))('accepts a schema in the form of %s', async (_, schema) => {
    const { kind } = await validator.validate(schema as JsonObject, {});
    expect(['valid', 'invalid']).toContain(kind);
  });

  it('leaves a schema with an empty enum unchecked', async () => {
    expect(await validator.validate(schemaForms.emptyEnum, {})).toEqual({
      kind: 'unchecked',
      reason: expect.stringContaining('enum must have non-empty array'),
    });
  });

  it('accepts the schemas of a whole catalog', { timeout: 120_000 }, async () => {
    const own = new ArgumentValidator();
    const refused: string[] = [];
    for (const { server, tools } of sampleListings()) {
      for (const { name, inputSchema } of tools as { name: string; inputSchema: JsonObject }[]) {
        const verdict = await own.validate(inputSchema, {});
        const why = verdict.kind === 'unchecked' ? verdict.reason : 'problem' in verdict && verdict.problem;
        // Schemas above the limits and empty enums are known.
        if (why && !/too long|enum must have non-empty array/.test(why)) refused.push(`${server}/${name}: ${why}`);
      }
    }
    own.dispose();
    expect(refused).toEqual([]);
  });
});

describe('the error for a model', () => {
  const issue = object(
    {
      owner: { type: 'string' },
      state: { enum: ['open', 'closed', 'all'] },
      per_page: { type: 'integer', minimum: 1, maximum: 100 },
      labels: { type: 'array', items: { type: 'string' } },
    },
    { required: ['owner'], additionalProperties: false },
  );

  it('lists every failing path, with the expected form and the nearest name', async () => {
    const { message, path, problems, expected } = await modelError(issue, {
      Owner: 'me',
      state: 'opened',
      perPage: 3,
      labels: ['a', 1],
    });
    expect(problems).toEqual([
      '"owner" is missing: a string; you gave "Owner"',
      '"Owner" is not an argument; did you mean "owner"?',
      '"perPage" is not an argument; did you mean "per_page"?',
      'labels.1 must be a string, not a whole number',
      'state must be one of "open", "closed", "all"; did you mean "open"?',
    ]);
    expect(path).toEqual([]);
    expect(message).toBe(
      'Correct the arguments of log and call again: "owner" is missing: a string; you gave "Owner" (and 4 more).',
    );
    expect(expected['#/properties/state']).toEqual({ enum: ['open', 'closed', 'all'] });
    expect(Object.keys((expected['#'] as { properties: object }).properties)).toEqual([
      'owner',
      'state',
      'per_page',
      'labels',
    ]);
  });

  it('never repeats values, which may be secrets', async () => {
    const { message, problems } = await modelError(issue, { owner: 5, state: 'hunter2-hunter2', per_page: 'hunter3' });
    expect(`${message}${problems.join()}`).not.toContain('hunter');
  });

  it('explains the branch that was meant, or all alternatives', async () => {
    const schema = object({
      where: { anyOf: [{ type: 'string' }, object({ path: { type: 'string' } }, { required: ['path'] })] },
    });
    expect((await modelError(schema, { where: { file: 'x' } })).problems).toEqual([
      '"path" is missing: a string; "file" is unknown (in where)',
    ]);
    expect((await modelError(schema, { where: 5 })).problems).toEqual(['where must be a string, or an object']);
  });

  it('has a bounded size, whatever is wrong', async () => {
    const schema = object({ items: { type: 'array', items: object({ x: { type: 'string' } }, { required: ['x'] }) } });
    const { problems, expected, message } = await modelError(schema, {
      items: Array.from({ length: 2_000 }, () => ({})),
    });
    expect(problems.length).toBe(20);
    expect(JSON.stringify({ problems, expected, message }).length).toBeLessThan(6_000);
    const choices = object({
      a: {
        anyOf: Array.from({ length: 80 }, (_, i) =>
          object({ [`key_number_${i}`]: { type: 'string' } }, { required: ['key_number_0'] }),
        ),
      },
    });
    expect(JSON.stringify((await modelError(choices, { a: 5 })).expected).length).toBeLessThan(1_700);
    const long = 'k'.repeat(5_000);
    const answer = await modelError(object({}, { additionalProperties: false }), { [long]: 1, [`${long}2`]: 1 });
    expect(JSON.stringify(answer).length).toBeLessThan(2_000);
  });

  it('contains no secret of the schema either', async () => {
    const { message, problems, expected } = await modelError(
      object({ a: { enum: ['SECRET'], description: 'a SECRET' } }),
      {
        a: 1,
      },
    );
    expect(problems).toEqual(['a must be "MASK"']);
    expect(JSON.stringify([message, expected])).not.toContain('SECRET');
  });

  it('is one line without control characters', async () => {
    const schema = object({ a: { enum: ['x\u001b[31m\ny', '\u202e'] } });
    expect((await modelError(schema, { a: 1 })).message).not.toMatch(/\p{Cc}/u);
  });
});

describe('schema health', () => {
  it('bounds keywords that multiply work', () => {
    const branches = { anyOf: Array.from({ length: 600 }, () => ({ type: 'string' })) };
    expect(checkSchemaHealth(branches).map(({ kind }) => kind)).toEqual(['branches_exceeded']);
    const refs = {
      allOf: [
        object(Object.fromEntries(Array.from({ length: 511 }, (_, i) => [`p${i}`, { $ref: '#/$defs/a' }]))),
        ...[1, 2].map(() => ({ $ref: '#' })),
      ],
    };
    expect(checkSchemaHealth(refs).map(({ kind }) => kind)).toEqual(['refs_exceeded']);
    let deep: JsonObject = { type: 'string' };
    for (let i = 0; i < 5_000; i++) deep = { not: deep };
    expect(checkSchemaHealth(deep)).toContainEqual({ kind: 'depth_exceeded', detail: '5001 levels > 32' });
  });

  it('is reported for any number of patterns', () => {
    const patternProperties = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`^${i}`, true]));
    expect(checkSchemaHealth({ patternProperties }).map(({ kind }) => kind)).toContain('size_exceeded');
  });

  it('counts one nested property as two levels', () => {
    const nested = (levels: number): JsonObject =>
      levels === 0 ? { type: 'string' } : object({ a: nested(levels - 1) });
    expect(profileSchema(nested(3)).depth).toBe(7);
    expect(checkSchemaHealth(nested(15))).toEqual([]);
    expect(checkSchemaHealth(nested(16))).toEqual([{ kind: 'depth_exceeded', detail: '33 levels > 32' }]);
  });

  it('keeps every tool and reports what is wrong with its schema', () => {
    const tools = [
      { server: 'git', upstreamName: 'log', inputSchema: { type: 'strnig' } },
      { server: 'git', upstreamName: 'show', inputSchema: { type: 'object' } },
    ];
    expect(schemaFindings(tools)).toEqual([
      { server: 'git', tool: 'log', kind: 'flagged', reason: expect.stringContaining('not well formed: at /type') },
    ]);
    expect(schemaFindings(tools, { limits: { ...SCHEMA_LIMITS, maxBytes: 10 } })).toHaveLength(2);
  });
});
