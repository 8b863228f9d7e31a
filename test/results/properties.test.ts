import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gatewayError.ts';
import { ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { viewArtifact } from '../../src/results/artifacts/viewArtifact.ts';
import { outlineJson } from '../../src/results/digest/jsonOutline.ts';
import { pythonJsonChunks } from '../../src/results/envelope/pythonForm.ts';
import { Firewall } from '../../src/results/firewall.ts';
import { fieldsOf, toRecord, toRecords } from '../../src/results/select/delimited.ts';
import { SELECTOR_EXAMPLES, select } from '../../src/results/select/selectors.ts';
import { scrubSecretChunks, scrubSecrets } from '../../src/secrets/mask.ts';
import { LongText } from '../../src/text/longText.ts';
import { visibleText } from '../../src/text/visibleText.ts';

const CALL = { toolId: 'any:tool#00000000', upstreamName: 'tool' };
/** A variation selector behind an ideograph is visible, and stays (visibleText.ts). */
const HIDDEN =
  /(?![\t\n\r])\p{Cc}|[\u202a-\u202e\u2060-\u206f\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]|(?<!\p{Ideographic})[\u{e0100}-\u{e01ef}]|\p{Cs}/u;

/** Realistic and odd text: words, rare characters, single surrogates, long runs. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 50 }).map((units) => String.fromCharCode(...units)),
  fc
    .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 900 }))
    .map(([unit, n]) => unit.repeat(n)),
  fc
    .array(fc.constantFrom('葛', '\u{e0100}', '\u{e0101}', 'ن', '\u200c', '\u17b4'), { maxLength: 12 })
    .map((all) => all.join('')),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc
    .constantFrom('"', ',\n', '[[', '{"a":', '\u200d', '-----BEGIN PRIVATE KEY-----', '| - |\n| - |\n| - |\n')
    .map((unit) => unit.repeat(2_000)),
);

/** Valid parts, nearly valid parts, and arbitrary values. */
const anyPart = fc.oneof(
  fc.record({ type: fc.constant('text'), text: anyText }),
  fc.record(
    {
      type: fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'other'),
      text: fc.oneof(anyText, fc.jsonValue()),
      data: fc.oneof(fc.base64String(), fc.jsonValue()),
      mimeType: fc.oneof(fc.constantFrom('image/png', 'text/csv'), fc.jsonValue()),
      uri: fc.oneof(fc.webUrl(), fc.jsonValue()),
      name: fc.jsonValue(),
      resource: fc.oneof(fc.record({ uri: fc.webUrl(), blob: fc.base64String() }), fc.jsonValue()),
      annotations: fc.oneof(fc.record({ audience: fc.constantFrom(['user'], ['assistant'], 'user') }), fc.jsonValue()),
    },
    { requiredKeys: ['type'] },
  ),
  fc.jsonValue(),
);

const anyResult = fc.record(
  {
    content: fc.oneof(fc.array(anyPart, { maxLength: 6 }), fc.jsonValue()),
    structuredContent: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
    isError: fc.oneof(fc.boolean(), fc.jsonValue()),
  },
  { requiredKeys: [] },
);

describe('any result of a server', () => {
  it('gives a bounded, well-formed answer that shows hidden characters; every handle opens', async () => {
    await fc.assert(
      fc.asyncProperty(anyResult, async (result) => {
        const store = new ArtifactStore();
        const admitted = await new Firewall({ store }).admit(result, CALL);
        expect(admitted.text.length).toBeLessThan(7_500);
        expect(admitted.text).not.toMatch(HIDDEN);
        expect(admitted.text.startsWith(result.isError === true ? 'Error ' : 'ok')).toBe(true);
        const envelope = await admitted.envelope();
        JSON.stringify([envelope, admitted.parts]);
        for (const { handle, size_bytes: size } of envelope.artifacts) {
          expect((await store.open(handle))?.info.size).toBe(size);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('gives the same answer twice', async () => {
    await fc.assert(
      fc.asyncProperty(anyResult, async (result) => {
        const [one, two] = await Promise.all(
          [1, 2].map(() => new Firewall({ store: new ArtifactStore() }).admit(result, CALL)),
        );
        expect([two?.text, await two?.envelope(), two?.parts]).toEqual([one?.text, await one?.envelope(), one?.parts]);
      }),
      { numRuns: 100 },
    );
  });

  it('is accepted at any nesting depth', async () => {
    const deep = JSON.parse(`${'{"a":['.repeat(20_000)}1${']}'.repeat(20_000)}`) as Record<string, unknown>;
    for (const result of [
      { structuredContent: deep },
      { content: [deep] },
      { content: [], structuredContent: { deep } },
    ]) {
      const admitted = await new Firewall({ store: new ArtifactStore() }).admit(result, CALL);
      expect(admitted.text).toMatch(/^ok/);
    }
  });
});

describe('any selector', () => {
  const examples = SELECTOR_EXAMPLES.map((example) => JSON.parse(example) as Record<string, unknown>);
  const number = fc.oneof(fc.integer({ min: -50, max: 20_000 }), fc.jsonValue());
  const selector = fc.oneof(
    fc.constantFrom(...examples),
    fc
      .record(
        {
          type: fc.oneof(fc.constantFrom(...examples.map((one) => one.type)), fc.jsonValue()),
          chars: number,
          start: number,
          end: number,
          lines: number,
          limit: number,
          context: number,
          pattern: fc.oneof(fc.string(), fc.constantFrom('(a*)*', '.', 'x|y')),
          path: fc.oneof(fc.string(), fc.constantFrom('$', '$..*', '$[0]', '$.a[?@.b]')),
          keys: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
          columns: fc.oneof(fc.array(fc.oneof(fc.string(), fc.nat(5)))),
        },
        { requiredKeys: ['type'] },
      )
      .map((one) => {
        // Most fields belong to another selector; keep those that fit.
        const example = examples.find((known) => known.type === one.type);
        return example ? Object.fromEntries(Object.entries(one).filter(([name]) => name in example)) : one;
      }),
    fc.dictionary(fc.string(), fc.jsonValue()),
  );

  it('gives a bounded, well-formed view that shows hidden characters, or an error', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, selector, async (text, asked) => {
        const store = new ArtifactStore();
        const content = { kind: 'text' as const, text: new LongText([text]) };
        const draft = { kind: 'text', source: 't', content, mediaType: 'text/plain', label: 'x', owner: 'workspace' };
        try {
          const view = await viewArtifact(store, store.hold(draft).info.handle, asked);
          expect(view.text.length).toBeLessThan(7_500);
          expect(view.text).not.toMatch(HIDDEN);
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(['VIEW_FAILED', 'ARGS_INVALID']).toContain(error.code);
          expect(error.message.length).toBeLessThan(800);
        }
      }),
      { numRuns: 600 },
    );
  });

  it.each([
    ['lines', '\n'],
    ['range', ''],
    ['head', ''],
  ])('continues by %s through the whole text', async (type, separator) => {
    const clean = fc
      .oneof(fc.string({ unit: 'grapheme-ascii', maxLength: 30 }), fc.constantFrom('\n', 'ü', '👍', ' '))
      .map((unit) => unit.repeat(300));
    await fc.assert(
      fc.asyncProperty(fc.array(clean, { minLength: 1, maxLength: 8 }), async (pieces) => {
        const text = pieces.join('\n').replace(/\n+$/, '');
        const store = new ArtifactStore();
        const content = { kind: 'text' as const, text: new LongText([text]) };
        const { info } = store.hold({
          kind: 'text',
          source: 't',
          content,
          mediaType: '',
          label: '',
          owner: 'workspace',
        });
        const reader = await store.open(info.handle);
        let all = '';
        let last: string | undefined;
        for (let next: Readonly<Record<string, unknown>> | undefined = { type }; next && reader; ) {
          const part = await select(reader, next);
          // The continuation of a range belongs to the same line.
          all += (last === undefined || last === 'range' || next.type === 'range' ? '' : separator) + part.text;
          last = next.type as string;
          next = part.next;
        }
        expect(all.length).toBeLessThanOrEqual(text.length + 1);
        expect(text.startsWith(all) || all === text).toBe(true);
        if (type !== 'lines' || !text.split('\n').some((line) => line.length > 6_000)) expect(all).toBe(text);
      }),
      { numRuns: 150 },
    );
  });
});

describe('parts of the pipeline', () => {
  it('visibleText is idempotent, and leaves plain text unchanged', () => {
    fc.assert(fc.property(anyText, (text) => visibleText(visibleText(text)) === visibleText(text)));
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => visibleText(text) === text));
  });

  it('scrubSecrets is idempotent, and finds the same secrets in a stream as in the whole', () => {
    const words = fc.constantFrom(
      'password=',
      'hunter2hunter2',
      ' ',
      '\n',
      `gh${'p_'}${'a'.repeat(36)}`,
      'Bearer ',
      '://u:',
      '@h',
      '"',
      'x',
    );
    const text = fc.array(words, { maxLength: 60 }).map((all) => all.join(''));
    fc.assert(fc.property(text, (one) => scrubSecrets(scrubSecrets(one)) === scrubSecrets(one)));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 50 }), (one, size) => {
        const chunks = Array.from({ length: Math.ceil(one.length / size) }, (_, i) =>
          one.slice(i * size, (i + 1) * size),
        );
        return [...scrubSecretChunks(chunks)].join('') === scrubSecrets(one);
      }),
    );
  });

  it('the pieces of pythonJsonChunks give JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse([...pythonJsonChunks(value)].join(''))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('an outline exists for every JSON container, and for nothing else', async () => {
    const turn = async (): Promise<void> => {};
    const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
    await fc.assert(
      fc.asyncProperty(container, fc.constantFrom(0, 2), async (value, indent) => {
        expect(await outlineJson(JSON.stringify(value, null, indent), turn)).toBeDefined();
      }),
    );
    await fc.assert(
      fc.asyncProperty(container, fc.nat(), async (value, at) => {
        const text = JSON.stringify(value);
        const cut = text.slice(0, at % text.length);
        expect(await outlineJson(cut, turn)).toBeUndefined();
      }),
    );
  });

  it('records survive a round trip through fields', () => {
    const row = fc.array(fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ') }), {
      minLength: 2,
      maxLength: 5,
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), (rows) => {
        const text = rows.map((fields) => toRecord(fields, ',')).join('\n');
        const records = toRecords(text.split('\n'), ',');
        expect(records.map((record) => fieldsOf(record, ','))).toEqual(rows);
      }),
    );
  });

  it('a long text has the head, the tail and the chunks of the joined text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.nat(60),
        fc.integer({ min: 2, max: 40 }),
        (parts, chars, size) => {
          const text = parts.join('\n');
          const long = new LongText(parts);
          expect(long.length).toBe(text.length);
          expect(text.startsWith(long.head(chars)) && long.head(chars).length >= Math.min(chars, text.length) - 1).toBe(
            true,
          );
          expect(text.endsWith(long.tail(chars)) && long.tail(chars).length >= Math.min(chars, text.length) - 1).toBe(
            true,
          );
          expect([...long.chunks(size)].join('')).toBe(text);
          for (const chunk of [...long.chunks(size), long.head(chars), long.tail(chars)])
            expect(chunk).not.toMatch(/\p{Cs}/u);
        },
      ),
    );
  });
});
