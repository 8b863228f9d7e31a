import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  logDocuments,
  rankedDocuments,
  sessionDocuments,
  toolDocuments,
} from '../../../src/extension/documents/gatewayDocuments.ts';
import type { DocumentAddress, DocumentProvider } from '../../../src/extension/documents/waygateFiles.ts';

/** Address of a document behind its first segment, and a gateway that answers by method. */
function address(segments: readonly string[], answers: Record<string, (params: object) => unknown>): DocumentAddress {
  const request = async (method: string, params: object): Promise<unknown> => {
    const answer = answers[method];
    if (!answer) throw new Error(`Nobody expected ${method}.`);
    return answer(params);
  };
  return { segments, gateway: { request, state: undefined }, uri: undefined } as unknown as DocumentAddress;
}

const textOf = async (provider: DocumentProvider, at: DocumentAddress): Promise<string> =>
  Buffer.from(await provider.read(at)).toString();

describe('the document of a tool', () => {
  const tool = (before?: object) => ({
    tool: ({ toolId }: { toolId?: string }) =>
      toolId === 'erp:a/b#1' ? { definition: { name: 'a/b\u202e' }, ...(before && { before }) } : null,
  });

  it('is its definition, with hidden characters as escapes', async () => {
    expect(await textOf(toolDocuments, address(['erp', 'a/b#1.json'], tool()))).toBe('{\n  "name": "a/b\\u202e"\n}\n');
  });

  it('is the one before where it has changed, and says where it has not, or where there is no tool', async () => {
    const at = (file: string, before?: object) => textOf(toolDocuments, address(['erp', file], tool(before)));
    expect(await at('a/b#1.before.json', { definition: { name: 'old' } })).toContain('"old"');
    await expect(at('a/b#1.before.json')).rejects.toThrow('has not changed');
    await expect(at('gone#2.json')).rejects.toThrow('no such tool now');
  });
});

describe('the document of a log', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('has the last lines, as they can be seen, or says that there are none', async () => {
    const of = (...lines: string[]) =>
      textOf(logDocuments, address(['erp.log'], { serverLog: () => ({ lines, next: lines.length }) }));
    expect(await of('one', 'two\u001b[31m')).toMatch(/^one\ntwo\S+\[31m\n$/);
    expect(await of('two\u001b')).not.toContain('\u001b');
    expect(await of()).toContain('has written nothing to stderr');
  });

  it('follows what the server writes until it is closed', async () => {
    let next = 5;
    let asked = 0;
    let changes = 0;
    const at = address(['erp.log'], {
      serverLog: (params) => {
        expect(params).toEqual({ server: 'erp', lines: 0 });
        asked += 1;
        return { lines: [], next };
      },
    });
    const watching = logDocuments.watch?.(at, () => {
      changes += 1;
    });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(changes).toBe(0);
    next = 7;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(changes).toBe(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(changes).toBe(1);
    watching?.dispose();
    const before = asked;
    next = 9;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([asked, changes]).toEqual([before, 1]);
  });
});

it('the document of a ranking explains its query, or the place of a tool', async () => {
  const asked: object[] = [];
  const explain = (params: object): unknown => {
    asked.push(params);
    throw new Error('The gateway is away');
  };
  for (const segments of [['refund an order.md'], ['erp:refund#1', 'refund an order.md']])
    await expect(textOf(rankedDocuments, address(segments, { explain, learned: () => [] }))).rejects.toThrow('is away');
  expect(asked).toEqual([
    { query: 'refund an order', topK: 50 },
    { query: 'refund an order', topK: 50 },
  ]);
});

it('the document of a session shows it, or what it says about a question, or why it cannot', async () => {
  const session = (params: object): unknown =>
    'question' in params ? { text: `about ${String(params.question)}` } : { reason: 'It is no session' };
  expect(await textOf(sessionDocuments, address(['who?', '/a/b.md'], { session }))).toBe('about who?');
  await expect(textOf(sessionDocuments, address(['/a/b.md'], { session }))).rejects.toThrow('It is no session');
});
