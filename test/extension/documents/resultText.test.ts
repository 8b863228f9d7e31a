import { describe, expect, it } from 'vitest';
import type { ArtifactPage, ArtifactRow } from '../../../src/control/artifactContract.ts';
import { groupedResults, resultGroupRow, resultRow, useMessage } from '../../../src/extension/activity/resultRows.ts';
import {
  cutEnd,
  cutStart,
  extensionOf,
  hexdump,
  isText,
  resultTitle,
  sizeWords,
  viewCall,
} from '../../../src/extension/documents/resultText.ts';
import { asCsv, asMarkdown } from '../../../src/extension/documents/tableText.ts';
import { AT } from '../activity/calls.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const PNG = Buffer.from('89504e470d0a1a0a0000000d', 'hex');

function artifact(over: Partial<ArtifactRow> = {}): ArtifactRow {
  const handle = 'text:erp:invoice_export#1a2b3c4d:0f1e2d3c4b5a6978';
  return {
    handle,
    mediaType: 'application/json',
    label: 'text result',
    size: 280_576,
    lines: 2_000,
    at: AT,
    server: 'erp',
    toolId: 'erp:invoice_export#1a2b3c4d',
    ...over,
  };
}

describe('the kind of a result', () => {
  it.each([
    ['application/json; charset=utf-8', '{}', 'json'],
    ['application/vnd.api+json', '{}', 'json'],
    ['text/plain', '  {"a": 1}', 'json'],
    ['text/plain', '{"a": 1}\n{"a": 2}\n', 'jsonl'],
    ['text/plain', 'id,name\n1,Ada\n2,Grace\n', 'csv'],
    ['text/plain', '2026-11-19T12:00:00 start\n2026-11-19T12:00:01 end\n', 'log'],
    ['text/plain', '# Title\n\n- one\n', 'md'],
    ['text/plain', 'Dear Ada, all is well.\nGrace', 'txt'],
    ['image/png', '', 'png'],
    ['image/svg+xml', '<svg/>', 'svg'],
    ['application/octet-stream', 'plain words', 'txt'],
    ['__proto__', 'plain words', 'txt'],
  ])('of %s with %j is %s', (mediaType, text, expected) => {
    expect(extensionOf(mediaType, bytes(text))).toBe(expected);
  });

  it('is binary for bytes that are no text, and not for a character that the sample cuts', () => {
    expect(extensionOf('application/octet-stream', PNG)).toBe('bin');
    expect(isText(bytes('äöü').subarray(0, 5))).toBe(true);
    expect(isText(Buffer.from([0x61, 0xff, 0x61, 0x61, 0x61, 0x61, 0x61]))).toBe(false);
  });
});

describe('a part of a large result', () => {
  it('ends behind its last line', () => {
    expect(String(cutEnd(bytes('one\ntwo\nthr')))).toBe('one\ntwo\n');
    expect(String(cutStart(bytes('ne\ntwo\nthree')))).toBe('two\nthree');
  });

  it('ends before an incomplete character where there is no line', () => {
    for (const whole of ['aä', 'a€', 'a𝄞']) {
      for (let length = 2; length < bytes(whole).length; length++) {
        expect(String(cutEnd(bytes(whole).subarray(0, length)))).toBe('a');
        expect(String(cutStart(bytes(whole.slice(1)).subarray(length - 1)))).toBe('');
      }
      expect(String(cutEnd(bytes(whole)))).toBe(whole);
    }
    expect(String(cutEnd(bytes('')))).toBe('');
  });
});

describe('the words about a result', () => {
  it('have size, kind, lines and source', () => {
    expect(resultTitle(artifact(), 'json')).toBe('274 KB · JSON, 2,000 lines · erp:invoice_export');
    expect(resultTitle(artifact({ size: 41_943_040 }), 'jsonl', { from: 0, to: 1_048_570 })).toBe(
      '40.0 MB · JSON lines · erp:invoice_export · from 0 bytes to 1.0 MB',
    );
    expect([1, 812, 9_500, 280_576, 1_040_000, 536_870_912].map(sizeWords)).toEqual([
      '1 byte',
      '812 bytes',
      '9.3 KB',
      '274 KB',
      '1.0 MB',
      '512 MB',
    ]);
  });

  it('have a ready call that fits its kind', () => {
    expect(viewCall('h', 'json')).toBe('tool_view {"handle":"h","selector":{"type":"json_path","path":"$[0:20]"}}');
    expect(viewCall('h', 'log')).toBe('tool_view {"handle":"h","selector":{"type":"lines","start":0,"end":80}}');
  });

  it('of bytes are a hexdump that says what is missing', () => {
    expect(hexdump(Buffer.concat([PNG, bytes('IHDR!')]), 100)).toBe(
      [
        '00000000  89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52  .PNG........IHDR',
        '00000010  21                                               !',
        '',
        '… 83 more bytes. Save As… writes all of it.',
        '',
      ].join('\n'),
    );
  });
});

describe('the view of results', () => {
  const page = (artifacts: readonly ArtifactRow[], count = artifacts.length): ArtifactPage => ({
    artifacts,
    more: count > artifacts.length,
    use: { bytes: 12_582_912, maxBytes: 536_870_912, count, maxCount: 5_000, maxAgeMs: 604_800_000 },
  });

  it('has a row for each result, and a row above several of one call', () => {
    const image = artifact({ handle: 'b', mediaType: 'image/png', size: 1_024, callId: 7 });
    const groups = groupedResults([artifact({ callId: 7 }), image, artifact({ handle: 'c' })]);
    expect(groups.map(({ id, results }) => [id, results.length])).toEqual([
      ['results:7', 2],
      ['result:c', 1],
    ]);
    expect(resultRow(artifact(), AT + 180_000)).toMatchObject({
      label: 'invoice_export',
      description: 'JSON · 274 KB · 3 min',
      contextValue: 'waygate.result',
      accessibilityLabel: 'invoice_export, JSON, 274 KB, 3 min old',
    });
    const [group] = groups;
    expect(group && resultGroupRow(group, AT + 180_000)).toMatchObject({
      label: 'invoice_export',
      description: '2 results · 275 KB · 3 min',
    });
  });

  it('says how much of its bounds is used', () => {
    expect(useMessage(page([artifact()], 41))).toBe(
      '12.0 MB of 512 MB, 41 of 5,000; kept for 7 days after the last use. Listed: the newest 1.',
    );
    expect(useMessage(page([]))).toBe('No results are kept yet. Long results of tools appear here.');
  });
});

describe('a copied table', () => {
  const columns = ['name', 'note'];
  const rows = [['Ada, "the first"', 'a|b'], ['=HYPERLINK("x")', '-5'], ['one\ntwo']];

  it('is CSV that a spreadsheet does not run', () => {
    expect(asCsv(columns, rows)).toBe(
      'name,note\r\n"Ada, ""the first""",a|b\r\n"\'=HYPERLINK(""x"")",-5\r\n"one\ntwo",\r\n',
    );
  });

  it('is Markdown without foreign markup', () => {
    expect(asMarkdown(columns, [...rows, ['[x](command:y)', '`z`']])).toBe(
      [
        '| name | note |',
        '| --- | --- |',
        '| Ada, "the first" | a\\|b |',
        '| =HYPERLINK("x") | -5 |',
        '| one two |  |',
        '| \\[x\\](command:y) | \\`z\\` |',
        '',
      ].join('\n'),
    );
  });
});
