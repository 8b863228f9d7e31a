import { appendFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EmbeddedProvider } from '../../../src/records/embedded/embeddedProvider.ts';
import { grantFile } from '../../../src/records/embedded/grants/grantFile.ts';
import { ArtifactStore } from '../../../src/results/artifacts/artifactStore.ts';
import { textContent } from '../../../src/results/envelope/partContent.ts';
import { knownSecrets } from '../../../src/secrets/mask.ts';
import { TrustLog } from '../../../src/trust/trustLog.ts';
import { atEnd } from '../../support/lifetime.ts';
import { jsonLines, type RecordWorld, recordWorld, STATE } from './world.ts';

const AT = Date.now() - 3_600_000;

function call(n: number, more: object = {}, attributes: object = {}): object {
  return {
    version: 1,
    event: 'execute.completed',
    timestamp: new Date(AT + n * 1_000).toISOString(),
    success: true,
    duration_ms: n + 0.125,
    session_id: 's1',
    tool_id: `files:read_file#0000000${n % 10}`,
    namespace: 'files',
    attributes: { server: 'files', client: 'tester', raw_tokens: 100 + n, compact_tokens: 10, ...attributes },
    ...more,
  };
}

const failed = (n: number): object =>
  call(
    n,
    { event: 'execute.failed', success: false },
    { error_code: 'UPSTREAM_TIMEOUT', fault: 'timeout/request_timeout' },
  );

const countOf = async (world: RecordWorld, stream: string): Promise<unknown> => {
  await world.provider.refresh();
  return (await world.get(`/v1/streams/${stream}/aggregate?metric=count`)).body.value;
};

describe('the history', () => {
  it('has the calls, faults and browses of the event log without any grant', async () => {
    const world = recordWorld();
    const browse = {
      ...call(3),
      event: 'browse.completed',
      tool_id: null,
      attributes: { card_count: 4, query_chars: 9 },
    };
    const crash = { ...call(4), event: 'upstream.crashed', success: false, tool_id: null };
    const reason = 'It exited (process/exited).';
    const lines = [call(1), failed(2), browse, { ...crash, attributes: { reason, generation: 2 } }];
    world.write(`${STATE}/events.jsonl`, jsonLines(lines));
    const { body } = await world.get('/v1/streams/calls/records?order=asc');
    expect(body.data?.map(({ data }) => data)).toMatchObject([
      { kind: 'execute', server: 'files', tool: 'read_file', outcome: 'ok', tokens_in: 101, client: 'tester' },
      { outcome: 'error', error_code: 'UPSTREAM_TIMEOUT', fault: 'timeout/request_timeout' },
    ]);
    const faults = await world.get('/v1/streams/faults/records?order=asc&expand=call');
    expect(faults.body.data).toMatchObject([
      {
        data: { kind: 'call', fault: 'timeout/request_timeout' },
        expanded: { call: { data: { duration_ms: 2.125 } } },
      },
      { data: { kind: 'crashed', server: 'files', fault: 'process/exited' }, expanded: { call: null } },
    ]);
    expect((await world.get('/v1/streams/browses/records')).body.data).toMatchObject([{ data: { card_count: 4 } }]);
  });

  it('separates sessions without their ids, which over HTTP admit their bearers', async () => {
    const world = recordWorld();
    const ids = ['session-8d3f2a1b9c0e', 'session-8d3f2a1b9c0e', 'f3b1c5de-8a1b-4c6d-9e0f-112233445566'];
    world.write(`${STATE}/events.jsonl`, jsonLines(ids.map((id, n) => call(n, { session_id: id }))));
    await world.provider.refresh();
    const { body } = await world.get('/v1/streams/calls/aggregate?metric=count_distinct&field=session_id');
    expect(body.value).toBe(2);
    const { body: page } = await world.get('/v1/streams/calls/records');
    expect(JSON.stringify(page)).not.toMatch(/8d3f2a1b9c0e|112233445566|REDACTED/);
  });

  it('continues in a log that grows, and across its rotation', async () => {
    const world = recordWorld();
    const file = world.write(`${STATE}/events.jsonl`, jsonLines([call(1), call(2)]));
    expect(await countOf(world, 'calls')).toBe(2);
    appendFileSync(file, `${JSON.stringify(call(3))}\n{"version":1,"event":"execute.comp`);
    expect(await countOf(world, 'calls')).toBe(3);
    renameSync(file, file.replace('events.jsonl', 'events.1700000000000-12.jsonl'));
    writeFileSync(file, jsonLines([call(4)]));
    expect(await countOf(world, 'calls')).toBe(4);
  });

  it('reads a truncated log from its beginning', async () => {
    const world = recordWorld();
    const file = world.write(`${STATE}/events.jsonl`, jsonLines([call(1), call(2), call(3)]));
    expect(await countOf(world, 'calls')).toBe(3);
    truncateSync(file, 0);
    appendFileSync(file, jsonLines([call(7)]));
    expect(await countOf(world, 'calls')).toBe(4);
  });

  it('has the words of kept results, masked, until they are removed', async () => {
    const world = recordWorld();
    const store = new ArtifactStore({ folder: join(world.root, STATE, 'artifacts') });
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const draft = { kind: 'text', source: 'files', mediaType: 'text/plain', label: 'A report' } as const;
    const content = `The turbine stopped. token ${secret}`;
    const shared = store.hold({ ...draft, owner: 'workspace', content: textContent(content) });
    const own = store.hold({ ...draft, owner: 'session-1', content: textContent('The turbine of one session.') });
    await store.flush();
    await Promise.all([shared.saved(), own.saved()]);
    await world.provider.refresh();
    const { body } = await world.get('/v1/search?q=turbine');
    expect(body.data).toMatchObject([{ stream: 'results', record_key: shared.info.handle, matched_fields: ['text'] }]);
    const record = await world.get(`/v1/streams/results/records/${encodeURIComponent(shared.info.handle)}`);
    expect(JSON.stringify(record.body)).toContain('The turbine stopped.');
    expect(JSON.stringify(record.body)).not.toContain(secret);
    await store.remove(shared.info.handle);
    expect(await countOf(world, 'results')).toBe(0);
  });

  it('has the decisions about this workspace and none about another', async () => {
    const world = recordWorld();
    const log = (workspace: string): TrustLog =>
      new TrustLog({
        folder: world.options.stateRoot,
        workspace,
        lock: () => () => undefined,
        now: () => new Date(AT),
      });
    log('w1').add({ actor: 'person-cli', what: 'launch', subject: 'approve files', pin: 'abc' });
    log('other').add({ actor: 'person-cli', what: 'launch', subject: 'approve payroll' });
    log('w1').add({ actor: 'person-editor', what: 'tool', subject: 'block files read_file' });
    world.write(`${STATE}/tool-approvals.json`, JSON.stringify(['files:write_file#00000001']));
    await world.provider.refresh();
    const approvals = await world.get('/v1/streams/approvals/records?order=asc');
    expect(approvals.body.data?.map(({ data }) => data.subject)).toEqual([
      'approve files',
      'files:write_file#00000001',
    ]);
    const trust = await world.get('/v1/streams/trust/records');
    expect(trust.body.data).toMatchObject([{ data: { action: 'block', actor: 'person-editor' } }]);
    expect(JSON.stringify([approvals.body, trust.body])).not.toContain('payroll');
  });

  it('drops calls of more than ninety days', async () => {
    const world = recordWorld();
    const old = new Date(Date.now() - 91 * 86_400_000).toISOString();
    world.write(`${STATE}/events.jsonl`, jsonLines([{ ...call(1), timestamp: old }, call(2)]));
    expect(await countOf(world, 'calls')).toBe(1);
  });

  it('masks a value in answers that became a secret after its text was loaded', async () => {
    const world = recordWorld();
    world.write(`${STATE}/events.jsonl`, jsonLines([call(1, {}, { client: 'late-known-value-77' })]));
    expect(JSON.stringify((await world.get('/v1/streams/calls/records')).body)).toContain('late-known-value-77');
    knownSecrets.learn('a late test', ['late-known-value-77']);
    expect(JSON.stringify((await world.get('/v1/streams/calls/records')).body)).not.toContain('late-known-value-77');
  });

  it('is gone from answers and disk once it was revoked', async () => {
    const world = recordWorld();
    world.write(`${STATE}/events.jsonl`, jsonLines([call(1)]));
    expect(await countOf(world, 'calls')).toBe(1);
    world.grant([]);
    expect((await world.get('/v1/streams/calls/records')).status).toBe(403);
    const { connections } = await world.provider.purge();
    expect(connections).toEqual([]);
    const bytes = readFileSync(join(world.root, STATE, 'records.db'));
    expect(bytes.includes('read_file')).toBe(false);
  });

  it('is refused as a whole while the grants are damaged', async () => {
    const world = recordWorld();
    world.write(`${STATE}/events.jsonl`, jsonLines([call(1)]));
    for (const text of ['{', '{"version":1,"grants":[{"connection":"history","streams":"all"}]}', '[]']) {
      writeFileSync(grantFile(world.options.stateFolder), text, { mode: 0o600 });
      const { status, body } = await world.get('/v1/streams/calls/records');
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ code: 'grant_invalid' });
    }
    rmSync(grantFile(world.options.stateFolder));
    expect((await world.get('/v1/streams/calls/records')).status).toBe(200);
  });
});

describe('the database', () => {
  it.skipIf(process.platform === 'win32')('is readable by its owner alone', async () => {
    const world = recordWorld();
    await world.provider.refresh();
    for (const end of ['', '-wal', '-shm']) {
      expect(statSync(join(world.root, STATE, `records.db${end}`)).mode & 0o077).toBe(0);
    }
  });

  it.each([
    ['short', 'no database at all'],
    ['long', 'x'.repeat(9_000)],
  ])('is made anew where a %s file is no database', async (_, text) => {
    const world = recordWorld();
    world.write(`${STATE}/events.jsonl`, jsonLines([call(1), call(2)]));
    world.write(`${STATE}/records.db`, text);
    expect(await countOf(world, 'calls')).toBe(2);
    expect(await world.provider.status()).toMatchObject({ rebuilt: 'it is damaged' });
  });

  it('stops loading at its size limit, and says so', async () => {
    const world = recordWorld();
    world.provider = new EmbeddedProvider({ ...world.options, maxBytes: 1 });
    atEnd(() => world.provider.dispose());
    world.write(`${STATE}/events.jsonl`, jsonLines([call(1)]));
    const { connections } = await world.provider.refresh();
    expect(connections).toMatchObject([{ problem: expect.stringContaining('size limit') }]);
    expect((await world.get('/v1/streams/calls/records')).body.data).toEqual([]);
  });

  it('warns in answers while it loads', async () => {
    const world = recordWorld();
    world.write(`${STATE}/events.jsonl`, jsonLines(Array.from({ length: 20_000 }, (_, n) => call(n))));
    const { body } = await world.get('/v1/streams/calls/records?limit=1');
    expect(body.meta?.warnings).toMatchObject([{ code: 'loading' }]);
    await world.provider.refresh();
    expect((await world.get('/v1/streams/calls/records?limit=1')).body.meta?.warnings).toEqual([]);
  });

  it('serves two processes at once', async () => {
    const world = recordWorld();
    const other = world.open();
    world.write(`${STATE}/events.jsonl`, jsonLines(Array.from({ length: 3_000 }, (_, n) => call(n))));
    await Promise.all([world.provider.refresh(), other.refresh()]);
    await other.refresh();
    expect(await countOf(world, 'calls')).toBe(3_000);
  });
});
