import { describe, expect, it } from 'vitest';
import { digest, digestOf } from '../../src/results/digest/digest.ts';
import { textKind } from '../../src/results/digest/kinds.ts';
import { LongText } from '../../src/text/longText.ts';

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const kindOf = (text: string): string => {
  const kind = textKind(text, true);
  return kind.kind === 'table' ? `table ${kind.form}` : kind.kind;
};
const textDigest = async (text: string, room = 2_500) => {
  const { title, body, views } = await digest(new LongText([text]), room);
  expect(body.length).toBeLessThanOrEqual(room + 200);
  return { title, body, views };
};

describe('kind of a text', () => {
  it.each([
    ['table delimited', 'CSV', `id,name,email\n${lines(20, (i) => `${i},Ann,ann${i}@x.org`)}`],
    ['table delimited', 'CSV with commas in quotes', `id,"full name",city\n${lines(9, (i) => `${i},"Doe, Ann",Ulm`)}`],
    ['table delimited', 'TSV', `id\tname\n${lines(9, (i) => `${i}\tAnn of ${i}`)}`],
    ['table delimited', 'CSV that begins with dates', `day,amount\n${lines(20, (i) => `2026-03-${10 + i},${i}.50`)}`],
    ['table delimited', 'CSV with semicolons', `id;Betrag\n${lines(9, (i) => `${i};1,50`)}`],
    ['table markdown', 'a markdown table', `| a | b |\n|---|:-:|\n${lines(9, (i) => `| ${i} | x |`)}`],
    [
      'table markdown',
      'one under a heading',
      `## Result\n\n| a | b |\n| --- | --- |\n${lines(30, (i) => `| ${i} | x |`)}`,
    ],
    ['table aligned', 'kubectl', `NAME       READY   AGE\n${lines(9, (i) => `pod-${i}      1/1     5d`)}`],
    [
      'table aligned',
      'docker ps',
      `CONTAINER ID   IMAGE     COMMAND        STATUS\n${lines(5, () => `4c01db0b339c   ubuntu    "bash"         Up 2 hours`)}`,
    ],
    ['log', 'a server log', lines(30, (i) => `2026-03-04T12:00:${10 + i}Z INFO request ${i}`)],
    ['log', 'syslog', lines(30, (i) => `Mar  4 12:00:${10 + i} host sshd[12]: session ${i} opened`)],
    ['log', 'an access log', lines(30, (i) => `[04/Mar/2026:12:00:${10 + i}] GET /a${i} 200`)],
    ['log', 'levels alone', lines(30, (i) => `${i % 3 ? 'INFO' : 'WARN'}: step ${i}`)],
    ['log', 'npm', lines(20, (i) => `npm warn deprecated package-${i}@1.0.0`)],
    ['log', 'a test run', lines(20, (i) => ` ✓ test number ${i} passes`)],
    ['log', 'a stack trace', `TypeError: x is undefined\n${lines(20, (i) => `    at f${i} (/a/b.js:${i}:1)`)}`],
    ['json lines', 'JSON lines', lines(9, (i) => `{"id":${i},"level":"info"}`)],
    [
      'prose',
      'an article',
      lines(9, () => 'The river rose in the night. Nobody had seen it coming, and so the bridge was lost.'),
    ],
    ['prose', 'Japanese', lines(9, () => '吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。')],
    ['lines', 'code', lines(30, (i) => `  const value${i} = compute(${i}, { deep: true });`)],
    ['lines', 'a listing of files', lines(30, (i) => `src/room/file${i}.ts`)],
    [
      'lines',
      'a difference',
      `--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n${lines(20, (i) => `${'+- '[i % 3]}const a = ${i};`)}`,
    ],
    ['lines', 'prose with a comma in each line', 'Dear Ann,\nthank you, we did.\nYours, Bob\n'],
    ['lines', 'base64', 'QUJD'.repeat(3_000)],
  ])('%s: %s', (kind, _, text) => {
    expect(kindOf(text)).toBe(kind);
  });
});

describe('digest of JSON', () => {
  const items = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      id: i,
      name: `Ann ${i}`,
      tags: i % 2 ? ['x'] : [],
      owner: { login: 'bob' },
      ...(i % 4 === 0 ? { note: null } : {}),
      ...(i === 3 ? { id: 'three' } : {}),
    }));

  it('lists keys, types, counts and first values', async () => {
    const { title, body, views } = await textDigest(JSON.stringify({ total: 40, items: items(40) }));
    expect(title).toMatch(/^JSON, [\d,]+ characters: an object of 2 keys$/);
    expect(body.split('\n')).toEqual([
      'total: number, first 40',
      'items: array of 40 objects',
      '  id: number ×39 | string ×1, first 0',
      '  name: string, first "Ann 0"',
      '  tags: array of 0–1 string, first "x"'.replace(', first "x"', ''),
      '  owner: object',
      '    login: string, first "bob"',
      '  note: null, first null (in 10 of 40)',
    ]);
    expect(views[0]).toEqual({ type: 'json_path', path: '$.items[0:5]' });
    expect(views).toContainEqual({ type: 'json_keys', keys: ['total'] });
  });

  it('describes an array at the top, indented or not', async () => {
    const compact = await textDigest(JSON.stringify(items(40)));
    const pretty = await textDigest(JSON.stringify(items(40), null, 4));
    expect(pretty.body).toBe(compact.body);
    expect(compact.title).toContain('an array of 40 objects');
    expect(compact.views[0]).toEqual({ type: 'json_path', path: '$[0:5]' });
  });

  it('counts the elements of an array beyond the part read in detail', async () => {
    const { title, body } = await textDigest(JSON.stringify(items(60_000)));
    expect(title).toContain('an array of 60,000 objects');
    expect(body).toContain('those of the beginning');
  });

  it('has fewer details for a wide object, so that it fits', async () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key_number_${i}`, { a: { b: { c: i } } }]));
    const { body } = await textDigest(JSON.stringify(wide), 800);
    expect(body).toMatch(/… more keys$/);
  });

  it.each([
    ['cut short', `{"a": [1, 2, ${'3, '.repeat(3_000)}`],
    ['with something behind it', `{"a": 1} trailing ${'x '.repeat(3_000)}`],
    ['with a comma too many', `[${'1,'.repeat(3_000)}]`],
    ['of single quotes', `{'a': ${'1'.repeat(3_000)}}`],
    ['that is a list in prose', `[see below] ${'This is a note. '.repeat(300)}`],
  ])('is not used for text %s', async (_, text) => {
    expect((await textDigest(text)).title).not.toMatch(/^JSON/);
  });

  it('parses strings correctly', async () => {
    const { body } = await textDigest(JSON.stringify({ a: '},]"\\', b: 'x'.repeat(5_000), 'c"d': ['\\"'] }));
    expect(body.split('\n').map((line) => line.split(':')[0])).toEqual(['a', 'b', 'c\\"d']);
  });

  it('accepts any nesting depth', async () => {
    const deep = `${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`;
    expect((await textDigest(deep)).title).toContain('an array of 1 object');
  });
});

describe('digest of other kinds', () => {
  it('describes a table by header, number of rows and first rows, with quoted line breaks', async () => {
    const { title, body, views } = await textDigest(`id,note\n${lines(500, (i) => `${i},"two\nlines ""${i}"""`)}\n`);
    expect(title).toMatch(/^CSV, .*: 500 rows of 2 columns$/);
    expect(body).toMatch(/^id,note\n0,"two\nlines ""0"""\n1,/);
    expect(views[0]).toEqual({ type: 'rows', start: 24, end: 64 });
    expect(views[1]).toEqual({ type: 'columns', columns: ['id', 'note'], start: 1, end: 101 });
  });

  it('describes a log by head, tail and lines that look like errors, each once with its number', async () => {
    const text = lines(5_000, (i) =>
      i === 700 || i === 4_000
        ? `2026-03-04 12:00:00 ERROR cannot reach 10.0.0.${i % 7}`
        : `2026-03-04 12:00:00 INFO ${i}, failed: 0`,
    );
    const { title, body, views } = await textDigest(text);
    expect(title).toContain('5,000 lines');
    expect(body).toContain('lines that look like errors: 2');
    expect(body).toContain('  700 (×2, last 4000): 2026-03-04 12:00:00 ERROR cannot reach 10.0.0.0');
    expect(body).toContain('INFO 0, failed: 0');
    expect(body.endsWith('INFO 4999, failed: 0')).toBe(true);
    expect(views[0]).toEqual({ type: 'lines', start: 690, end: 720 });
  });

  it('describes prose by its first complete sentences and its headings', async () => {
    const text = `# Guide\n\n${lines(60, (i) => `## Part ${i}\n\nThis part explains how it works. It is not long, and it is easy to read for anyone.\n`)}`;
    const { body, views } = await textDigest(text, 1_500);
    expect(body).toMatch(/^# Guide\n\n## Part 0\n\nThis part explains how it works\./);
    expect(body.split('\n… ')[0]).toMatch(/\.$/);
    expect(body).toContain('  2: ## Part 0\n  6: ## Part 1');
    expect(views[0]).toMatchObject({ type: 'range' });
  });

  it('describes a very long line by its beginning and its end', async () => {
    const { body } = await textDigest(`start${'x'.repeat(50_000)}end`);
    expect(body).toMatch(/^start[\s\S]*more characters …\nx+end$/);
  });

  it('is the same for the same text in other parts', async () => {
    const text = lines(3_000, (i) => `2026-03-04 12:00:00 INFO ${i}`);
    const [first, rest] = [text.slice(0, 30_000), text.slice(30_000)];
    expect(await digest(new LongText([first, rest], ''), 2_000)).toEqual(await digest(new LongText([text]), 2_000));
  });
});

describe('digest of a value', () => {
  it('equals the digest of its text', async () => {
    const value = {
      'a"b': 1,
      items: Array.from({ length: 30 }, (_, i) => ({ id: i, 'x y': i % 2 ? null : 'Ann', tags: ['a', { b: [true] }] })),
      deep: { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } },
    };
    const of = (text: string) => digest(new LongText([text]), 2_500);
    const ofValue = await digestOf({ value, bytes: 99 }, 2_500);
    expect(ofValue.title).toBe('JSON, 99 bytes: an object of 3 keys');
    expect({ ...ofValue, title: '' }).toEqual({ ...(await of(JSON.stringify(value))), title: '' });
  });

  it('counts all elements of a long list, and inspects some', async () => {
    const { title, body } = await digestOf(
      { value: Array.from({ length: 900_000 }, (_, id) => ({ id })), bytes: 9 },
      2_500,
    );
    expect(title).toContain('an array of 900,000 objects');
    expect(body).toBe('each:\n  id: number, first 0\n(keys, types and first values are those of the beginning)');
  });
});
