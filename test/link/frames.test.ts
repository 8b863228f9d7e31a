import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeMessage,
  errorResponse,
  isRequestId,
  peekId,
  peekIsError,
  peekResponseId,
  relateFrame,
  requestKey,
  resultResponse,
  splitRelated,
} from '../../src/link/frames.ts';

const ids = fc.oneof(fc.maxSafeInteger(), fc.string({ maxLength: 128, unit: 'binary' }), fc.string({ maxLength: 128 }));
const frame = (text: string): Buffer => Buffer.from(text.trimEnd());

describe('frames', () => {
  it('show in their first bytes which request they answer', () => {
    fc.assert(
      fc.property(ids, fc.jsonValue(), (id, result) => {
        expect(peekResponseId(frame(resultResponse(id, { result })))).toBe(id);
        expect(peekResponseId(frame(errorResponse(id, -32603, 'no')))).toBe(id);
        expect(peekIsError(frame(errorResponse(id, -32603, 'no')))).toBe(true);
        expect(peekIsError(frame(resultResponse(id, { error: result })))).toBe(false);
        expect(peekResponseId(frame(encodeMessage({ id, method: 'ping', params: {} })))).toBeUndefined();
      }),
      { seed: 3, numRuns: 1_000 },
    );
  });

  it('show which request they belong to, and stay unchanged otherwise', () => {
    fc.assert(
      fc.property(ids, fc.jsonValue(), (id, params) => {
        const plain = encodeMessage({ method: 'notifications/x', params });
        const marked = frame(relateFrame(plain, id));
        expect(splitRelated(marked)).toEqual({ relatedTo: id, frame: frame(plain) });
        // A marked frame is no answer, and no longer marked twice.
        expect(peekResponseId(marked)).toBeUndefined();
        expect(splitRelated(frame(plain))).toEqual({ relatedTo: undefined, frame: frame(plain) });
      }),
      { seed: 5, numRuns: 1_000 },
    );
  });

  it('begin with the id, whatever the order of the members', () => {
    expect(encodeMessage({ result: {}, jsonrpc: '2.0', id: 7 })).toBe('{"jsonrpc":"2.0","id":7,"result":{}}\n');
    expect(encodeMessage({ method: 'x' })).toBe('{"jsonrpc":"2.0","method":"x"}\n');
  });

  it('distinguish the number 7 from the string "7"', () => {
    expect(requestKey(7)).not.toBe(requestKey('7'));
  });

  it.each([
    ['', true],
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    [-1, true],
    [1.5, false],
    [1e21, false],
    [null, false],
    [{}, false],
    [true, false],
  ])('have %j as an id: %s', (id, legal) => {
    expect(isRequestId(id)).toBe(legal);
  });

  it('show the id in any beginning that contains it', () => {
    const rest = fc.record({ jsonrpc: fc.constant('2.0'), method: fc.string(), params: fc.jsonValue() });
    fc.assert(
      fc.property(ids, rest, fc.integer({ min: 0, max: 3 }), fc.nat(), (id, members, position, length) => {
        const entries: [string, unknown][] = Object.entries(members);
        entries.splice(position, 0, ['id', id]);
        const whole = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
        const seen = peekId(whole.subarray(0, length % (whole.length + 1)));
        // Never another id, and the right one in a complete frame.
        expect(seen === undefined || seen === id).toBe(true);
        expect(peekId(whole)).toBe(id);
      }),
      { seed: 4, numRuns: 2_000 },
    );
  });

  it.each([
    ['an id in a nested object', '{"result":{"content":[{"id":5,"x":"'],
    ['an id in a cut string', '{"result":"{\\"id\\":5,\\"x'],
    ['a string that looks like an id', '{"method":"id","params":{"a":'],
    ['a cut value', '{"jsonrpc":"2.0","id":12'],
    ['an invalid id', '{"jsonrpc":"2.0","id":null,"x":1'],
  ])('show no id in %s', (_what, prefix) => {
    expect(peekId(Buffer.from(prefix))).toBeUndefined();
  });
});
