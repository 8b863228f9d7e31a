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
  it('tell whose answer they are by their head', () => {
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

  it('tell which request they belong to, and come out as they went in', () => {
    fc.assert(
      fc.property(ids, fc.jsonValue(), (id, params) => {
        const plain = encodeMessage({ method: 'notifications/x', params });
        const marked = frame(relateFrame(plain, id));
        expect(splitRelated(marked)).toEqual({ relatedTo: id, frame: frame(plain) });
        // Neither an answer nor already unmarked.
        expect(peekResponseId(marked)).toBeUndefined();
        expect(splitRelated(frame(plain))).toEqual({ relatedTo: undefined, frame: frame(plain) });
      }),
      { seed: 5, numRuns: 1_000 },
    );
  });

  it('have the id first, whatever the order it came in', () => {
    expect(encodeMessage({ result: {}, jsonrpc: '2.0', id: 7 })).toBe('{"jsonrpc":"2.0","id":7,"result":{}}\n');
    expect(encodeMessage({ method: 'x' })).toBe('{"jsonrpc":"2.0","method":"x"}\n');
  });

  it('keep the number 7 and the string "7" apart', () => {
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
  ])('take %j as an id: %s', (id, legal) => {
    expect(isRequestId(id)).toBe(legal);
  });

  it('tell their id by any beginning that holds the whole of it', () => {
    const rest = fc.record({ jsonrpc: fc.constant('2.0'), method: fc.string(), params: fc.jsonValue() });
    fc.assert(
      fc.property(ids, rest, fc.integer({ min: 0, max: 3 }), fc.nat(), (id, members, position, length) => {
        const entries: [string, unknown][] = Object.entries(members);
        entries.splice(position, 0, ['id', id]);
        const whole = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
        const seen = peekId(whole.subarray(0, length % (whole.length + 1)));
        // Never another one, and the right one where all of the frame is there.
        expect(seen === undefined || seen === id).toBe(true);
        expect(peekId(whole)).toBe(id);
      }),
      { seed: 4, numRuns: 2_000 },
    );
  });

  it.each([
    ['an id further in', '{"result":{"content":[{"id":5,"x":"'],
    ['an id in a string that is cut off', '{"result":"{\\"id\\":5,\\"x'],
    ['a string that looks like one', '{"method":"id","params":{"a":'],
    ['a value that is cut off', '{"jsonrpc":"2.0","id":12'],
    ['an id that is none', '{"jsonrpc":"2.0","id":null,"x":1'],
  ])('are not told by %s', (_what, prefix) => {
    expect(peekId(Buffer.from(prefix))).toBeUndefined();
  });
});
