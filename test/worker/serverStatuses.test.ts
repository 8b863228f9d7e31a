import { describe, expect, it, vi } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { CatalogView } from '../../src/modes/shared/catalog/catalogView.ts';
import { HealthRecord } from '../../src/supervision/health.ts';
import type { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import {
  type StatusSources,
  serverBriefs,
  serverHealth,
  serverStatuses,
} from '../../src/worker/reports/serverStatuses.ts';

const location = { file: '/w/waygate.json', line: 3, column: 5, endColumn: 9 };
const config = (name: string, more: object = {}) => ({
  name,
  location,
  type: 'stdio',
  command: 'x',
  args: [],
  env: {},
  cwd: '/w',
  ...more,
});

function sources(state: string, more: Partial<ServerConnection> = {}): StatusSources {
  const record = new HealthRecord(() => 1_000);
  record.starting(1, false);
  record.failed(
    faultOf('exited', { generation: 1, detail: `SECRET ${'x'.repeat(300)}` }, (text) => text),
    'backing_off',
  );
  const connection = {
    state,
    since: 7,
    pid: 4,
    reason: 'It said SECRET.',
    stderr: ['line'],
    health: record.snapshot(),
    oddities: new Oddities(),
    protocol: { era: 'modern', version: '2026-07-28', at: 5 },
    implementation: { name: 'git\nserver', version: 'SECRET 1' },
    ...more,
  } as unknown as ServerConnection;
  const launch = { name: 'git', hash: 'h', lines: ['runs new'], isApart: false };
  return {
    approvals: { launch: () => launch, before: () => ['runs old'] },
    config: {
      servers: [config('git'), config('off', { disabled: true })],
      broken: [{ name: 'bad', reason: 'No.', location }],
    },
    view: CatalogView.build([{ server: 'git', tools: [{ name: 'a', inputSchema: { type: 'object' } }] }], 1),
    connection: (name: string) => (name === 'git' ? connection : undefined),
    missing: () => ({ key: 'k', name: 'K', description: '', password: true, options: [] }),
    heldTools: () => [],
    walls: () => 'walled',
    driftedOf: () => 0,
    trustProblem: () => undefined,
    useOf: (name: string) => (name === 'git' ? { calls: 3, errors: 1, p95Ms: 7, lastUsedAt: 9 } : undefined),
    definitionTokensOf: () => 40,
    isSignedIn: () => undefined,
    scrubSecrets: (text: string) => text.replaceAll('SECRET', '***'),
  } as unknown as StatusSources;
}

describe('the status of servers', () => {
  it('has every configured server in brief, including disabled and misconfigured ones, with secrets masked', () => {
    expect(serverBriefs(sources('failed'))).toEqual([
      { name: 'git', namespace: 'git', state: 'failed', toolCount: 1, location, reason: 'It said ***.' },
      { name: 'off', namespace: '', state: 'disabled', toolCount: 0, location },
      { name: 'bad', namespace: '', state: 'failed', toolCount: 0, location, reason: 'No.' },
    ]);
  });

  it('adds process, supervision and misbehaviour, with secrets masked and the fault bounded', () => {
    const oddities = new Oddities();
    oddities.add('batch', 2);
    const [git, off, bad] = serverStatuses(sources('failed', { oddities }));
    expect(git).toMatchObject({
      since: 7,
      pid: 4,
      walls: 'walled',
      protocol: { era: 'modern', version: '2026-07-28', at: 5 },
      implementation: 'git server *** 1',
      stderr: ['line'],
      supervised: { supervision: 'backing_off' },
    });
    expect(git?.oddities).toMatchObject([{ kind: 'batch', count: 2 }]);
    const detail = git?.supervised?.last_fault?.detail ?? '';
    expect(detail).toMatch(/^\*\*\* x+…$/);
    expect(detail.length).toBeLessThanOrEqual(200);
    for (const none of [off, bad]) expect(none).not.toHaveProperty('supervised');
  });

  it('names the missing secret or approval in the states that wait for it', () => {
    expect(serverStatuses(sources('needs_secret'))[0]).toMatchObject({ secret: { key: 'k' } });
    expect(serverStatuses(sources('needs_approval'))[0]?.approval).toEqual({
      hash: 'h',
      lines: ['- runs old', '+ runs new'],
      change: { before: ['runs old'], now: ['runs new'] },
    });
    for (const member of ['secret', 'approval'])
      expect(serverStatuses(sources('failed'))[0]).not.toHaveProperty(member);
  });

  it.each([
    ['needs_approval', { kind: 'approve' }],
    ['needs_secret', { kind: 'secret', key: 'k' }],
    ['needs_sign_in', { kind: 'sign_in' }],
    ['failed', { kind: 'restart' }],
    ['ready', undefined],
  ])('names the step for a server in the state %s', (state, remedy) => {
    expect(serverStatuses(sources(state))[0]?.remedy).toEqual(remedy);
  });

  it('names the wait for the next start, and the edit that a wrong entry needs', () => {
    const waits = { ...new HealthRecord(() => 0).snapshot(), next_attempt_in_ms: 500 };
    const refused = faultOf('spawn_enoent', { generation: 1, detail: '' }, (text) => text);
    const wrong = { ...waits, last_fault: refused };
    const remedies = [waits, wrong].map((health) => serverStatuses(sources('failed', { health }))[0]?.remedy);
    expect(remedies).toEqual([
      { kind: 'wait', ms: 500 },
      { kind: 'edit', location },
    ]);
    expect(serverStatuses(sources('failed'))[2]?.remedy).toEqual({ kind: 'edit', location });
  });

  it('has the time of the next start, which does not grow older as a countdown does', () => {
    vi.useFakeTimers({ now: 10_000, toFake: ['Date'] });
    const waits = { ...new HealthRecord(() => 0).snapshot(), next_attempt_in_ms: 500 };
    expect(serverStatuses(sources('failed', { health: waits }))[0]?.nextTryAt).toBe(10_500);
    expect(serverStatuses(sources('failed'))[0]).not.toHaveProperty('nextTryAt');
    vi.useRealTimers();
  });

  it('has the use, the cost and the kind of a server', () => {
    const use = { kind: 'stdio', calls: 3, errors: 1, p95Ms: 7, lastUsedAt: 9, definitionTokens: 40 };
    expect(serverStatuses(sources('ready'))[0]).toMatchObject(use);
    expect(serverStatuses(sources('ready'))[0]).not.toHaveProperty('signedIn');
  });

  it('becomes health with the counts of the supervisor, or of a server that never started', () => {
    const [git, off] = serverStatuses(sources('failed')).map(serverHealth);
    expect(git).toMatchObject({ name: 'git', state: 'failed', down: true, worker_handshake: 'failed', generation: 1 });
    expect(Object.keys(git ?? {})).not.toContain('stderr');
    expect(off).toMatchObject({ state: 'disabled', down: false, supervision: 'idle', restart_count: 0, uptime_ms: 0 });
  });
});
