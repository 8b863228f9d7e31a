import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionHost } from '../../src/host/session/sessionHost.ts';
import { LineSplitter } from '../../src/link/lineFraming.ts';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { StdioUpstream } from '../../src/mcp/wire/stdioUpstream.ts';
import { UpstreamClient } from '../../src/mcp/wire/upstreamClient.ts';
import { chunked, mutated } from '../support/mutateFrame.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';

/**
 * Mutated frames against both framers: the host's, which reads clients, and the worker's, which reads servers (M7.1).
 * WAYGATE_FUZZ_FRAMES (10,000 here, 1,000,000 in `npm run test:full`) and WAYGATE_FUZZ_SEED prolong and repeat a run.
 */
const FRAMES = Number(process.env.WAYGATE_FUZZ_FRAMES ?? 10_000);
const SEED = Number(process.env.WAYGATE_FUZZ_SEED ?? Date.now() % 2 ** 31);
const BATCH = 100;
const LONG = { timeout: 60_000 + FRAMES * 10 };

const buffer = (message: object): Buffer => Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(() => {
  console.log(`frame fuzz: ${FRAMES} frames, WAYGATE_FUZZ_SEED=${SEED}`);
  process.on('unhandledRejection', onUnhandled).on('uncaughtException', onUnhandled);
});
afterAll(() => {
  process.off('unhandledRejection', onUnhandled).off('uncaughtException', onUnhandled);
});

/** Lines of the mutated bytes as JSON.parse would see them. */
function linesOf(bytes: Buffer): string[] {
  return bytes
    .toString('latin1')
    .split('\n')
    .map((line) => Buffer.from(line.replace(/^\u00ef\u00bb\u00bf/, '').replace(/\r$/, ''), 'latin1').toString('utf8'))
    .filter((line) => line !== '');
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const SERVER_FRAMES: readonly ((id: number) => Buffer)[] = [
  (id) => buffer({ id, result: { content: [{ type: 'text', text: `answer ${id} é😀` }] } }),
  (id) => buffer({ result: { tools: [{ name: 'a', inputSchema: { type: 'object' } }] }, id }),
  (id) => buffer({ id, error: { code: -32000, message: 'busy', data: { id } } }),
  () => buffer({ method: 'notifications/message', params: { level: 'info', data: 'x' } }),
  (id) => buffer({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }),
  (id) => buffer({ id: `s${id}`, method: 'ping', params: {} }),
  (id) => buffer({ id: `q${id}`, method: 'roots/list' }),
];

describe('mutated frames', () => {
  it('are split into the lines that JSON.parse would see, wherever the stream is cut', LONG, () => {
    const random = new PseudoRandom(SEED);
    const others = SERVER_FRAMES.map((make) => make(1));
    for (let done = 0; done < FRAMES; done += BATCH) {
      const mutants = Array.from({ length: BATCH }, () => mutated(random.pick(others), random, others));
      const bytes = Buffer.concat(mutants.flatMap((frame) => [frame, Buffer.from('\n')]));
      const seen: string[] = [];
      const splitter = new LineSplitter({
        onLine: (line) => void seen.push(line.toString('utf8')),
        onOversize: () => undefined,
      });
      for (const chunk of chunked(bytes, random)) splitter.push(chunk);
      expect(seen).toEqual(linesOf(bytes));
    }
  });

  it(
    'of a server settle only the calls that they answer, and every other call gets its real answer',
    LONG,
    async () => {
      const random = new PseudoRandom(SEED + 1);
      const input = new PassThrough();
      const output = new PassThrough();
      const oddities = new Oddities();
      const client = new UpstreamClient({ oddities });
      const asked: number[] = [];
      output.on('data', (chunk: Buffer) => {
        for (const line of chunk.toString().split('\n').filter(Boolean)) {
          const { id, method, params } = JSON.parse(line);
          if (method === 'initialize') {
            const result = {
              protocolVersion: params.protocolVersion,
              capabilities: {},
              serverInfo: { name: 'f', version: '1' },
            };
            input.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
          } else if (method === 'fuzz') asked.push(id);
        }
      });
      await client.connect(new StdioUpstream({ input, output, oddities }), { onClose: () => undefined }, 5_000);
      for (let done = 0; done < FRAMES; done += BATCH) {
        const outcomes = new Map<number, unknown>();
        const calls = Array.from({ length: 10 }, (_, i) =>
          client.request('fuzz', { i }, { timeoutMs: 600_000 }).then(
            (result) => void outcomes.set(i, result),
            (error: Error) => void outcomes.set(i, error),
          ),
        );
        const ids = asked.splice(0).slice(-10);
        const others = SERVER_FRAMES.map((make, i) => make(ids[i % ids.length] as number));
        const mutants = Array.from({ length: BATCH }, () =>
          mutated(random.pick(SERVER_FRAMES)(random.pick(ids)), random, others),
        );
        const bytes = Buffer.concat(mutants.flatMap((frame) => [frame, Buffer.from('\n')]));
        for (const chunk of chunked(bytes, random)) input.write(chunk);
        // Then the real answers: a call that the noise has not settled gets exactly its own.
        for (const [i, id] of ids.entries())
          input.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { genuine: i } })}\n`);
        await Promise.all(calls);
        for (const [i, outcome] of outcomes) {
          if ((outcome as { genuine?: number }).genuine === i) continue;
          const [id, where] = [ids[i] as number, `seed ${SEED}, batch ${done}`];
          if (outcome instanceof Error) expect(mayHaveFailed(bytes, id), where).toBe(true);
          else expect(resultsFor(bytes, id), where).toContainEqual(outcome);
        }
        expect(outcomes.size).toBe(10);
      }
      expect(client.closed).toBe(false);
      await client.close();
      expect(unhandled).toEqual([]);
    },
  );

  it('of a client never end its session, and each intact request is answered', LONG, async () => {
    const random = new PseudoRandom(SEED + 2);
    const input = new PassThrough();
    const output = new PassThrough();
    let answered = 0;
    let pong: (() => void) | undefined;
    output.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString('utf8').split('\n').filter(Boolean)) {
        answered += 1;
        if (line.includes('"id":"genuine')) pong?.();
      }
    });
    const host = new SessionHost({
      input,
      output,
      workspace: '/nowhere',
      folder: '/nowhere',
      // Without a worker, forwarded requests wait and are answered at the end.
      attach: () => new Promise(() => undefined),
      log: () => undefined,
    });
    const ended = host.run();
    input.write(
      `${buffer({ id: 'i', method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } })}\n`,
    );
    const requests: readonly Buffer[] = [
      buffer({ id: 1, method: 'ping' }),
      buffer({ id: 'two', method: 'tools/call', params: { name: 'tool_browse', arguments: { path: '/' } } }),
      buffer({ method: 'notifications/cancelled', params: { requestId: 1 } }),
      buffer({ id: 3, result: { roots: [] } }),
    ];
    for (let done = 0; done < FRAMES; done += BATCH) {
      const mutants = Array.from({ length: BATCH }, () => mutated(random.pick(requests), random, requests));
      const bytes = Buffer.concat(mutants.flatMap((frame) => [frame, Buffer.from('\n')]));
      for (const chunk of chunked(bytes, random)) if (!input.write(chunk)) await once(input, 'drain');
      const alive = new Promise<void>((resolve) => {
        pong = resolve;
      });
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id: `genuine ${done}`, method: 'ping' })}\n`);
      await alive;
    }
    input.end();
    await ended;
    expect(answered).toBeGreaterThan(FRAMES / BATCH);
    expect(unhandled).toEqual([]);
  });
});

/** Returns the messages of a line: a single one, or the members of a batch. */
function messagesOf(line: string): { id?: unknown; result?: unknown }[] {
  const value = parsed(line);
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'object' && item !== null);
}

/** Returns the results for this call that the noise contains. */
function resultsFor(bytes: Buffer, id: number): unknown[] {
  return linesOf(bytes)
    .flatMap(messagesOf)
    .flatMap((message) => (message.id === id ? [withoutNullMeta(message.result)] : []));
}

/** Drops a null `_meta`, the only member that may be removed from a result. */
function withoutNullMeta(result: unknown): unknown {
  const { _meta, ...rest } = { ...(result as { _meta?: unknown } | undefined) };
  return _meta === null ? rest : result;
}

/** Returns whether the noise contains an answer to this call, or a broken frame that was meant as one. */
function mayHaveFailed(bytes: Buffer, id: number): boolean {
  return linesOf(bytes).some((line) => {
    if (parsed(line) === undefined) return line.includes(`"id"`) && line.includes(String(id));
    return messagesOf(line).some((message) => message.id === id);
  });
}
