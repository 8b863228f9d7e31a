import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gatewayError.ts';
import { ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { viewArtifact } from '../../src/results/artifacts/viewArtifact.ts';
import { textContent } from '../../src/results/envelope/partContent.ts';
import { SELECTOR_EXAMPLES } from '../../src/results/select/selectors.ts';
import { computedMsOf } from '../support/computedMs.ts';

function viewer(text: string | Buffer, mediaType = 'text/plain') {
  const store = new ArtifactStore();
  const content =
    typeof text === 'string' ? textContent(text) : ({ kind: 'base64', data: text.toString('base64') } as const);
  const { handle } = store.hold({ kind: 'text', source: 't', content, mediaType, label: 'x', owner: 'workspace' }).info;
  return async (selector: Record<string, unknown>) => {
    const view = await viewArtifact(store, handle, selector);
    expect(view.text.length).toBeLessThanOrEqual(7_500);
    expect(view.text).not.toMatch(/\p{Cs}/u);
    return view.data;
  };
}

type View = ReturnType<typeof viewer>;

/** Follows `next` to the end. */
async function readOn(view: View, selector: Record<string, unknown>, separator: string): Promise<string> {
  const parts: string[] = [];
  for (let next: Readonly<Record<string, unknown>> | undefined = selector; next; ) {
    const answer: Awaited<ReturnType<View>> = await view(next);
    parts.push(answer.text);
    next = answer.next;
    expect(parts.length).toBeLessThan(500);
  }
  return parts.join(separator);
}

async function failure(run: Promise<unknown>): Promise<GatewayError> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayError);
  return error as GatewayError;
}

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i} äöü 👍`).join('\n');

describe('selectors by position', () => {
  it('lines state their place and continue through the whole', async () => {
    const text = numbered(3_000);
    const view = viewer(text);
    const first = await view({ type: 'lines', start: 10, end: 12 });
    expect(first).toMatchObject({ text: 'line 10 äöü 👍\nline 11 äöü 👍', place: 'lines 10–11 of 3,000' });
    expect(first.next).toEqual({ type: 'lines', start: 12, end: 14 });
    expect(await readOn(view, { type: 'lines' }, '\n')).toBe(text);
  });

  it('a range is in bytes, never splits a character, and continues through the whole', async () => {
    const text = 'größer 👍 '.repeat(4_000);
    const view = viewer(text);
    expect((await view({ type: 'range', start: 3, end: 4 })).text).toBe('ö');
    expect((await view({ type: 'range', start: 10, end: 11 })).text).toBe('👍');
    expect(await readOn(view, { type: 'range', start: 0, end: 6_000 }, '')).toBe(text);
    expect((await view({ type: 'range', start: -4 })).text).toBe('👍 ');
  });

  it('head continues by bytes, also for invalid UTF-8', async () => {
    const text = numbered(900);
    expect(await readOn(viewer(text), { type: 'head', chars: 700 }, '')).toBe(text);
    const bytes = Buffer.concat([
      Buffer.from('ab'),
      Buffer.from([0xff, 0xfe, 0xe2, 0x82]),
      Buffer.from('z'.repeat(20)),
    ]);
    const head = await viewer(bytes)({ type: 'head', chars: 5 });
    expect(head.text).toBe('ab\ufffd\ufffd\ufffd');
    expect((await readOn(viewer(bytes), { type: 'head', chars: 5 }, '')).replaceAll('\ufffd', '')).toBe(
      `ab${'z'.repeat(20)}`,
    );
  });

  it('a negative head omits the end, and negative lines count from the end', async () => {
    expect((await viewer('line0\nline1')({ type: 'head', chars: -2 })).text).toBe('line0\nlin');
    expect((await viewer('a\nb\nc')({ type: 'lines', start: -2 })).text).toBe('b\nc');
    expect((await viewer('a\nb\nc')({ type: 'lines', end: -1 })).text).toBe('a\nb');
  });

  it('tail shows the last lines and continues backwards', async () => {
    const tail = await viewer(numbered(3_000))({ type: 'tail', lines: 2 });
    expect(tail).toMatchObject({ text: 'line 2998 äöü 👍\nline 2999 äöü 👍', place: 'lines 2998–2999 of 3,000' });
    expect(tail.next).toEqual({ type: 'lines', start: 2_898, end: 2_998 });
  });

  it('a line that does not fit continues by bytes', async () => {
    const view = viewer(`short\n${'x'.repeat(20_000)}\nend`);
    const cut = await view({ type: 'lines', start: 1, end: 2 });
    expect(cut.place).toMatch(/^the beginning of line 1/);
    expect(`short\n${await readOn(view, { type: 'lines', start: 1, end: 2 }, '')}`).toBe(
      `short\n${'x'.repeat(20_000)}\nend`,
    );
  });

  it('hidden characters are shown, and the text still fits', async () => {
    const view = await viewer('\u200b'.repeat(20_000))({ type: 'head', chars: 6_000 });
    expect(view.text).toMatch(/^(?:\\u200b)+$/);
    expect(view.next).toMatchObject({ type: 'range' });
  });

  it('an empty selection is stated', async () => {
    expect(await viewer('a\nb')({ type: 'lines', start: 5, end: 9 })).toMatchObject({
      text: '',
      place: 'no line of 2',
    });
    expect((await viewer('')({ type: 'lines' })).text).toBe('');
    expect((await viewer('')({ type: 'tail' })).text).toBe('');
  });
});

describe('rows and columns', () => {
  const csv = `id,note,city\r\n${Array.from({ length: 400 }, (_, i) => `${i},"two\nlines, ""${i}""",Ulm`).join('\r\n')}\r\n`;

  it('a row is a record, including quoted line breaks', async () => {
    const rows = await viewer(csv)({ type: 'rows', start: 0, end: 3 });
    expect(rows).toMatchObject({ text: 'id,note,city\n0,"two\nlines, ""0""",Ulm\n1,"two\nlines, ""1""",Ulm' });
    expect(rows.place).toBe('rows 0–2 of 401');
    expect(await readOn(viewer(csv), { type: 'rows' }, '\n')).toBe(csv.replaceAll('\r\n', '\n').trimEnd());
  });

  it('columns by name or number have their names', async () => {
    const columns = await viewer(csv)({ type: 'columns', columns: ['city', 1], start: 2, end: 4 });
    expect(columns).toMatchObject({ text: 'city,note\nUlm,"two\nlines, ""1"""\nUlm,"two\nlines, ""2"""' });
    expect(columns.place).toBe('rows 2–3 of 401');
    expect(columns.next).toMatchObject({ type: 'columns', start: 4 });
  });

  it('columns work for TSV and for a JSON array of objects', async () => {
    expect((await viewer('a\tb\n1\t2\n3\t4\n')({ type: 'columns', columns: ['b'] })).text).toBe('b\n2\n4');
    const json = JSON.stringify({
      items: [
        { id: 1, tags: ['x'] },
        { id: 2, name: 'a,b' },
      ],
    });
    expect((await viewer(json)({ type: 'columns', columns: ['id', 'name', 'tags'] })).text).toBe(
      'id,name,tags\n1,,"[""x""]"\n2,"a,b",',
    );
  });

  it('an unknown column gives the list of columns', async () => {
    const error = await failure(viewer(csv)({ type: 'columns', columns: ['town'] }));
    expect(error).toMatchObject({
      code: 'VIEW_FAILED',
      message: 'There is no column "town"; there are id, note, city.',
    });
    expect((await failure(viewer('prose. of a kind.')({ type: 'columns', columns: ['a'] }))).code).toBe('VIEW_FAILED');
  });

  it('too many long column names give the advice to request fewer', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `a rather long name ${i}`);
    const wide = viewer(`${names.join(',')}\n${`${names.map(() => 1).join(',')}\n`.repeat(3)}`);
    expect((await failure(wide({ type: 'columns', columns: names }))).message).toMatch(/too many columns/);
  });

  it('an unclosed quotation mark does not swallow the table', async () => {
    const odd = `id,size\n1,"5 inch\n${Array.from({ length: 600 }, (_, i) => `${i},x`).join('\n')}`;
    const rows = await viewer(odd, 'text/csv')({ type: 'rows', start: 300, end: 302 });
    expect(rows.text.split('\n')).toHaveLength(2);
  });
});

describe('grep', () => {
  const log = Array.from({ length: 2_000 }, (_, i) => (i % 500 === 7 ? `ERROR ${i} lost` : `info ${i}`)).join('\n');

  it('finds lines with their numbers and their context', async () => {
    const found = await viewer(log)({ type: 'grep', pattern: 'ERROR \\d+', context: 1, limit: 2 });
    expect(found.text).toBe(
      '6- info 6\n7: ERROR 7 lost\n8- info 8\n--\n506- info 506\n507: ERROR 507 lost\n508- info 508',
    );
    expect(found.next).toEqual({ type: 'grep', pattern: 'ERROR \\d+', context: 1, limit: 2, start: 1007 });
    expect(await readOn(viewer(log), { type: 'grep', pattern: 'ERROR', limit: 1 }, '|')).toBe(
      '7: ERROR 7 lost|507: ERROR 507 lost|1007: ERROR 1007 lost|1507: ERROR 1507 lost',
    );
  });

  it('states the number of matches, and the absence of any', async () => {
    expect((await viewer(log)({ type: 'grep', pattern: 'lost' })).place).toBe('4 matches, of 2,000 lines');
    expect(await viewer(log)({ type: 'grep', pattern: 'nothing' })).toMatchObject({
      text: '',
      place: 'no match, of 2,000 lines',
    });
    expect((await viewer(log)({ type: 'grep', pattern: 'error', ignore_case: true })).text.split('\n')).toHaveLength(4);
  });

  it('shows the surroundings of a match in a long line', async () => {
    const found = await viewer(`${'x'.repeat(9_000)}needle${'y'.repeat(9_000)}`)({ type: 'grep', pattern: 'needle' });
    expect(found.text).toMatch(/^0 at byte 9000: …x+needley+…$/);
  });

  it('searches a very long line part by part', async () => {
    const json = JSON.stringify(Array.from({ length: 30_000 }, (_, id) => ({ id, name: `Größe ${id}` })));
    const text = `first\n${json}\nlast 29999`;
    const found = await viewer(text)({ type: 'grep', pattern: 'Größe 2999\\d"' });
    expect(found.place).toMatch(/^\d+ match(es)?, of 3 lines$/);
    const [, at] = /^1 at byte (\d+): /.exec(found.text) as RegExpExecArray;
    expect(Buffer.from(text).toString('utf8', Number(at))).toMatch(/^Größe 29990"/);
    const all = await readOn(viewer(text), { type: 'grep', pattern: 'Größe \\d*000"', limit: 3 }, '\n');
    expect(all.match(/Größe \d*000"/g)?.length).toBeGreaterThanOrEqual(29);
    expect(await readOn(viewer(text), { type: 'grep', pattern: 'last', limit: 1 }, '')).toBe('2: last 29999');
  });

  it('takes linear time for patterns that make a backtracking engine hang', async () => {
    const view = viewer(`${'a'.repeat(40_000)}!\n`.repeat(5));
    expect(await computedMsOf(() => view({ type: 'grep', pattern: '(a+)+$' }))).toBeLessThan(20_000);
  });

  it('refuses an invalid pattern', async () => {
    expect((await failure(viewer(log)({ type: 'grep', pattern: '(' }))).message).toMatch(
      /^The pattern is no RE2 expression/,
    );
    expect((await failure(viewer(log)({ type: 'grep', pattern: '' }))).code).toBe('VIEW_FAILED');
  });
});

describe('JSON selectors', () => {
  const data = {
    name: 'Ann',
    'a b': 1,
    items: Array.from({ length: 900 }, (_, i) => ({ id: i, state: i % 2 ? 'open' : 'closed' })),
  };
  const view = viewer(JSON.stringify(data));

  it('json_path filters, and continues to the next matches', async () => {
    expect((await view({ type: 'json_path', path: "$.items[?@.state=='open' && @.id<4].id" })).text).toBe('1\n3');
    expect((await view({ type: 'json_path', path: '$.name' })).text).toBe('"Ann"');
    const all = await readOn(view, { type: 'json_path', path: '$.items[*]' }, '\n');
    expect(all.split('\n').map((line) => JSON.parse(line))).toEqual(data.items);
  });

  it('patterns in a filter take linear time', async () => {
    const hostile = viewer(JSON.stringify(['a'.repeat(10_000)]));
    for (const path of ["$[?search(@, '(a+)+$!')]", "$[?match(@, '(a+)+!')]"]) {
      expect(await computedMsOf(() => hostile({ type: 'json_path', path }))).toBeLessThan(20_000);
    }
    expect((await view({ type: 'json_path', path: "$.items[?match(@.state, 'o.*') && @.id < 2].id" })).text).toBe('1');
  });

  it('a query that takes too long is stopped', async () => {
    const error = await failure(view({ type: 'json_path', path: '$.items[?count($..*)>0]' }));
    expect(error.message).toMatch(/^The query was ended/);
  });

  it('scripts are not evaluated', async () => {
    for (const path of [
      '$[(@.length-1)]',
      '$[?(process.exit())]',
      "$[?@.constructor.constructor('x')()]",
      '$..[?(@.__proto__)]',
    ]) {
      await view({ type: 'json_path', path }).catch((error: GatewayError) => expect(error.code).toBe('VIEW_FAILED'));
    }
  });

  it('no match, invalid JSON and an invalid path are reported', async () => {
    expect(await view({ type: 'json_path', path: '$.nothing' })).toMatchObject({ text: '', place: 'no match' });
    expect((await failure(viewer('text')({ type: 'json_path', path: '$' }))).message).toMatch(/^This is not JSON/);
    expect((await failure(view({ type: 'json_path', path: 'items' }))).message).toMatch(/no JSONPath/);
  });

  it('json_keys of a large value explains how to continue', async () => {
    const cut = await view({ type: 'json_keys', keys: ['items'] });
    expect(cut.next).toEqual({ type: 'json_path', path: '$["items"][0:10]' });
    expect((await view(cut.next as Record<string, unknown>)).text.split('\n')).toHaveLength(10);
  });
});

it('secrets in a view can be masked', async () => {
  const store = new ArtifactStore();
  const content = textContent('password: hunter2');
  const draft = { kind: 'text', source: 't', content, mediaType: 'text/plain', label: 'x', owner: 'workspace' };
  const { handle } = store.hold(draft).info;
  const { text, data } = await viewArtifact(store, handle, { type: 'head' }, { maskSecrets: true });
  const masked = 'password: [REDACTED-SECRET]';
  expect([text, data.text]).toEqual([`ok · data from t\n${masked}\nend of data`, masked]);
  // No selector shows a part of it.
  for (let start = 0; start < 20; start += 1) {
    const part = await viewArtifact(store, handle, { type: 'range', start, end: start + 4 }, { maskSecrets: true });
    for (const half of ['hunt', 'unte', 'nter', 'ter2']) expect(part.text).not.toContain(half);
  }
});

describe('an invalid selector', () => {
  const view = viewer('a\nb');

  it.each([[{}], [{ type: 'unknown' }], [{ type: 7 }], [{ type: 'constructor' }], [{ type: 'Lines' }]])(
    '%j is answered with the list of selectors',
    async (selector) => {
      const error = await failure(view(selector));
      expect(error.code).toBe('VIEW_FAILED');
      expect(error.details).toEqual({ selectors: SELECTOR_EXAMPLES });
      expect(error.path).toMatch(/^text:t:/);
    },
  );

  it.each([
    [{ type: 'head', chars: '8' }, 'chars'],
    [{ type: 'head', chars: 2.5 }, 'chars'],
    [{ type: 'lines', start: 'a' }, 'start'],
    [{ type: 'tail', lines: -1 }, 'lines'],
    [{ type: 'json_keys', keys: 'name' }, 'keys'],
    [{ type: 'json_keys', keys: [1] }, 'keys'],
    [{ type: 'grep', pattern: ['x'] }, 'pattern'],
    [{ type: 'grep', pattern: 'x', ignore_case: 1 }, 'ignore_case'],
  ])('%j with a value of the wrong type is refused', async (selector, name) => {
    expect(await failure(view(selector))).toMatchObject({
      code: 'ARGS_INVALID',
      details: { path: ['selector', name] },
    });
  });

  it('with an unknown or a missing field is refused with its name', async () => {
    expect((await failure(view({ type: 'lines', from: 3 }))).message).toBe(
      'The selector "lines" has no "from"; it is written {"type": "lines", "start": 0, "end": 80}.',
    );
    expect((await failure(view({ type: 'grep' }))).message).toMatch(/^The selector "grep" needs "pattern"/);
  });

  it('never comes from an example: every example works', async () => {
    const csv = viewer('name,state\na,open\nb,closed\nc,open\n');
    const json = viewer('{"items": [{"name": "a"}]}');
    for (const example of SELECTOR_EXAMPLES) {
      const selector = JSON.parse(example) as Record<string, unknown>;
      await (String(selector.type).startsWith('json') ? json : csv)(selector);
    }
  });
});

describe('binary content', () => {
  const store = new ArtifactStore();
  const viewOf = (bytes: Buffer, mediaType: string, selector: Record<string, unknown> = { type: 'head' }) => {
    const content = { kind: 'base64', data: bytes.toString('base64') } as const;
    const draft = { kind: 'image', source: 't', content, mediaType, label: 'x', owner: 'workspace' };
    return viewArtifact(store, store.hold(draft).info.handle, selector);
  };

  it('is described, and a picture is shown', async () => {
    const { text, parts } = await viewOf(Buffer.from([0x89, 0x50, 0x4e, 0x47]), 'image/png');
    expect(text).toMatch(/media type: image\/png\nsize: 4 bytes, not text\n/);
    expect(parts).toEqual([{ type: 'image', data: 'iVBORw==', mimeType: 'image/png' }]);
  });

  it.each([
    ['an archive', Buffer.from([0x1f, 0x8b, 0x08]), 'application/gzip'],
    ['what has zeros in it', Buffer.from('ab\0cd'), 'application/octet-stream'],
    ['a picture that is too large to hand on', Buffer.alloc(4_000_000, 7), 'image/png'],
    ['a picture of no proper type', Buffer.from('x'), 'image/png; x="'],
  ])('%s is described and not shown', async (_, bytes, mediaType) => {
    const { text, parts } = await viewOf(bytes, mediaType, { type: 'lines' });
    expect(text).toContain('not text');
    expect(parts).toEqual([]);
  });

  it('excludes text with zeros', async () => {
    expect((await viewer('a\0b')({ type: 'head' })).text).toBe('a\\u0000b');
  });

  it('excludes SVG', async () => {
    const { data, parts } = await viewOf(Buffer.from('<svg/>'), 'image/svg+xml');
    expect([data.text, parts]).toEqual(['<svg/>', []]);
  });

  it('needs a valid selector too', async () => {
    await expect(viewOf(Buffer.from('x'), 'image/png', {})).rejects.toMatchObject({ code: 'VIEW_FAILED' });
  });
});
