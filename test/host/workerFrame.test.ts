import { describe, expect, it } from 'vitest';
import { readWorkerFrame } from '../../src/host/session/workerFrame.ts';
import { CONTRACT_NOTIFICATION, encodeMessage, KEEP_NOTIFICATION } from '../../src/link/frames.ts';

const read = (method: string, params: object) => readWorkerFrame(Buffer.from(encodeMessage({ method, params })));

describe('a private frame of a worker', () => {
  it('begins a call unless it says otherwise', () => {
    const declared = { id: 7, contract: 'convergent' };
    // A worker of another build sends this once, when it has begun.
    expect(read(CONTRACT_NOTIFICATION, declared)).toEqual({ kind: 'contract', ...declared, begins: true });
    expect(read(CONTRACT_NOTIFICATION, { ...declared, begins: false })).toEqual({
      kind: 'contract',
      ...declared,
      begins: false,
    });
  });

  it('names the counted request, if its id is valid', () => {
    const keep = (more: object) => read(KEEP_NOTIFICATION, { key: 'session', value: 1, ...more });
    expect(keep({ counted: 'a' })).toMatchObject({ kind: 'keep', key: 'session', value: 1, counted: 'a' });
    for (const odd of [{}, { counted: null }, { counted: {} }]) expect(keep(odd)).toMatchObject({ counted: undefined });
  });
});
