import { describe, expect, it } from 'vitest';
import type { GatewaySnapshot, ServerStatus, TreeNode } from '../../src/control/contract.ts';
import type { Fault } from '../../src/errors/fault.ts';
import { type GatewayView, summarize } from '../../src/extension/status/health.ts';
import { serverTooltip } from '../../src/extension/tree/serverRow.ts';
import {
  attachedKey,
  heldElements,
  parentPath,
  rootElements,
  rootKey,
  type ToolElement,
  toolRow,
  tooltipOf,
  treeBadge,
  treeMessage,
} from '../../src/extension/tree/toolRows.ts';
import { attached, node, server, snapshot, supervised } from './fixtures.ts';

const row = (element: ToolElement) => toolRow(element);
const asNode = (path: string, over: Parameters<typeof node>[1] = {}): ToolElement => ({
  kind: 'node',
  node: node(path, over),
});
const root = (nodes: readonly TreeNode[], servers: readonly ServerStatus[]) =>
  rootElements(nodes, { attachment: 1, snapshot: snapshot({ servers }) });
const LOCATION = { file: '/work/project/.vscode/waygate.json', line: 7, column: 5 };
const FAILED = server('tickets', { state: 'failed', reason: 'spawn tickets ENOENT', location: LOCATION });
const SECRET = { key: 'k', name: 'input:key', description: 'The key\nof it', password: true, options: [] };
const WAITING = server('vault', { state: 'needs_secret', secret: SECRET });
const view = (over: Partial<GatewaySnapshot> = {}, attachment = 1): GatewayView => ({
  link: attached(over, attachment),
  policy: undefined,
});

describe('row', () => {
  it('of a namespace counts its tools and can be expanded', () => {
    expect(row(asNode('/files', { toolCount: 14 }))).toEqual({
      id: '/files',
      label: 'files',
      description: '14 tools',
      icon: { id: 'symbol-namespace' },
      expandable: true,
      contextValue: 'waygate.namespace',
      accessibilityLabel: 'files, namespace, 14 tools',
    });
    expect(row(asNode('/files/read', { kind: 'cluster', toolCount: 1 }))).toMatchObject({
      description: '1 tool',
      icon: { id: 'symbol-folder' },
      contextValue: 'waygate.cluster',
    });
  });

  it('of a tool keeps the label of the graph and shows the server’s safety hints', () => {
    const tool = { kind: 'tool', label: 'read_file', description: 'Reads a file.\nAll of it.' } as const;
    expect(row(asNode('/files/read_file', { ...tool, safety: 'read_only' }))).toEqual({
      id: '/files/read_file',
      label: 'read_file',
      description: 'Reads a file. All of it.',
      icon: { id: 'eye' },
      expandable: false,
      contextValue: 'waygate.tool',
      accessibilityLabel: 'read_file, tool, declared read-only, Reads a file. All of it.',
    });
    expect(row(asNode('/files/x', { ...tool, safety: 'destructive' })).icon.id).toBe('flame');
    expect(row(asNode('/files/x', tool)).icon.id).toBe('tools');
  });

  it('of a server with tools counts them and can be expanded', () => {
    const files = server('files', { toolCount: 14 });
    expect(row({ kind: 'server', server: files, node: node('/files', { toolCount: 14 }) })).toEqual({
      id: 'server:files',
      label: 'files',
      description: '14 tools',
      icon: { id: 'server' },
      expandable: true,
      contextValue: 'waygate.server.ready.tools',
      accessibilityLabel: 'files, server, 14 tools',
    });
  });

  it('of a failed server shows the reason and links to its place in the configuration', () => {
    expect(row({ kind: 'server', server: FAILED })).toEqual({
      id: 'server:tickets',
      label: 'tickets',
      description: 'failed: spawn tickets ENOENT',
      icon: { id: 'error', color: 'list.errorForeground' },
      expandable: false,
      contextValue: 'waygate.server.failed',
      accessibilityLabel: 'tickets, server, failed: spawn tickets ENOENT',
      location: LOCATION,
    });
  });

  it('of a server in a crash loop shows its restarts and when the next start follows', () => {
    const nextTryAt = new Date(2026, 10, 20, 12, 4, 31).getTime();
    const crashing = { ...FAILED, nextTryAt, supervised: supervised({ restart_count: 22 }) };
    expect(row({ kind: 'server', server: crashing }).description).toBe(
      'failed · 22 restarts · next try at 12:04:31: spawn tickets ENOENT',
    );
    const back = server('tickets', { supervised: supervised({ restart_count: 2 }) });
    expect(row({ kind: 'server', server: back }).description).toBe('3 tools · 2 restarts');
  });

  it('of a server that is being listed again turns', () => {
    expect(row({ kind: 'server', server: server('files'), isBusy: true }).icon).toEqual({ id: 'loading~spin' });
  });

  it('of a server offers the sign-out only where tokens of a sign-in are kept', () => {
    const context = (over: Parameters<typeof server>[1]) =>
      row({ kind: 'server', server: server('one', over) }).contextValue;
    expect(context({ kind: 'http', signedIn: true })).toBe('waygate.server.ready.signedIn');
    expect(context({ kind: 'http', signedIn: false })).toBe('waygate.server.ready');
    expect(context({ kind: 'stdio' })).toBe('waygate.server.ready');
  });

  it('of a server that waits for the user has only a short text beside its button', () => {
    const reason = 'It needs something. Give it: waygate give one.';
    const described = (over: Parameters<typeof server>[1]) =>
      row({ kind: 'server', server: server('one', { reason, ...over }) }).description;
    expect(described({ state: 'needs_approval' })).toBe('needs approval');
    expect(described({ state: 'needs_sign_in' })).toBe('needs sign-in');
    expect(described({ state: 'needs_secret', secret: SECRET })).toBe('needs a secret: The key of it');
    expect(described({ state: 'needs_secret', secret: { ...SECRET, description: '' } })).toBe(
      'needs a secret: input:key',
    );
  });

  it('of a server lists the server’s misbehaviour in the tooltip', () => {
    const oddities = ['a', 'b', 'c', 'd'].map((kind, i) => ({ kind, count: 9 - i, words: `${kind}s` }));
    const tooltip = tooltipOf({ kind: 'server', server: { ...FAILED, oddities } });
    expect(tooltip.at(-1)).toEqual({ style: 'text', text: 'Odd: as (9), bs (8), cs (7), and 1 more.' });
  });

  it('of a server names its revision of MCP in the tooltip', () => {
    const protocol = { era: 'modern', version: '2026-07-28', at: 1_000 } as const;
    const tooltip = tooltipOf({ kind: 'server', server: server('one', { protocol }) });
    expect(tooltip).toContainEqual({ style: 'text', text: 'Speaks MCP 2026-07-28.' });
    expect(JSON.stringify(tooltipOf({ kind: 'server', server: server('one') }))).not.toContain('MCP');
  });

  it('cannot be disguised by a server’s text', () => {
    const description = 'safe\u202e\u0007 tool\n\n'.repeat(40);
    const shown = row(asNode('/files/x', { kind: 'tool', description })).description;
    expect(shown).toMatch(/^safe\\u202e tool safe/);
    expect([...shown].length).toBeLessThanOrEqual(80);
    expect(shown.endsWith('…')).toBe(true);
  });
});

describe('held items', () => {
  const item = (name: string, why: string, part = 'tools') => ({ toolId: '', part, name, why });
  const held = [
    item('send', 'changed'),
    item('read', 'new'),
    item('list', 'changed'),
    item('', 'blocked', 'instructions'),
  ];
  const quarantined = held.map((one) => ({ ...one, why: 'quarantined' }));

  it('are counted by state in words and a sign at their server', () => {
    const [one] = root([node('/files')], [server('files', { held })]);
    expect(row(one as ToolElement)).toMatchObject({
      label: 'files',
      description: '2 tools, 2 changed, 1 new, 1 blocked',
      icon: { id: 'warning' },
      contextValue: 'waygate.server.ready.tools.held',
      accessibilityLabel: 'files, server, 2 tools, 2 changed, 1 new, 1 blocked',
    });
    const alone = root([], [server('files', { held: quarantined, toolCount: 0 })]);
    expect(alone.map(row)).toMatchObject([
      {
        description: 'quarantined',
        icon: { id: 'lock' },
        contextValue: 'waygate.server.ready.quarantined',
        expandable: true,
      },
    ]);
  });

  it('are named at their server where they are offered before the review, which its menu opens', () => {
    const [one] = root([node('/files')], [server('files', { drifted: 2 })]);
    expect(row(one as ToolElement)).toMatchObject({
      description: '2 tools, 2 unreviewed',
      icon: { id: 'server' },
      contextValue: 'waygate.server.ready.tools.held',
    });
    const words = tooltipOf(one as ToolElement).map(({ text }) => text);
    expect(words).toContain(
      'Offers 2 items that are new or have changed since your approval. "Review Changes" compares them.',
    );
    const keys = [1, 2].map((drifted) => rootKey(view({ servers: [server('files', { drifted })] })));
    expect(new Set(keys).size).toBe(2);
  });

  it('stand under their server with their state, and a server’s text cannot disguise them', () => {
    const [one] = root([node('/files')], [server('files', { held })]);
    const rows = heldElements(one as ToolElement).map(row);
    expect(rows.map(({ label }) => label)).toEqual([
      'changed: send',
      'new: read',
      'changed: list',
      'blocked: instructions',
    ]);
    expect(rows.map(({ contextValue }) => contextValue)).toEqual([
      'waygate.held',
      'waygate.held',
      'waygate.held',
      'waygate.held.blocked',
    ]);
    const twice = server('files', { held: [item('a\u202e\nb', 'new'), item('a\u202e\nb', 'new')] });
    const [first, second] = heldElements({ kind: 'server', server: twice }).map(row);
    expect(first?.label).toBe('new: a\\u202e b');
    expect(first?.id).not.toBe(second?.id);
    expect(heldElements(asNode('/files'))).toEqual([]);
  });

  it('redraw the tree when they change, and need the user unless all are blocked', () => {
    const keys = [undefined, held, held.slice(1), quarantined].map((some) =>
      rootKey(view({ servers: [server('files', some && { held: some })] })),
    );
    expect(new Set(keys).size).toBe(4);
    expect(treeBadge([view({ servers: [server('files', { held })] })])?.value).toBe(1);
    expect(treeBadge([view({ servers: [server('files', { held: held.slice(3) })] })])).toBeUndefined();
    const problems = (some: typeof held) => summarize(view({ servers: [server('files', { held: some })] })).problems;
    expect(problems(held)).toEqual(['files waits for your review: 2 changed, 1 new, 1 blocked.']);
    expect(problems(quarantined)).toEqual(['files is in quarantine: no model sees its tools.']);
  });
});

describe('tooltip', () => {
  it('of a tool contains its id, its description and the server’s safety hints', () => {
    const tool = node('/files/read', {
      kind: 'tool',
      toolId: 'files:read#12345678',
      description: '[x](command:y)',
      safety: 'read_only',
    });
    expect(tooltipOf({ kind: 'node', node: tool })).toEqual([
      { style: 'title', text: 'read' },
      { style: 'code', text: 'files:read#12345678' },
      { style: 'text', text: '[x](command:y)' },
      { style: 'text', text: 'Its server declares it read-only.' },
    ]);
  });

  it('of a namespace contains its path and its hint', () => {
    expect(tooltipOf(asNode('/files', { hint: 'Reads and writes files.' }))).toEqual([
      { style: 'title', text: 'files' },
      { style: 'code', text: '/files' },
      { style: 'text', text: 'Reads and writes files.' },
    ]);
  });

  it('of a server contains the end of its stderr', () => {
    const stderr = Array.from({ length: 10 }, (_, index) => `line ${index}`);
    expect(tooltipOf({ kind: 'server', server: { ...FAILED, since: 0, stderr } })).toEqual([
      { style: 'title', text: 'tickets: failed' },
      { style: 'text', text: 'spawn tickets ENOENT.' },
      { style: 'text', text: 'Configured in /work/project/.vscode/waygate.json, line 7.' },
      { style: 'code', text: stderr.slice(2).join('\n') },
    ]);
  });

  it('of a server says since when it is in its state, its last fault, its use, its version and its place', () => {
    const at = (day: number, ...time: [number, number, number]) => new Date(2026, 10, day, ...time).getTime();
    const fault = { code: 'exited', detail: 'exit code 3' } as Fault;
    const described = (over: Partial<ServerStatus>, now = at(20, 13, 0, 0)) =>
      serverTooltip({ kind: 'server', server: server('one', { since: at(20, 12, 4, 31), ...over }) }, now).map(
        ({ text }) => text,
      );
    const status = {
      supervised: supervised({ restart_count: 2, last_fault: fault }),
      calls: 3,
      errors: 1,
      p95Ms: 12,
      lastUsedAt: at(20, 12, 50, 2),
      implementation: 'files-server 1.2.0',
      location: LOCATION,
    };
    expect(described(status)).toEqual([
      'one: ready · 2 restarts',
      'In this state since 12:04:31.',
      'Last fault: exit code 3.',
      '3 calls, 1 error, 95 % within 12 ms, last used at 12:50:02.',
      'Calls itself files-server 1.2.0.',
      'Configured in /work/project/.vscode/waygate.json, line 7.',
    ]);
    expect(described({}, at(21, 0, 0, 1))).toEqual(['one: ready', 'In this state since 2026-11-20 12:04:31.']);
    // The reason of a failed server is its last fault.
    const failed = described({ state: 'failed', reason: 'It ended: exit code 3', supervised: status.supervised });
    expect(failed.filter((text) => text.includes('exit code 3'))).toHaveLength(1);
  });
});

describe('root', () => {
  it('has one row per server, in the order of the names, whatever the states are', () => {
    const servers = [
      server('ready', { toolCount: 0 }),
      server('slow', { state: 'starting', toolCount: 0 }),
      server('again', { state: 'starting' }),
      { ...FAILED, toolCount: 4 },
      server('off', { state: 'disabled', toolCount: 0 }),
      server('Mail', { state: 'needs_sign_in', toolCount: 0 }),
    ];
    // The nodes may be newer than the states: a starting server has its tools already.
    const nodes = ['tickets', 'slow', 'again'].map((name) => node(`/${name}`, { server: name, toolCount: 4 }));
    expect(root(nodes, servers).map((element) => [row(element).label, row(element).description])).toEqual([
      ['again', '4 tools'],
      ['Mail', 'needs sign-in'],
      ['off', 'off'],
      ['ready', '0 tools'],
      ['slow', 'starting'],
      ['tickets', 'failed: spawn tickets ENOENT'],
    ]);
    expect(root(nodes, servers).filter((element) => row(element).expandable)).toHaveLength(3);
  });

  it('is redrawn for a new revision, worker, state or reason, and for nothing else', () => {
    const before = rootKey(view());
    const calls = snapshot({ recentCalls: [], sessions: [] });
    expect(rootKey(view({ ...calls, health: 'degraded' }))).toBe(before);
    expect(rootKey(view({ servers: [server('again', { state: 'starting' })] }))).toBe(
      rootKey(view({ servers: [server('again')] })),
    );
    const waiting = [server('slow', { state: 'starting', toolCount: 0 })];
    expect(rootKey(view({ servers: waiting }))).not.toBe(rootKey(view({ servers: [server('slow')] })));
    const refreshing = { ...view(), refreshing: new Set(['files']) };
    const changed = [
      refreshing,
      view({ catalog: { ...snapshot().catalog, revision: 2 } }),
      view({}, 2),
      view({ servers: [FAILED] }),
      view({ servers: [{ ...FAILED, reason: 'other' }] }),
      view({ servers: [WAITING] }),
      view({ servers: [{ ...WAITING, secret: { ...SECRET, key: 'another' } }] }),
    ].map(rootKey);
    expect(new Set([before, ...changed]).size).toBe(8);
  });

  it('is not redrawn if it was drawn from the current state', () => {
    const drawn = { attachment: 3, snapshot: snapshot({ servers: [FAILED] }) };
    const now = rootKey(view({ servers: [FAILED] }, 3));
    expect(attachedKey(drawn, 1)).toBe(now);
    expect(attachedKey(drawn, 0)).not.toBe(now);
  });

  it('stays unchanged while a worker is replaced', () => {
    expect(rootKey({ link: { kind: 'waiting', attempt: 2, reason: 'x', delayMs: 1 }, policy: undefined })).toBe('');
    expect(rootKey({ link: { kind: 'attaching' }, policy: undefined })).toBe('');
  });
});

describe('line above the rows', () => {
  it('is absent if everything is well or the welcome text applies', () => {
    expect(treeMessage(view(), true)).toBeUndefined();
    const policy = { setting: 'chat.mcp.access', message: 'Off.' } as const;
    expect(treeMessage({ link: { kind: 'off', reason: 'no_configuration' }, policy }, false)).toBeUndefined();
  });

  it('warns of servers that VS Code also starts itself, while nothing worse is to say', () => {
    const direct = ['a', 'b\u202e', 'c', 'd'];
    expect(treeMessage({ ...view(), direct }, true)).toBe(
      '⚠ VS Code also starts a, b\\u202e, c and 1 more itself. Run "Import Servers" to remove those entries.',
    );
    expect(
      treeMessage({ link: { kind: 'off', reason: 'untrusted' }, policy: undefined, direct }, true),
    ).toBeUndefined();
  });

  it('reports what came of a refresh, beside the warning', () => {
    const news = 'erp: 3 tools added, 1 changed.';
    expect(treeMessage({ ...view(), news }, true)).toBe(news);
    expect(treeMessage({ ...view(), news, direct: ['a'] }, true)).toMatch(
      /^erp: 3 tools .* VS Code also starts a itself/,
    );
  });

  it('names a policy that hides Waygate before anything else', () => {
    const policy = { setting: 'chat.mcp.access', message: 'The setting chat.mcp.access …' } as const;
    expect(treeMessage({ ...view(), policy }, true)).toBe(policy.message);
  });

  it.each<[string, GatewayView, string]>([
    ['a start', { link: { kind: 'attaching' }, policy: undefined }, 'The gateway is starting…'],
    [
      'a loss',
      { link: { kind: 'waiting', attempt: 2, reason: 'No space left on the disk', delayMs: 1 }, policy: undefined },
      'The gateway is not running; Waygate retries automatically. No space left on the disk.',
    ],
    [
      'a wrong configuration',
      view({
        configuration: {
          ...snapshot().configuration,
          problems: [{ severity: 'error', code: 'wrong_value', message: 'A comma is missing', location: LOCATION }],
        },
      }),
      'The configuration has an error in line 7: A comma is missing.',
    ],
    ['an empty configuration', view({ servers: [] }), 'The configuration names no servers yet.'],
  ])('describes %s', (_, state, expected) => {
    expect(treeMessage(state, false)).toBe(expected);
  });
});

describe('line above visible rows', () => {
  it('does not move the rows for passing states', () => {
    const passing: GatewayView['link'][] = [
      { kind: 'attaching' },
      { kind: 'stopping' },
      { kind: 'waiting', attempt: 1, reason: 'The gateway has ended.', delayMs: 100 },
    ];
    for (const link of passing) expect(treeMessage({ link, policy: undefined }, true)).toBeUndefined();
    for (const link of passing) expect(treeMessage({ link, policy: undefined }, false)).toMatch(/^The gateway is/);
  });
});

describe('badge', () => {
  it('counts the servers that need the user', () => {
    expect(treeBadge([view()])).toBeUndefined();
    expect(treeBadge([view({ servers: [FAILED, server('slow', { state: 'starting' })] })])).toEqual({
      value: 1,
      tooltip: '1 server needs you',
    });
    expect(treeBadge([view({ servers: [FAILED, FAILED] })])?.tooltip).toBe('2 servers need you');
    expect(treeBadge([{ ...view(), questions: ['drop of erp'] }])).toEqual({
      value: 1,
      tooltip: '1 question needs you',
    });
    expect(
      treeBadge([
        { ...view({ servers: [FAILED] }), questions: ['a'] },
        { ...view(), questions: ['b'] },
      ]),
    ).toEqual({
      value: 3,
      tooltip: '2 questions and 1 server need you',
    });
  });
});

describe('parentPath', () => {
  it('goes up one segment and ends at the root', () => {
    expect(parentPath('/files/read/one')).toBe('/files/read');
    expect(parentPath('/files')).toBeUndefined();
    expect(parentPath('/')).toBeUndefined();
  });
});
