import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { firstMessage, opensModern } from '../../src/host/session/opening.ts';
import { modernMeta } from '../support/modernMeta.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/** Returns the first message of a stream, and everything that a reader gets from the stream afterwards. */
async function opened(chunks: readonly (string | Buffer)[]): Promise<{ message: unknown; rest: string }> {
  const input = new PassThrough();
  const first = firstMessage(input);
  for (const chunk of chunks) {
    input.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const message = await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 50, 'still waiting'))]);
  const parts: Buffer[] = [];
  input.on('data', (part: Buffer) => parts.push(part));
  input.end();
  await new Promise((resolve) => input.once('end', resolve));
  return { message: message === 'still waiting' ? message : await first, rest: Buffer.concat(parts).toString() };
}

describe('the first message of a client', () => {
  it.each<[string, (string | Buffer)[]]>([
    ['in one piece', [`${PING}\n`]],
    ['with others behind it', [`${PING}\n${PING}\n{"id":`]],
    ['in many pieces', [...`${PING}\n`]],
    ['after empty lines', ['\r\n\n', `  ${PING}\r\n`]],
    ['with a byte order mark', [Buffer.from([0xef, 0xbb, 0xbf]), `${PING}\n`]],
  ])('is read %s, and stays in the stream', async (_, chunks) => {
    const { message, rest } = await opened(chunks);
    expect(message).toMatchObject({ method: 'ping' });
    expect(rest).toBe(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString());
  });

  it.each([
    ['no JSON', 'hello\n'],
    ['no object', '[1]\n'],
  ])('is nothing if the line is %s', async (_, line) => {
    expect(await opened([line])).toEqual({ message: undefined, rest: line });
  });

  it('is nothing if the line has no end within a megabyte', async () => {
    const line = 'x'.repeat(1024 * 1024 + 1);
    expect(await opened([line])).toEqual({ message: undefined, rest: line });
  });

  it('is nothing if the client goes without one', async () => {
    const input = new PassThrough();
    const first = firstMessage(input);
    input.end('{"half":');
    expect(await first).toBeUndefined();
  });
});

it('a client opens the modern era by its metadata or by a method of that era alone', () => {
  const opens = (method: string, params?: Record<string, unknown>): boolean =>
    opensModern({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) });
  expect(opens('tools/list', { _meta: modernMeta() })).toBe(true);
  expect(['server/discover', 'subscriptions/listen'].map((method) => opens(method))).toEqual([true, true]);
  expect(['initialize', 'tools/list', 'ping'].map((method) => opens(method))).toEqual([false, false, false]);
});
