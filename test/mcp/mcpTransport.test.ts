import { PassThrough, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { splitRelated } from '../../src/link/frames.ts';
import { LineTransport } from '../../src/mcp/session/mcpTransport.ts';

function open(frameLimit?: number) {
  const input = new PassThrough();
  const output = new PassThrough();
  const messages: unknown[] = [];
  const errors: string[] = [];
  let closed = 0;
  const transport = new LineTransport({
    input,
    output,
    ...(frameLimit === undefined ? {} : { frameLimit }),
  });
  transport.onmessage = (message) => void messages.push(message);
  transport.onerror = (error) => void errors.push(error.message);
  transport.onclose = () => {
    closed += 1;
  };
  void transport.start();
  const feed = async (text: string): Promise<void> => {
    input.write(text);
    await new Promise((done) => setImmediate(done));
  };
  return { input, output, transport, messages, errors, feed, closes: () => closed };
}

describe('messages over lines', () => {
  it.each([
    ['a valid answer', '{"jsonrpc":"2.0","id":1,"result":{"a":1}}', { result: { a: 1 } }],
    ['no version', '{"id":1,"result":{}}', { result: {} }],
    ['another version', '{"jsonrpc":"1.0","id":1,"result":{}}', { result: {} }],
    [
      'a string as result',
      '{"jsonrpc":"2.0","id":1,"result":"x"}',
      { error: { code: -32603, message: expect.stringContaining('not an object') } },
    ],
    ['no result', '{"jsonrpc":"2.0","id":1}', { error: { code: -32603 } }],
    ['a string as error', '{"jsonrpc":"2.0","id":1,"error":"bad"}', { error: { code: -32603, message: 'bad' } }],
    ['a string as code', '{"id":1,"error":{"code":"E","message":"m","data":7}}', { error: { code: -32603, data: 7 } }],
    ['an error beside a result', '{"id":1,"result":{},"error":{"code":5,"message":"m"}}', { error: { code: 5 } }],
    ['a null beside a result', '{"id":1,"result":{},"error":null}', { result: {} }],
  ])('deliver %s to its caller', async (_what, line, expected) => {
    const { feed, messages } = open();
    await feed(`${line}\n`);
    expect(messages).toEqual([expect.objectContaining({ jsonrpc: '2.0', id: 1 })]);
    expect(messages[0]).toMatchObject(expected);
  });

  it('include batches, without their invalid items', async () => {
    const { feed, messages } = open();
    await feed(
      'Welcome!\n[{"id":1,"result":{}},7,{"method":"notifications/x"}]\n{"a":1}\nnull\n{"id":2,"result":{}}\n',
    );
    expect(messages).toMatchObject([{ id: 1 }, { method: 'notifications/x' }, { id: 2 }]);
  });

  it('include everything sent before the end', async () => {
    const { input, messages, closes } = open();
    input.end('{"method":"notifications/x"}\n{"method":"notifications/y"}\n{"id":1,"result":{}}\n');
    await new Promise((done) => setImmediate(done));
    expect(messages).toMatchObject([{ method: 'notifications/x' }, { method: 'notifications/y' }, { id: 1 }]);
    expect(closes()).toBe(1);
  });

  it('name their related request, if the host asks for that', async () => {
    const notification = { jsonrpc: '2.0' as const, method: 'notifications/message', params: {} };
    const sent = async (options: { marksRelated?: boolean }, message: JSONRPCMessage, relatedRequestId?: string) => {
      const output = new PassThrough();
      const transport = new LineTransport({ input: new PassThrough(), output, ...options });
      await transport.send(message, relatedRequestId === undefined ? {} : { relatedRequestId });
      return splitRelated(output.read() as Buffer);
    };
    const marked = await sent({ marksRelated: true }, notification, 'a "b" \\');
    expect({ ...marked, frame: JSON.parse(String(marked.frame)) }).toEqual({
      relatedTo: 'a "b" \\',
      frame: notification,
    });
    for (const plain of [
      await sent({}, notification, 'a'),
      await sent({ marksRelated: true }, notification),
      await sent({ marksRelated: true }, { jsonrpc: '2.0', id: 1, result: {} }, 'a'),
    ]) {
      expect(plain.relatedTo).toBeUndefined();
      expect(String(plain.frame)).not.toContain('waygateRelated');
    }
  });

  it('answer a request that the SDK would drop', async () => {
    const { feed, messages, output } = open();
    await feed('{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":5}}\n');
    expect(messages).toEqual([]);
    expect(JSON.parse(String(output.read()))).toMatchObject({ id: 'a', error: { code: -32600 } });
    await feed('{"jsonrpc":"2.0","id":"b","method":"tools/list","params":null}\n');
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 'b', method: 'tools/list' }]);
  });

  it('fail only the call with an oversized answer', async () => {
    const { feed, messages, errors } = open(100);
    await feed(`{"result":{"content":[{"id":5}],"x":"${'y'.repeat(2_000)}"},"id":6}\n`);
    expect(messages).toEqual([]);
    expect(errors).toEqual([expect.stringContaining('beyond the limit of 100')]);
    await feed(`{"jsonrpc":"2.0","id":6,"result":{"id":5,"x":"${'y'.repeat(200)}"}}\n{"id":7,"result":{}}\n`);
    expect(messages).toMatchObject([{ id: 6, error: { message: expect.stringContaining('limit of 100') } }, { id: 7 }]);
  });

  it('carry an error in place of an answer that cannot be serialised', async () => {
    const { transport, output } = open();
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i++) deep = [deep];
    await transport.send({ jsonrpc: '2.0', id: 3, result: { deep } });
    expect(JSON.parse(String(output.read()))).toMatchObject({ id: 3, error: { code: -32603 } });
  });

  it('settle when the other end closes, with one listener for all', async () => {
    const stuck = new Writable({ highWaterMark: 1, write: () => undefined });
    const transport = new LineTransport({ input: new PassThrough(), output: stuck });
    const sends = Array.from({ length: 50 }, () => transport.send({ jsonrpc: '2.0', method: 'x' }));
    expect(stuck.listenerCount('drain')).toBe(1);
    stuck.destroy();
    const settled = await Promise.allSettled(sends);
    expect(settled.every((outcome) => outcome.status === 'rejected')).toBe(true);
    expect(stuck.listenerCount('drain')).toBe(0);
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toThrow('closed');
  });

  it('close once, whatever the end', async () => {
    const { input, output, closes } = open();
    input.end();
    input.resume();
    await new Promise((done) => input.once('close', done));
    output.destroy(new Error('gone'));
    await new Promise((done) => output.once('close', done));
    expect(closes()).toBe(1);
  });
});
