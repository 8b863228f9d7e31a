import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  callKeyOf,
  callPlace,
  logPlace,
  place,
  resultNameOf,
  resultPlace,
  segmentsOf,
  toolPlace,
} from '../../../src/extension/documents/addresses.ts';

const HANDLE = 'text:github:list_issues#1a2b3c4d:0f1e2d3c4b5a6978';

describe('the address of a document', () => {
  it('reads like the thing that it shows', () => {
    expect(callPlace('waygate', { run: 42, id: 7 }, 'fault.md').path).toBe('/calls/42-7/fault.md');
    expect(resultPlace('waygate', { handle: HANDLE, extension: 'json' }).path).toBe(`/results/${HANDLE}.json`);
    expect(toolPlace('waygate', 'erp:invoice_export#1a2b3c4d').path).toBe('/tools/erp/invoice_export#1a2b3c4d.json');
    expect(toolPlace('waygate', 'erp:a:b#1a2b3c4d', 'before').path).toBe('/tools/erp/a:b#1a2b3c4d.before.json');
    expect(logPlace('waygate', 'erp').path).toBe('/logs/erp.log');
  });

  it('names its gateway', () => {
    expect(logPlace('api-waygate', 'erp')).toEqual({
      scheme: 'waygate',
      authority: 'api-waygate',
      path: '/logs/erp.log',
    });
  });

  it('gives back every name, and none leaves its folder', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1, maxLength: 3 }), (names) => {
        const { path } = place('waygate', ...names);
        expect(segmentsOf(path)).toEqual(names);
        expect(path.split('/').filter((part) => part === '.' || part === '..')).toEqual([]);
      }),
      { examples: [[['..', 'a/b', '%2F']], [['.', 'C:\\x', '%']]] },
    );
  });

  it('gives back the call, and nothing for another name', () => {
    expect(callKeyOf('42-7')).toEqual({ run: 42, id: 7 });
    expect(['42', '42-', 'a-7', '42-7-1'].map(callKeyOf)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it.each([
    [{ handle: HANDLE, extension: 'json' }],
    [{ handle: HANDLE, extension: 'txt', start: 1_048_576 }],
    [{ handle: 'mcp:mail@work:part:0011223344556677', extension: 'log', start: 'last' as const }],
  ])('gives back the result %j', (name) => {
    const [, file = ''] = segmentsOf(resultPlace('waygate', name).path);
    expect(resultNameOf(file)).toEqual(name);
  });
});
