import { describe, expect, it } from 'vitest';
import { INSTRUCTIONS, TOOLS } from '../../src/records/surface/tools.ts';
import { Answering, call, schemaOf } from './fakes.ts';

const bytes = (value: unknown): number => Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
const numbers = (count: number): number[] => [...Array(count).keys()];

describe('the definitions', () => {
  it('are those of five tools in less than 12 KiB (R1.1, R1.4)', () => {
    expect(TOOLS.map(({ name }) => name)).toEqual(['schema', 'query_records', 'aggregate', 'search', 'fetch']);
    expect(bytes(TOOLS)).toBeLessThan(12 * 1024);
  });

  it('claim reads alone, are strict, name no old alias and hide nothing (R1.2, R1.3, R1.7)', () => {
    for (const tool of TOOLS) {
      expect(tool.annotations).toEqual({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
      expect(tool.inputSchema.additionalProperties).toBe(false);
      expect(tool.inputSchema.properties).toHaveProperty('connection_id');
      expect(tool.outputSchema.type).toBe('object');
      expect(tool.description).toMatch(/read-only; GET \/v1\//);
      expect(JSON.stringify(tool)).not.toMatch(/connector_instance_id|hidden/);
    }
  });

  it('repeat no long description (R1.4)', () => {
    const texts = [...JSON.stringify(TOOLS).matchAll(/"description":"((?:[^"\\]|\\.)*)"/g)].map(
      ([, text]) => text ?? '',
    );
    const long = texts.filter((text) => text.length > 80);
    expect(long.length).toBeGreaterThan(4);
    expect(new Set(long).size).toBe(long.length);
  });

  it('leave to the first 512 characters of the instructions what all tools need (R1.6)', () => {
    const first = INSTRUCTIONS.slice(0, 512);
    for (const part of [
      'grant',
      'schema(stream)',
      'connection_id',
      '"gte"',
      'limit',
      'fields',
      'cursor',
      'aggregate',
    ]) {
      expect(first).toContain(part);
    }
    expect(INSTRUCTIONS).not.toMatch(/use (an|your|the) owner/);
  });
});

describe('arguments that a tool does not take', () => {
  it.each([
    ['schema', { profile: 'full' }, 'invalid_request', /takes no argument "profile"/],
    ['schema', { detail: 'verbose' }, 'invalid_request', /must be one of compact, full/],
    ['query_records', {}, 'invalid_request', /needs the argument "stream"/],
    ['query_records', { stream: 's', limit: 101 }, 'invalid_request', /limit/],
    ['query_records', { stream: 's', limit: '5' }, 'invalid_request', /limit/],
    ['query_records', { stream: 's', connector_instance_id: 'c' }, 'invalid_request', /connector_instance_id/],
    ['query_records', { stream: 's', filter: 'a=b' }, 'invalid_filter', /must be an object/],
    ['query_records', { stream: 's', filter: {} }, 'invalid_filter', /is empty/],
    ['query_records', { stream: 's', filter: { a: { ne: 1 } } }, 'invalid_filter', /operator "ne"/],
    ['query_records', { stream: 's', filter: { a: [1] } }, 'invalid_filter', /no value/],
    ['query_records', { stream: 's', expand_limit: { r: 0 } }, 'invalid_expand', /expand_limit/],
    ['aggregate', { stream: 's', metric: 'avg' }, 'invalid_request', /count_distinct/],
    ['search', { q: '' }, 'invalid_request', /"q"/],
    ['fetch', { id: 'cin_1/../secrets:1' }, 'invalid_id', /stream:record_id/],
    ['fetch', { id: 'a:b/c:d' }, 'invalid_id', /stream:record_id/],
    ['query_records', { stream: '..' }, 'invalid_request', /plain name/],
    ['aggregate', { stream: 'a/b', metric: 'count' }, 'invalid_request', /plain name/],
  ])('%s %j is %s, and nothing is sent (R1.5)', async (tool, args, code, message) => {
    const provider = new Answering(() => ({}));
    const { error } = await call(provider, tool, args);
    expect(error).toMatchObject({ type: 'adapter_error', code, message: expect.stringMatching(message) });
    expect(provider.asked).toEqual([]);
  });
});

describe('schema', () => {
  const wide = (connectors: number, streams: number, fields: number) =>
    schemaOf(
      ...numbers(connectors).map((c) => ({
        key: `kind-${c}`,
        streams: numbers(streams).map((s) => ({
          name: `stream_${c}_${s}`,
          connections: [`cin_${c}`],
          fields: Object.fromEntries(numbers(fields).map((f) => [`field_${f}`, 't=string,eq,lex,a=count_distinct'])),
        })),
      })),
    );

  it.each([
    [4, 6, 8_000],
    [4, 20, 18_000],
  ])('of %i connectors with %i streams names every stream within the budget (R2.2, R2.6)', async (c, s, budget) => {
    const { text, structured } = await call(new Answering(() => wide(c, s, 30)), 'schema');
    expect(bytes(text)).toBeLessThan(budget);
    expect(bytes(structured)).toBeLessThan(60_000);
    for (const at of numbers(c)) for (const of of numbers(s)) expect(text).toContain(`stream_${at}_${of}`);
    expect(JSON.stringify(structured)).not.toContain('field_1');
  });

  it('of a thousand streams with long labels still names each (R2.6)', async () => {
    const document = wide(10, 100, 3);
    const { text, structured } = await call(new Answering(() => document), 'schema');
    expect(text).toContain('stream_9_99');
    expect(bytes(structured)).toBeLessThan(60_000);
  });

  it('of one stream is scoped, flagged and small (R2.3, R2.4)', async () => {
    const document = wide(2, 3, 30);
    const { text, structured } = await call(new Answering(() => document), 'schema', { stream: 'stream_0_1' });
    expect(bytes(structured)).toBeLessThan(6_000);
    expect(text).toContain('field_0[t=string,eq,lex,a=count_distinct]');
    expect(text).toContain('more:14');
    expect(text).toContain('field_29');
    expect(JSON.stringify(structured)).not.toContain('stream_0_2');
    for (const part of [
      'field_capability_legend',
      'sort=',
      'count=',
      'projection=',
      'expand=',
      'search=',
      'aggregations=',
    ])
      expect(text).toContain(part);
  });

  it('of one connection has no other connection (R2.3)', async () => {
    const document = schemaOf({ streams: [{ name: 'messages', connections: ['cin_1', 'cin_2'] }] });
    const { text, structured } = await call(new Answering(() => document), 'schema', {
      stream: 'messages',
      connection_id: 'cin_2',
    });
    expect(JSON.stringify(structured)).not.toContain('cin_1');
    expect(structured).toHaveProperty('data.connectors.0.streams.0.granted_connections.0.connection_id', 'cin_2');
    expect(text).toContain('schema_scope connection_id="cin_2"');
  });

  it('in full of two sources is refused, also if the provider sends both (R2.5)', async () => {
    const document = schemaOf({ streams: [{ name: 'messages', connections: ['cin_1', 'cin_2'] }] });
    const { error } = await call(new Answering(() => document), 'schema', { stream: 'messages', detail: 'full' });
    expect(error).toMatchObject({ code: 'ambiguous_schema_detail', retry_with: 'connection_id' });
    expect(error?.available_connections).toHaveLength(2);
  });

  it('in full without a stream is refused before any request (R2.5)', async () => {
    const provider = new Answering(() => schemaOf());
    const { error } = await call(provider, 'schema', { detail: 'full' });
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('connection_id') });
    expect(provider.asked).toEqual([]);
  });

  it('in full stays below 200,000 bytes (R2.6)', async () => {
    const stream = {
      name: 'messages',
      schema: {
        properties: Object.fromEntries(numbers(2_000).map((n) => [`field_${n}`, { description: 'x'.repeat(900) }])),
      },
      field_capabilities: { id: 't=string,eq' },
      granted_connections: [{ connection_id: 'cin_1' }],
    };
    const document = { object: 'schema', connectors: [{ connector_key: 'k', streams: [stream] }] };
    const { structured } = await call(new Answering(() => document), 'schema', { stream: 'messages', detail: 'full' });
    expect(bytes(structured)).toBeLessThan(200_000);
    expect(JSON.stringify(structured)).toMatch(/json_schema_omitted|prose_shortened/);
  });

  it('without any ability is reported as such (R2.4)', async () => {
    const document = schemaOf({ streams: [{ name: 'messages', fields: { id: 'declared', body: 'declared' } }] });
    const { text } = await call(new Answering(() => document), 'schema', { stream: 'messages' });
    expect(text).toMatch(/none of their abilities/);
  });

  it('of a newer provider says so (R7.6)', async () => {
    const answer = { status: 200, body: schemaOf({ streams: [{ name: 'm' }] }), version: '2031-01-01' };
    expect((await call(new Answering(() => answer), 'schema')).text).toContain('warning code=newer_provider');
    const same = { ...answer, version: '2026-04-06' };
    expect((await call(new Answering(() => same), 'schema')).text).not.toContain('newer_provider');
  });

  it('has no wrapped document, no old alias and no row twice (R1.3, R2.6)', async () => {
    const streams = [{ name: 'm', connector_instance_id: 'cin_1', granted_connections: [{ connection_id: 'cin_1' }] }];
    const body = { data: { data: { object: 'schema', streams, connectors: [{ connector_key: 'k', streams }] } } };
    const { structured } = await call(new Answering(() => body), 'schema');
    expect(structured).not.toHaveProperty('data.data');
    expect(structured).not.toHaveProperty('data.streams');
    expect(JSON.stringify(structured)).not.toContain('connector_instance_id');
  });
});

describe('expand', () => {
  const schema = (relations: readonly object[]) => ({
    connectors: [{ streams: [{ name: 'm', expand_capabilities: relations }] }],
  });
  const provider = (document: unknown) =>
    new Answering(({ path }) => (path === '/v1/schema' ? document : { object: 'list', data: [], has_more: false }));

  it.each([
    ['query_records', { stream: 'm', expand: ['a'] }],
    ['query_records', { stream: 'm', expand_limit: { a: 2 } }],
    ['fetch', { id: 'm:1', expand: ['a'] }],
  ])('on a stream without relations is refused by %s (R3.8)', async (tool, args) => {
    const asked = provider(schema([]));
    const { error } = await call(asked, tool, args);
    expect(error).toMatchObject({ code: 'invalid_expand', message: expect.stringContaining('"m"') });
    expect(asked.asked.map(({ path }) => path)).toEqual(['/v1/schema']);
  });

  it('is sent as soon as the schema offers a relation (R3.8)', async () => {
    let document = schema([]);
    const live = new Answering(({ path }) => (path === '/v1/schema' ? document : { data: [] }));
    expect((await call(live, 'query_records', { stream: 'm', expand: ['a'] })).error?.code).toBe('invalid_expand');
    document = schema([{ name: 'a' }]);
    expect((await call(live, 'query_records', { stream: 'm', expand: ['a'] })).error).toBe(undefined);
  });

  it.each([
    ['fails', new Error('down')],
    ['is no JSON', 'busy'],
    ['lacks the stream', { connectors: [{ streams: [{ name: 'other' }] }] }],
  ])('is the decision of the provider where the schema %s (R3.8)', async (_how, document) => {
    const asked = provider(document);
    await call(asked, 'query_records', { stream: 'm', expand: ['a'] });
    expect(asked.asked.at(-1)).toMatchObject({ path: '/v1/streams/m/records', query: [['expand', 'a']] });
  });
});
