import { describe, expect, it } from 'vitest';
import type { ServerScan, TrustReview } from '../../src/control/trustContract.ts';
import { Observable } from '../../src/extension/observable.ts';
import type { GatewayView } from '../../src/extension/status/health.ts';
import {
  findingProblems,
  followFindings,
  quarantined,
  type ScannedServer,
} from '../../src/extension/trust/findings.ts';
import { reviewNews } from '../../src/extension/trust/heldRows.ts';
import { attached, server } from './fixtures.ts';

const LOCATION = { file: '/work/project/.vscode/waygate.json', line: 7, column: 5 };
const hard = { rule: 'D2', tier: 'hard', where: '/description', quote: 'do not\u202e mention' } as const;
const soft = { rule: 'D5', tier: 'soft', where: '', quote: 'assistant' } as const;
const scan = (findings: ServerScan['entries'][number]['findings'] = [hard, soft]): ServerScan => ({
  ...{ server: 'mail', scanned: 1, location: LOCATION },
  entries: [{ kind: 'tool', name: 'send\nall', findings }],
});
const review = (over: Partial<TrustReview> = {}): TrustReview => ({
  ...{ server: 'mail', origin: 'workspace', onChange: 'block', approved: [], items: [] },
  ...over,
});

describe('hard findings', () => {
  it('of a workspace server are problems at its entry, each on one line', () => {
    expect(findingProblems([{ review: review(), scan: scan() }])).toEqual([
      {
        severity: 'warning',
        code: 'suspicious_text',
        message:
          'The server "mail" lists suspicious text. tool send all: keeps something from the user (hard) at /description: "do not\\u202e mention"',
        location: LOCATION,
      },
    ]);
  });

  it('of the user’s own server are no problems of a file', () => {
    expect(findingProblems([{ review: review({ origin: 'user' }), scan: scan() }])).toEqual([]);
    expect(findingProblems([{ review: review(), scan: scan([soft]) }])).toEqual([]);
  });
});

describe('banner of the dashboard', () => {
  it('quotes the findings of a quarantined server, and counts those that it leaves out', () => {
    const many = Array.from({ length: 12 }, () => hard);
    const [banner] = quarantined([{ review: review({ quarantine: 'bad\nthings' }), scan: scan(many) }]);
    expect(banner).toMatchObject({ server: 'mail', reason: 'bad things', more: 2 });
    expect(banner?.findings).toHaveLength(10);
    expect(banner?.findings[0]).toEqual({
      about: 'tool send all: keeps something from the user (hard) at /description',
      quote: 'do not\\u202e mention',
    });
    expect(quarantined([{ review: review(), scan: scan() }])).toEqual([]);
  });
});

describe('scans', () => {
  it('are requested for the workspace’s servers and quarantined ones, once for each change of the lists', async () => {
    const gateway = new Observable<GatewayView>({ link: { kind: 'attaching' }, policy: undefined });
    const found = new Observable<readonly ScannedServer[]>([]);
    const asked: (string | undefined)[] = [];
    const link = {
      trust: async () => [
        review(),
        review({ server: 'own', origin: 'user' }),
        review({ server: 'bad', origin: 'user', quarantine: 'x' }),
      ],
      scan: async (name: string) => {
        asked.push(name);
        return [scan()];
      },
    };
    const following = followFindings(gateway, link, found);
    const scanned = new Promise<void>((resolve) => found.onChange(() => resolve()));
    gateway.set({ link: attached(), policy: undefined });
    await scanned;
    gateway.set({ link: attached({ health: 'degraded' }), policy: undefined });
    expect(asked).toEqual(['mail', 'bad']);
    expect(found.value.map(({ review: { server } }) => server)).toEqual(['mail', 'bad']);
    gateway.set({ link: { kind: 'off', reason: 'no_folder' }, policy: undefined });
    expect(found.value).toEqual([]);
    following.dispose();
  });
});

describe('notification about a review', () => {
  const held = [{ toolId: '', part: 'tools', name: 'send', why: 'changed' }];

  it('appears once per server, and not for what the user has blocked', () => {
    const offered = new Set<string>();
    const servers = [server('mail', { held }), server('[x](command:y)', { held })];
    expect(reviewNews(servers, offered)).toBe(
      'Servers list what you have not approved: mail (1 changed), [x] (command: y) (1 changed). No model sees it before your review.',
    );
    expect(reviewNews(servers, offered)).toBeUndefined();
    const blocked = held.map((item) => ({ ...item, why: 'blocked' }));
    expect(reviewNews([server('other', { held: blocked }), server('free')], offered)).toBeUndefined();
    expect(reviewNews([server('early', { held, state: 'starting' })], offered)).toBeUndefined();
    expect(reviewNews([server('early', { held })], offered)).toContain('early (1 changed)');
  });
});
