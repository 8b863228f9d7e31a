import { describe, expect, it } from 'vitest';
import type { LimitWindow } from '../../src/control/activityContract.ts';
import type { ServerStatus } from '../../src/control/contract.ts';
import { dashboardState } from '../../src/extension/dashboard/dashboardModel.ts';
import { limitsPart } from '../../src/extension/dashboard/limitRows.ts';
import { age, compact, toolParts, until } from '../../src/extension/dashboard/words.ts';
import { timeOfDay } from '../../src/text/timeOfDay.ts';
import { BUSY, NOW, PAGES, sources, telemetry } from '../webview/sample.ts';
import { server, snapshot } from './fixtures.ts';

const stateOf = (servers: readonly ServerStatus[], more: Parameters<typeof sources>[0] = {}) =>
  dashboardState(sources({ snapshot: snapshot({ servers }), ...more }));
const limitsOf = (...windows: LimitWindow[]) => limitsPart({ report: { windows }, age: 0 }, NOW).rows;

describe('needs of the dashboard', () => {
  it('begin with questions, then the configuration, then servers, each with its buttons', () => {
    expect(PAGES.degraded.needs.map(({ subject, buttons }) => [subject, ...buttons.map(({ label }) => label)])).toEqual(
      [
        ['Visual Studio Code', 'Review…'],
        ['waygate.json, line 14', 'Open Place'],
        ['tickets', 'Try Again', 'Show Log'],
        ['calendar', 'Sign In'],
        ['notes', 'Review Changes…'],
      ],
    );
  });

  it('name the step that the worker names', () => {
    const location = { file: '/work/project/.vscode/waygate.json', line: 2, column: 3 };
    const remedies = [
      ['approve', 'approve'],
      ['review', 'review'],
      ['sign_in', 'signIn'],
      ['restart', 'refreshServer'],
    ] as const;
    for (const [kind, action] of remedies) {
      const { needs } = stateOf([server('mail', { state: 'failed', remedy: { kind } })]);
      expect(needs[0]?.buttons[0]?.action).toBe(action);
    }
    const { needs } = stateOf([
      server('a', { state: 'failed', remedy: { kind: 'edit', location } }),
      server('b', { state: 'needs_secret', remedy: { kind: 'secret', key: 'b' } }),
    ]);
    expect(needs.map(({ buttons }) => buttons[0]?.action)).toEqual(['openServer', 'setSecret']);
  });

  it('contain no command line and nothing that is well', () => {
    expect(PAGES.ready.needs).toEqual([]);
    for (const page of Object.values(PAGES)) {
      expect(JSON.stringify(page)).not.toMatch(/waygate (approve|secret|login|reload)/);
    }
  });

  it('name the gateway while it does not run, and the trust of the workspace', () => {
    expect(PAGES.lost.needs[0]).toMatchObject({
      subject: 'Gateway',
      words: 'The gateway exited while it was starting.',
      buttons: [{ action: 'restart' }, { action: 'showLog' }],
    });
    expect(PAGES.lost.needs).toHaveLength(1);
    expect(PAGES.off.needs[0]?.buttons[0]?.action).toBe('manageTrust');
  });

  it('quote what the scan found at a quarantined server', () => {
    expect(PAGES.degraded.needs.at(-1)).toMatchObject({
      words: expect.stringContaining('is in quarantine. tools /description'),
      quotes: [{ quote: 'do not mention it' }, { about: '2 more findings' }],
    });
  });
});

describe('figures of the dashboard', () => {
  it('count calls, answer times, errors and tokens, and say how tokens are counted', () => {
    const figures = Object.fromEntries(PAGES.degraded.now.figures.map((figure) => [figure.id, figure]));
    expect(figures).toMatchObject({
      rate: { value: '28', notes: ['214 in 15 min'] },
      latency: { value: '12.4 ms / 340 ms', notes: ['of 1,312 calls'] },
      errors: { value: '14', notes: ['1 lost, 2 retries'] },
      context: { value: '68,380 → 1,220', notes: ['−98 %', 'results: 434k → 12k'] },
    });
    expect(figures.context?.method).toContain('cl100k');
    expect(figures.rate?.plot?.title).toBe(
      'Calls a minute in the last 15 minutes: 214 calls, 2 errors, at most 40 a minute.',
    );
  });

  it('have no plot and no numbers before the first call', () => {
    const [rate, latency, , context] = PAGES.empty.now.figures;
    expect(rate).toMatchObject({ value: '0', notes: ['no calls yet'] });
    expect(rate?.plot).toBeUndefined();
    expect(latency?.value).toBe('–');
    expect(context?.value).toBe('68,380 → 1,220');
  });

  it('admit that few tools cost more with the gateway', () => {
    const report = telemetry();
    const tokens = { ...report.tokens, definition_tokens_full: 1_000, definition_tokens_exposed: 1_220 };
    const { now } = dashboardState(sources({ telemetry: { ...report, tokens } }));
    expect(now.figures.at(-1)?.notes[0]).toBe('+22 %');
  });

  it('name the sessions in one line, clients of a kind together', () => {
    const [session] = BUSY.sessions;
    const sessions = session
      ? [session, session, { ...session, client: 'claude-code', mode: 'transparent' as const }]
      : [];
    const { now } = dashboardState(sources({ snapshot: { ...BUSY, sessions } }));
    expect(now.lines[0]).toBe(
      '3 sessions: 2 × Visual Studio Code 1.139.1 (MCP 2025-11-25), claude-code 1.139.1 (MCP 2025-11-25, transparent).',
    );
    expect(PAGES.empty.now.lines[0]).toContain('No session.');
  });
});

describe('limits of the dashboard', () => {
  it('use words for the scope, the session and the tool', () => {
    const rows = limitsOf(
      { scope: 'tool_execute/minute', limit: 40, left: 33, freesInMs: 12_000 },
      { scope: 'tool_browse/session', limit: 9, left: 9, session: 's1', client: 'claude-code' },
      { scope: 'tool:files:read/it#0123abcd/minute', limit: 2, left: 2 },
    );
    expect(rows.map(({ name, of, words, frees }) => [name, of, words, frees])).toEqual([
      ['Calls, a minute', 'all sessions', '33 of 40 left', 'frees in 12 s'],
      ['Searches, a session', 'claude-code', '9 of 9 left', ''],
      ['files read/it, a minute', 'all sessions', '2 of 2 left', ''],
    ]);
  });

  it('put a reached limit first, and say until when calls wait', () => {
    const [minute, session, other] = limitsOf(
      { scope: 'tool_view/minute', limit: 2, left: 1, freesInMs: 5_000 },
      { scope: 'tool_execute/minute', limit: 2, left: 0, freesInMs: 31_000 },
      { scope: 'tool_execute/session', limit: 2, left: 0, session: 's1' },
    );
    expect(minute).toMatchObject({ isMet: true, frees: `waits until ${timeOfDay(NOW + 31_000)}` });
    expect(session).toMatchObject({ isMet: true, frees: 'used up: needs a new session', of: 's1' });
    expect(other?.isMet).toBe(false);
  });

  it('count down between two reports, and are not reached after the time', () => {
    const window = { scope: 'tool_execute/minute', limit: 2, left: 0, freesInMs: 3_000 };
    const at = (age: number) => limitsPart({ report: { windows: [window] }, age }, NOW).rows[0];
    expect(at(1_000)?.frees).toBe(`waits until ${timeOfDay(NOW + 2_000)}`);
    expect(at(3_500)).toMatchObject({ isMet: false, frees: '' });
  });

  it('say why there are none, with the button of the next step', () => {
    const of = (limits: Parameters<typeof limitsPart>[0]) => {
      const { sentence, buttons } = limitsPart(limits, NOW);
      return [sentence, buttons[0]?.action];
    };
    expect(of(undefined)).toEqual(['Waiting for the limits…', undefined]);
    expect(of('unsupported')).toEqual([expect.stringContaining('older build'), 'reload']);
    expect(of({ report: { windows: [] }, age: 0 })).toEqual([
      expect.stringContaining('No limits are set'),
      'addLimits',
    ]);
    expect(of({ report: { windows: [], unreadable: 'line 3 is odd' }, age: 0 })).toEqual([
      'No call is allowed, because "rateLimits" cannot be read: line 3 is odd.',
      'addLimits',
    ]);
  });
});

describe('servers of the dashboard', () => {
  it('stand in one order: needs you, failed, then by calls and name', () => {
    const rows = stateOf([
      server('zero'),
      server('busy', { calls: 9 }),
      server('broken', { state: 'failed' }),
      server('also', { calls: 0 }),
      server('new', { state: 'needs_approval' }),
    ]).servers?.rows;
    expect(rows?.map(({ name }) => name)).toEqual(['new', 'broken', 'busy', 'also', 'zero']);
    expect(PAGES.degraded.servers?.summary).toBe('2 usable of 7');
  });

  it('show restarts, and the next try as it comes nearer', () => {
    const tickets = (age: number) =>
      dashboardState(sources({ now: NOW + age })).servers?.rows.find(({ name }) => name === 'tickets');
    expect(tickets(0)).toMatchObject({ restarts: '22', state: 'failed, next try in 24 s', calls: '9 / 9' });
    expect(tickets(20_000)?.state).toBe('failed, next try in 4 s');
    expect(tickets(30_000)?.state).toBe('failed');
  });

  it('have the actions of their state', () => {
    const actions = (one: ServerStatus) =>
      stateOf([{ ...one, supervised: BUSY.servers[0]?.supervised } as ServerStatus]).servers?.rows[0]?.buttons.map(
        ({ action }) => action,
      );
    const location = { file: '/f', line: 1, column: 1 };
    expect(actions(server('a', { location }))).toEqual(['restartServer', 'serverLog', 'switchOff']);
    expect(actions(server('a', { state: 'not_started' }))).toEqual(['startServer', 'serverLog']);
    expect(actions(server('a', { state: 'needs_sign_in', signedIn: false }))).toEqual([
      'restartServer',
      'serverLog',
      'signIn',
    ]);
    expect(actions(server('a', { signedIn: true }))).toEqual(['restartServer', 'serverLog', 'signOut']);
    expect(actions(server('a', { state: 'disabled', location }))).toEqual(['serverLog', 'switchOn']);
    expect(actions(server('a', { state: 'needs_approval' }))).toEqual(['serverLog']);
  });

  it('list in their details the reason, the last fault, what was mended and what was left out', () => {
    const details = (name: string) =>
      Object.fromEntries(
        (PAGES.degraded.servers?.rows.find((row) => row.name === name)?.details ?? []).map(({ term, text }) => [
          term,
          text,
        ]),
      );
    expect(details('tickets')).toMatchObject({
      Reason: expect.stringContaining('was not found'),
      'Last fault': 'process/exited: exit code 127',
      'In a row': '4 failed starts',
      'Configured in': '/home/ada/project/.vscode/waygate.json, line 21',
    });
    expect(details('everything')).toMatchObject({
      Mended: expect.stringContaining('lines on stdout'),
      'Left out': 'odd tool!: Its input schema is not an object.',
    });
  });

  it('name the revision of MCP that a server speaks, and since when it is known', () => {
    const protocol = { era: 'modern', version: '2026-07-28', at: Date.now() - 5 * 60_000 } as const;
    const row = stateOf([server('a', { protocol })]).servers?.rows[0];
    expect(row?.details).toContainEqual({
      term: 'Protocol',
      text: expect.stringMatching(/^MCP 2026-07-28, found .+ ago$/),
    });
  });

  it('keep text of servers on one line that hides nothing', () => {
    const row = stateOf([server('a\nb', { reason: 'x\u202ey\nz' })]).servers?.rows[0];
    expect(row?.name).toBe('a b');
    expect(row?.details[0]?.text).toBe('x\\u202ey z');
  });
});

describe('tools of the dashboard', () => {
  it('are the twenty with most calls', () => {
    const rows = dashboardState(sources({ telemetry: telemetry(30) })).tools;
    expect(rows).toHaveLength(20);
    expect(rows?.[0]).toEqual({
      toolId: 'filesystem:read_text_file#00000000',
      namespace: 'filesystem',
      name: 'read_text_file',
      calls: 400,
      errors: 0,
      p95Ms: 18.2,
      tokensSaved: 1_820,
    });
  });
});

describe('words of the dashboard', () => {
  it.each([
    [-3_000, 'just now'],
    [Number.NaN, 'just now'],
    [25_000, '20 s ago'],
    [95_000, '1 min ago'],
    [7_300_000, '2 h ago'],
    [200_000_000, '2 d ago'],
  ])('%d ms are %s', (ms, text) => {
    expect(age(ms)).toBe(text);
  });

  it('round the time until something up', () => {
    expect([0, 11_200, 119_001, 121_000].map(until)).toEqual(['1 s', '12 s', '2 min', '3 min']);
  });

  it('shorten numbers of tokens', () => {
    const numbers = [0, 999, 1_234, 9_949, 9_951, 434_210, 999_499, 999_501, 3_440_000, 12_600_000];
    expect(numbers.map(compact)).toEqual(['0', '999', '1.2k', '9.9k', '10k', '434k', '999k', '1.0M', '3.4M', '13M']);
  });

  it('take the namespace and the name from the id of a tool', () => {
    expect(toolParts('files:read:all#0123abcd')).toEqual({ namespace: 'files', name: 'read:all' });
    expect(toolParts('(others)')).toEqual({ namespace: '', name: '(others)' });
  });
});
