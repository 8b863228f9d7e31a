import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgedBody } from '../../src/mcp/wire/http/httpFrames.ts';

/** Returns the output for a body that arrives in the given pieces. */
async function through(
  pieces: readonly Buffer[],
  type: string,
  judge: (frame: string) => readonly object[] | undefined,
) {
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const parts: Uint8Array[] = [];
  for await (const part of judgedBody(source, type, (frame) => judge(frame.toString()))) parts.push(part);
  return Buffer.concat(parts).toString();
}

const EVENTS = 'text/event-stream; charset=utf-8';
const cut = (text: string, places: readonly number[]): Buffer[] => {
  const bytes = Buffer.from(text);
  const ends = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return ends.slice(1).map((end, i) => bytes.subarray(ends[i], end));
};

describe('the frames of a body over HTTP', () => {
  it('stay unchanged if they are valid', async () => {
    const seen: string[] = [];
    const keep = (frame: string): undefined => void seen.push(frame);
    expect(await through([Buffer.from('{"a"'), Buffer.from(':1}')], 'application/json', keep)).toBe('{"a":1}');
    const events = ': hello\n\nid: 1\ndata: {"b":\ndata: 2}\n\nevent: endpoint\ndata: /messages\n\n';
    expect(await through([Buffer.from(events)], EVENTS, keep)).toBe(events);
    expect(seen).toEqual(['{"a":1}', '{"b":\n2}']);
    expect(await through([Buffer.from('<html>')], 'text/html', keep)).toBe('<html>');
  });

  it('are replaced by judged ones, and an event keeps its id', async () => {
    const double = () => [{ x: 1 }, { y: 2 }];
    expect(await through([Buffer.from('{')], 'application/json', () => [{ x: 1 }])).toBe('{"x":1}');
    expect(await through([Buffer.from('{')], 'application/json', double)).toBe('[{"x":1},{"y":2}]');
    const text = await through([Buffer.from('event: message\nid: 7\ndata: {\nretry: 5\n\n')], EVENTS, double);
    expect(text).toBe('event: message\nid: 7\nretry: 5\ndata: {"x":1}\n\ndata: {"y":2}\n\n');
    expect(await through([Buffer.from('id: 7\ndata: {\n\n')], EVENTS, () => [])).toBe('id: 7\n\n');
  });

  it('are found with any line end and any cut of the body', async () => {
    const lines = ['id: 1', 'data: {"a":"é"}', '', 'data:{"b":', 'data: 2}', '', ': note', '', ''];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(), { maxLength: 20 }),
        async (end, places) => {
          const seen: string[] = [];
          const text = await through(cut(lines.join(end), places), EVENTS, (frame) => void seen.push(frame));
          expect(seen).toEqual(['{"a":"é"}', '{"b":\n2}']);
          expect(text).toBe('id: 1\ndata: {"a":"é"}\n\ndata:{"b":\ndata: 2}\n\n: note\n\n');
        },
      ),
      { seed: 9, numRuns: 300 },
    );
  });

  it('wait during a pause', async () => {
    let held = 0;
    const hold = (): Promise<void> => {
      held += 1;
      return Promise.resolve();
    };
    const source = new Blob(['data: 1\n\n']).stream();
    for await (const _part of judgedBody(source, EVENTS, () => undefined, hold));
    expect(held).toBe(1);
  });
});
