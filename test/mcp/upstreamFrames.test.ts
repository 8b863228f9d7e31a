import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { frameFaultOf } from '../../src/link/frameFault.ts';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { readUpstreamFrame } from '../../src/mcp/wire/upstreamFrames.ts';

function read(frame: string | Buffer, options: { allowsBatches?: boolean; isList?: boolean } = {}) {
  const oddities = new Oddities();
  const read = readUpstreamFrame(Buffer.from(frame), {
    oddities,
    allowsBatches: options.allowsBatches ?? false,
    isList: () => options.isList ?? false,
  });
  const { messages, replies, isGarbage, isAltered } = read;
  return { messages, replies: replies.map((reply) => JSON.parse(reply)), isGarbage, isAltered, odd: oddities.toJSON() };
}

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('a frame of a server', () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}',
    '{"id":"x","jsonrpc":"2.0","result":{}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":{"a":1}}}',
    '{"jsonrpc":"2.0","method":"notifications/x"}',
    '{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}',
    '{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}',
  ])('stays unchanged if it is valid: %s', (frame) => {
    expect(read(frame)).toEqual({
      messages: [JSON.parse(frame)],
      replies: [],
      isGarbage: false,
      isAltered: false,
      odd: {},
    });
  });

  it.each([
    ['malformed_response', '{"id":1,"result":{}}'],
    ['malformed_response', '{"jsonrpc":"1.0","id":1,"result":{}}'],
    ['malformed_response', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'],
    ['malformed_response', '{"jsonrpc":"2.0","id":1,"result":{},"result":{}}'],
    ['malformed_response', '{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}'],
    ['malformed_response', '[{"jsonrpc":"2.0","id":1,"result":{}}]'],
    ['malformed_response', '{"jsonrpc":"2.0","id":1,"result":{"a":'],
    ['bad_result', '{"jsonrpc":"2.0","id":1,"result":"text"}'],
    ['bad_result', '{"jsonrpc":"2.0","id":1,"result":null}'],
    ['bad_result', '{"jsonrpc":"2.0","id":1,"result":[]}'],
    ['bad_result', '{"jsonrpc":"2.0","id":1}'],
    ['bad_result', `{"jsonrpc":"2.0","id":1,"result":{"a":${deep(300)}}}`],
    ['bad_result', '{"jsonrpc":"2.0","id":1,"result":{"_meta":"x"}}'],
    ['bad_result', '{"jsonrpc":"2.0","id":1,"result":{"_meta":[]}}'],
    ['bad_result', '{"jsonrpc":"2.0","id":1,"result":{"_meta":{"progressToken":null}}}'],
  ])('fails its call as %s: %s', (fault, frame) => {
    const { messages, isAltered, odd } = read(frame);
    expect(messages).toMatchObject([
      { jsonrpc: '2.0', id: 1, error: { message: expect.stringMatching(/^an answer/) } },
    ]);
    expect(frameFaultOf((messages[0] as { error: { data: unknown } }).error.data)).toBe(fault);
    expect(isAltered).toBe(true);
    expect(odd).toMatchObject({ [fault]: 1 });
  });

  it.each([
    'Welcome!',
    '{"level":30,"msg":"started","id":1}',
    '{"method":"GET","path":"/"}',
    'null',
    '7',
    '"text"',
    '[1]',
    '{"id":1,"msg":"cut',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{',
    '{}',
  ])('is garbage only: %s', (frame) => {
    expect(read(frame)).toMatchObject({ messages: [], replies: [], isGarbage: true, odd: { garbage_line: 1 } });
  });

  it.each([
    ['null_id', '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}'],
    ['null_id', '{"jsonrpc":"2.0","result":{}}'],
    ['mistyped_id', '{"jsonrpc":"2.0","id":{},"result":{}}'],
    ['mistyped_id', '{"jsonrpc":"2.0","id":1.5,"result":{}}'],
    ['mistyped_id', '{"jsonrpc":"2.0","id":true,"method":"ping"}'],
  ])('answers nothing because of its id (%s): %s', (oddity, frame) => {
    expect(read(frame)).toMatchObject({ messages: [], isGarbage: false, odd: { [oddity]: 1 } });
  });

  it.each([
    '{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}',
    '{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":5}}',
    '{"jsonrpc":"2.0","id":"a","method":"x","params":{"name":1,"name":2}}',
    '[{"jsonrpc":"2.0","id":"a","method":"ping"}]',
    `{"jsonrpc":"2.0","id":"a","method":"x","params":{"a":${deep(300)}}}`,
  ])('is rejected as a request, so that the server need not wait: %s', (frame) => {
    const { messages, replies } = read(frame);
    expect(messages).toEqual([]);
    expect(replies).toMatchObject([{ id: 'a', error: { code: -32600 } }]);
  });

  it.each<[string, object]>([
    ['{"jsonrpc":"2.0","id":1,"result":{"a":1,"_meta":null}}', { id: 1, result: { a: 1 } }],
    ['{"jsonrpc":"2.0","id":1,"result":{"a":1},"took":5}', { id: 1, result: { a: 1 } }],
    ['{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}', { id: 1, result: { a: 1 } }],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"},"result":null}',
      { id: 1, error: { code: 1, message: 'no' } },
    ],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":1e20,"message":"no"}}',
      { id: 1, error: { code: -32603, message: 'no' } },
    ],
    ['{"jsonrpc":"2.0","id":"a","method":"ping","result":null}', { id: 'a', method: 'ping' }],
    ['{"jsonrpc":"2.0","id":"a","method":"x","params":{"_meta":null}}', { id: 'a', method: 'x', params: {} }],
    ['{"jsonrpc":"2.0","method":"x","params":{"b":2,"_meta":null}}', { method: 'x', params: { b: 2 } }],
    ['{"jsonrpc":"2.0","method":"x","params":{"b":2,"_meta":"y"}}', { method: 'x', params: { b: 2 } }],
    ['{"jsonrpc":"2.0","method":"x","params":null}', { method: 'x' }],
  ])('is read without invalid members, or not at all: %s', (frame, message) => {
    const { messages, replies, isAltered } = read(frame);
    expect(messages).toEqual([{ jsonrpc: '2.0', ...message }]);
    expect(messages.every((each) => JSONRPCMessageSchema.safeParse(each).success)).toBe(true);
    expect({ replies, isAltered }).toEqual({ replies: [], isAltered: true });
  });

  it('with a duplicate id fails no call, because its owner is unknown', () => {
    expect(read('{"jsonrpc":"2.0","id":1,"id":2,"result":{}}')).toMatchObject({
      messages: [],
      isAltered: true,
      odd: { duplicate_member: 1 },
    });
  });

  it('is read in a batch if its version has batches', () => {
    const frame = '[{"jsonrpc":"2.0","id":1,"result":{}},7,{"jsonrpc":"2.0","method":"notifications/x"}]';
    expect(read(frame, { allowsBatches: true })).toMatchObject({
      messages: [{ id: 1 }, { method: 'notifications/x' }],
      isGarbage: true,
    });
    // In an event the SDK reads one message, never a batch.
    const whole = '[{"jsonrpc":"2.0","id":1,"result":{}}]';
    expect(read(whole, { allowsBatches: true })).toMatchObject({ messages: [{ id: 1 }], isAltered: true });
  });

  it('with a list keeps items that do not nest too deep', () => {
    const frame = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"b","inputSchema":${deep(300)}}]}}`;
    const { messages, odd } = read(frame, { isList: true });
    expect(messages).toMatchObject([{ id: 1, result: { tools: [{ name: 'a' }, { name: 'b' }] } }]);
    expect(odd).toEqual({ frame_too_deep: 1 });
  });

  it('keeps the message of an error, whatever its form', () => {
    const [message] = read('{"jsonrpc":"2.0","id":1,"error":{"code":"E","message":"shut","data":7}}').messages;
    expect(message).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'shut', data: 7 } });
    expect(read('{"jsonrpc":"2.0","id":1,"error":7}').messages).toMatchObject([
      { error: { message: 'an error without a message' } },
    ]);
  });

  it('with invalid UTF-8 is read and counted', () => {
    const frame = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"a":"caf\u00e9"}}', 'latin1');
    expect(read(frame)).toMatchObject({ messages: [{ result: { a: 'caf\ufffd' } }], odd: { invalid_utf8: 1 } });
  });

  it('cannot pass off its own error as one of the gateway', () => {
    expect(frameFaultOf('malformed_response')).toBeUndefined();
    expect(frameFaultOf(':malformed_response')).toBeUndefined();
    expect(frameFaultOf({ fault: 'bad_result' })).toBeUndefined();
  });
});
