import { describe, expect, it } from 'vitest';
import { parseFromTry, parseToTry } from '../../src/control/tryMessages.ts';

describe('messages of the page Try Tool', () => {
  it('are read when they are well-formed', () => {
    const messages = [
      { type: 'ready' },
      { type: 'cancel' },
      { type: 'check', check: 3, json: '{"a": 1}' },
      { type: 'run', json: '{}' },
      { type: 'copy', json: '{}' },
      { type: 'recall', id: 4 },
      { type: 'openResult', handle: 'artifact:1' },
    ];
    for (const message of messages) expect(parseFromTry({ ...message, more: 1 })).toEqual(message);
  });

  it('are dropped when they are not', () => {
    const messages = [
      null,
      'ready',
      {},
      { type: 'other' },
      { type: 'run' },
      { type: 'run', json: '[1]' },
      { type: 'run', json: '{' },
      { type: 'run', json: { a: 1 } },
      { type: 'check', json: '{}' },
      { type: 'check', check: '1', json: '{}' },
      { type: 'recall', id: 1.5 },
      { type: 'openResult', handle: 1 },
    ];
    for (const message of messages) expect(parseFromTry(message)).toBeUndefined();
  });

  it('come to the page only with their content', () => {
    expect(parseToTry({ type: 'notice', text: 'Done.' })).toEqual({ type: 'notice', text: 'Done.' });
    for (const message of [undefined, { type: 'tool' }, { type: 'toString' }, { type: 7, text: '' }])
      expect(parseToTry(message)).toBeUndefined();
  });
});
