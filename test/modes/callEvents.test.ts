import { describe, expect, it } from 'vitest';
import { CallPipeline } from '../../src/calls/pipeline/callPipeline.ts';
import { gatewayMode } from '../../src/modes/gateway/gatewayMode.ts';
import type { CallEvent } from '../../src/modes/shared/callEvent.ts';
import { catalogLoaded } from '../../src/modes/shared/catalog/catalogEvents.ts';
import { CatalogView } from '../../src/modes/shared/catalog/catalogView.ts';
import { TokenMeter } from '../../src/modes/shared/catalog/tokenMeter.ts';
import { type AdmittedResult, Firewall } from '../../src/results/firewall.ts';
import { scrubSecrets } from '../../src/secrets/mask.ts';
import { diagnosticEvent } from '../../src/telemetry/diagnosticEvent.ts';
import { fixedContext } from '../support/fixedContext.ts';

const CANARY = 'canary-5e7a';
const SECRET = `ghp_${'a1B2'.repeat(9)}`;
const READ = {
  name: 'read',
  description: 'Reads.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
};

type Seen = CallEvent & { sessionId: string };

/** Creates the mode over one server with the given answers. */
function gateway(answer: () => Promise<Record<string, unknown>>) {
  const context = fixedContext([{ server: 'files', tools: [READ] }]);
  const firewall = new Firewall({ store: context.artifacts });
  const calls = new CallPipeline<AdmittedResult>({
    upstream: () => ({ state: 'ready', call: answer }),
    firewall: (result, { tool }) => firewall.admit(result, { toolId: tool.id, upstreamName: tool.upstreamName }),
    scrubSecrets,
  });
  const events: Seen[] = [];
  const mode = gatewayMode({ ...context, calls, onCallEnd: (_call, event) => void events.push(event) });
  const id = context.view().catalog.tools[0]?.id as string;
  const call = (name: string, args: unknown, session: object = mode) =>
    mode.callTool(name, args, { signal: new AbortController().signal, client: 'test', session });
  const lines = () =>
    events.map((event) =>
      diagnosticEvent({ ...event, attributes: event.attributes(new TokenMeter()) }, new Date(0), scrubSecrets),
    );
  return { id, call, events, lines };
}

const text = (words: string, more: object = {}) => ({ content: [{ type: 'text', text: words }], ...more });

describe('the log events of reads', () => {
  it('name listed items, and nothing that a caller supplied', async () => {
    const context = fixedContext([], {
      primitives: [
        {
          server: 'docs',
          resources: [{ uri: 'docs://1', name: 'guide' }],
          resourceTemplates: [{ uriTemplate: 'docs://day/{day}', name: 'day' }],
          prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }],
        },
      ],
      upstream: async () => ({
        contents: [{ uri: 'x', text: CANARY }],
        messages: [{ role: 'user', content: text(CANARY).content[0] }],
      }),
    });
    const events: Seen[] = [];
    const mode = gatewayMode({ ...context, onCallEnd: (_call, event) => void events.push(event) });
    const call = (name: string, args: unknown) =>
      mode.callTool(name, args, { signal: new AbortController().signal, client: 'test', session: {} });
    const { resources, prompts } = context.primitives.view().catalog;
    const prompt_id = prompts[0]?.id;
    await call('resource_browse', { query: CANARY });
    await call('prompt_browse', { path: '/' });
    await call('resource_read', { resource_id: resources[0]?.id });
    await call('resource_read', { resource_id: `docs://day/${CANARY}` });
    await call('resource_read', { resource_id: `docs://${CANARY}` });
    await call('resource_read', { resource_id: `resource::${CANARY}` });
    await call('prompt_get', { prompt_id, args: { who: CANARY } });
    await call('prompt_get', { prompt_id, args: { [CANARY]: 7, who: 7 } });
    const lines = events.map((event) =>
      diagnosticEvent({ ...event, attributes: event.attributes(new TokenMeter()) }, new Date(0), scrubSecrets),
    );
    expect(lines.map(({ event, tool_id }) => [event, tool_id])).toEqual([
      ['browse.completed', null],
      ['browse.completed', null],
      ['read.completed', resources[0]?.id],
      ['read.completed', resources[1]?.id],
      ['read.completed', '(unknown)'],
      ['read.failed', null],
      ['read.completed', prompt_id],
      ['read.failed', null],
    ]);
    expect(events.map(({ method }) => method).slice(0, 3)).toEqual([
      'resource_browse',
      'prompt_browse',
      'resource_read',
    ]);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
    expect(lines[2]?.attributes).toMatchObject({
      raw_chars: CANARY.length,
      // The answer shows it whole, so nothing is kept.
      artifact_refs: [],
    });
  });
});

describe('the log event of a call', () => {
  it('has the nine members of every event, without values, unknown names or results', async () => {
    const { id, call, lines } = gateway(async () => text(`${CANARY} ${SECRET}`));
    await call('tool_execute', { tool_id: id, args: { path: CANARY, [CANARY]: SECRET } });
    await call('tool_execute', { tool_id: CANARY, args: { [SECRET]: 1 } });
    await call('tool_execute', { tool_id: id, args: CANARY });
    await call('tool_browse', { query: CANARY });
    await call('tool_browse', { path: `/${CANARY}` });
    await call('tool_view', { handle: CANARY, selector: { type: CANARY } });
    await call('tool_view', { handle: `schema:${CANARY}`, selector: {} });
    await call(CANARY, { [CANARY]: CANARY });
    await call('tool_execute', CANARY);
    const written = lines();
    expect(JSON.stringify(written)).not.toContain(CANARY);
    expect(JSON.stringify(written)).not.toContain(SECRET);
    expect(written.map(({ event }) => event)).toEqual([
      'execute.completed',
      'execute.failed',
      'execute.failed',
      'browse.completed',
      'browse.failed',
      'view.failed',
      'hydrate.failed',
      'call.failed',
      'execute.failed',
    ]);
    for (const event of written) {
      expect(Object.keys(event)).toEqual([
        'version',
        'event',
        'timestamp',
        'success',
        'duration_ms',
        'session_id',
        'tool_id',
        'namespace',
        'attributes',
      ]);
    }
    expect(written[0]?.attributes.arg_keys).toEqual(['(unknown)', 'path']);
    expect(written[1]?.tool_id).toBe('(unknown)');
    expect(written[4]?.attributes).toEqual({ error_code: 'PATH_NOT_FOUND', query_chars: 0, path_depth: 1 });
    expect(written[5]?.attributes).toMatchObject({ artifact_ref: '(unknown)', selector_type: '(unknown)' });
  });

  it('distinguishes an error answer from a loss, and counts dispatches', async () => {
    let answer = async (): Promise<Record<string, unknown>> => text('no', { isError: true });
    const { id, call, events } = gateway(() => answer());
    const run = () => call('tool_execute', { tool_id: id, args: { path: 'a' } });
    await run();
    answer = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
    await run();
    answer = async () => text('yes');
    await run();
    expect(events.map(({ event, end, success, dispatched }) => [event, end, success, dispatched])).toEqual([
      ['execute.completed', 'answered_with_error', false, true],
      ['execute.failed', 'lost', false, true],
      ['execute.completed', 'ok', true, true],
    ]);
    expect(events[1]).toMatchObject({ toolId: id, namespace: 'files', error: { code: 'UPSTREAM_UNAVAILABLE' } });
  });

  it('reports the tokens that a digest saved', async () => {
    const { id, call, lines } = gateway(async () => text('a line of words\n'.repeat(5_000)));
    await call('tool_execute', { tool_id: id, args: { path: 'a' } });
    const { raw_chars, raw_tokens, compact_chars, compact_tokens, tokens_saved, firewall_triggered } =
      lines()[0]?.attributes ?? {};
    expect({ raw_chars, firewall_triggered }).toEqual({ raw_chars: 80_000, firewall_triggered: true });
    expect(raw_tokens).toBeGreaterThan(19_000);
    expect(compact_chars).toBeLessThan(8_000);
    expect(tokens_saved).toBe(Number(raw_tokens) - Number(compact_tokens));
  });

  it('names each session by an id of its own', async () => {
    const { call, events } = gateway(async () => text(''));
    const other = {};
    await call('tool_browse', { path: '/' });
    await call('tool_browse', { path: '/' });
    await call('tool_browse', { path: '/' }, other);
    const [a, b, c] = events.map((event) => event.sessionId);
    expect(a).toMatch(/^[0-9a-f]{32}$/);
    expect([b === a, c === a]).toEqual([true, false]);
  });
});

describe('an event', () => {
  it('has only known attributes, and only counts in objects', () => {
    const attributes = { error_code: 'X', more: CANARY, arg_keys: ['a\nb', 'x'.repeat(400), 7] };
    const { attributes: written } = diagnosticEvent(
      { event: 'execute.failed', success: false, attributes },
      new Date(0),
      (words) => words,
    );
    expect(written).toEqual({ error_code: 'X', arg_keys: ['a b', `${'x'.repeat(299)}…`, 7] });
    const loaded = { namespace_counts: { files: 1, odd: CANARY } };
    const event = { event: 'catalog.loaded', success: true, attributes: loaded };
    expect(diagnosticEvent(event, new Date(0), (words) => words).attributes).toEqual({
      namespace_counts: { files: 1 },
    });
    expect(diagnosticEvent({ ...event, event: 'no.such' }, new Date(0), (words) => words).attributes).toEqual({});
  });

  it('has secrets masked in all texts before they are cut', () => {
    const draft = {
      event: 'upstream.failed',
      success: false,
      toolId: SECRET,
      namespace: SECRET,
      attributes: { reason: `${'x'.repeat(280)} ${SECRET}` },
    };
    const line = JSON.stringify(diagnosticEvent(draft, new Date(0), scrubSecrets));
    expect(line).not.toContain(SECRET.slice(0, 12));
    expect(line).toContain('[REDACTED-SECRET]');
  });
});

describe('the token meter', () => {
  it('counts exactly within its budget, and estimates beyond it', () => {
    let now = 0;
    const meter = new TokenMeter(() => now);
    const words = 'the quick brown fox jumps over the lazy dog '.repeat(1_000);
    const exact = meter.count(words);
    const digits = '0123456789'.repeat(100);
    const digitTokens = new TokenMeter().count(digits);
    for (let n = 0; n < 4; n++) meter.count(words);
    // The budget of the second is spent, so the meter estimates with the ratio of words although these are digits.
    const estimated = meter.count('x'.repeat(200_000));
    expect(estimated).toBeGreaterThan(30_000);
    expect(estimated).toBeLessThan(50_000);
    now = 1_000;
    expect(meter.count(words)).toBe(exact);
    expect(meter.count(digits)).toBe(digitTokens);
    expect(meter.countScaled('the quick ', 1_000)).toBe(300);
  });
});

describe('a loaded catalog', () => {
  it('is counted in slices, until a newer one replaces it', async () => {
    const description = 'some words of it '.repeat(100);
    const fresh = (): CatalogView => {
      const tools = Array.from({ length: 400 }, (_, n) => ({
        ...READ,
        name: `read_${n}`,
        inputSchema: { type: 'object', properties: { [`path_${n}`]: { description } } },
      }));
      return CatalogView.build([{ server: 'files', tools }], 1);
    };
    const view = fresh();
    const counted = await catalogLoaded(view, []);
    expect(counted?.loaded).toMatchObject({
      tool_count: 400,
      namespace_counts: { files: 400 },
      exposed_schema_tokens: 0,
    });
    expect(counted?.loaded.schema_tokens_avoided).toBe(counted?.loaded.full_schema_tokens);
    const newer = new AbortController();
    const overtaken = catalogLoaded(fresh(), [], newer.signal);
    newer.abort();
    expect(await overtaken).toBeUndefined();
  });
});
