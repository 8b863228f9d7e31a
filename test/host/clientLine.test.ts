import { describe, expect, it } from 'vitest';
import { readClientLine } from '../../src/host/session/clientLine.ts';

const read = (line: string) => readClientLine(Buffer.from(line));
const answerTo = (line: string): { id: unknown; code: number } => {
  const { answer } = read(line) as { answer: string };
  const { id, error } = JSON.parse(answer) as { id: unknown; error: { code: number } };
  return { id, code: error.code };
};

describe('a line from the client', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 'request'],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', 'notification'],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', 'answer'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}', 'answer'],
    ['{"jsonrpc":"2.0","method":"notifications/waygate/stopped"}', 'ignored'],
  ])('classifies %s as %s', (line, kind) => {
    expect(read(line).kind).toBe(kind);
  });

  it.each([
    ['invalid JSON', 'oops', null, -32700],
    ['a batch', '[]', null, -32600],
    ['a method that is not a string', '{"id":"m1","method":42}', 'm1', -32600],
    ['a method of null', '{"id":2,"method":null}', 2, -32600],
    ['neither a method nor a result', '{"id":"m3","params":{}}', 'm3', -32600],
    ['an empty object', '{}', null, -32600],
    ['an invalid id', '{"id":{},"method":"ping"}', null, -32600],
    ['a private method', '{"id":4,"method":"notifications/waygate/stopped"}', 4, -32601],
  ])('answers %s with an error', (_what, line, id, code) => {
    expect(answerTo(line)).toEqual({ id, code });
  });
});
