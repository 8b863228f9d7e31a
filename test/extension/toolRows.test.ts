import { describe, expect, it } from 'vitest';
import type { GatewaySnapshot } from '../../src/control/contract.ts';
import { type GatewayView, summarize } from '../../src/extension/status/health.ts';
import { attachedKey, rootElements } from '../../src/extension/tree/serverRows.ts';
import {
  heldElements,
  parentPath,
  rootKey,
  type ToolElement,
  toolRow,
  tooltipOf,
  treeBadge,
  treeMessage,
} from '../../src/extension/tree/toolRows.ts';
import { attached, node, server, snapshot } from './fixtures.ts';

const row = (element: ToolElement) => toolRow(element);
const asNode = (path: string, over: Parameters<typeof node>[1] = {}): ToolElement => ({
  kind: 'node',
  node: node(path, over),
});
const LOCATION = { file: '/work/project/.vscode/waygate.json', line: 7, column: 5 };
const FAILED = server('tickets', { state: 'failed', reason: 'spawn tickets ENOENT', location: LOCATION });
const SECRET = { key: 'k', name: 'input:key', description: 'The key\nof it', password: true, options: [] };
const WAITING = server('vault', { state: 'needs_secret', secret: SECRET });
const view = (over: Partial<GatewaySnapshot> = {}, attachment = 1): GatewayView => ({
  link: attached(over, attachment),
  policy: undefined,
});

describe('row', () => {
  it('of a server that is well counts its tools and their cost, and can be expanded', () => {
    const files = server('files', { toolCount: 400, definitionTokens: 47_699 });
    const element: ToolElement = { kind: 'server', server: files, node: node('/files', { toolCount: 400 }) };
    expect(row(element)).toEqual({
      id: 'server:files',
      label: 'files',
      description: '400 tools · 47.7k tokens',
      icon: { id: 'pass', color: 'testing.iconPassed' },
      expandable: true,
      contextValue: 'waygate.server.ready',
      accessibilityLabel: 'files, server, ready, 400 tools · 47.7k tokens',
    });
    const asleep = row({ ...element, server: { ...files, state: 'not_started', signedIn: true } });
    expect(asleep).toMatchObject({ icon: { id: 'circle-large-outline' }, description: '400 tools · 47.7k tokens' });
    expect(asleep.contextValue).toBe('waygate.server.not_started.signedIn');
  });

  it('of a server that the user lists again turns', () => {
    const rows = rootElements([], [server('files'), server('memory')], new Set(['memory'])).map(row);
    expect(rows.map(({ icon }) => icon.id)).toEqual(['pass', 'loading~spin']);
  });

  it('of a crashing server counts its restarts', () => {
    const supervised = { restart_count: 22 } as NonNullable<GatewaySnapshot['servers'][number]['supervised']>;
    expect(row({ kind: 'server', server: { ...FAILED, supervised } }).description).toBe(
      'failed · 22 restarts: spawn tickets ENOENT',
    );
  });

  it('of a folder of tools counts them', () => {
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

  it('of a failed server shows the reason and links to its place in the configuration', () => {
    expect(row({ kind: 'server', server: FAILED })).toEqual({
      id: 'server:tickets',
      label: 'tickets',
      description: 'failed: spawn tickets ENOENT',
      icon: { id: 'error', color: 'list.errorForeground' },
      expandable: false,
      contextValue: 'waygate.server.failed',
      accessibilityLabel: 'tickets, server, failed, failed: spawn tickets ENOENT',
      location: LOCATION,
    });
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

  it('are counted by state in words and a sign at their namespace, or at the server without one', () => {
    const [namespace] = rootElements([node('/files')], [server('files', { held })]);
    expect(row(namespace as ToolElement)).toMatchObject({
      label: 'files',
      description: '3 tools, 2 changed, 1 new, 1 blocked',
      icon: { id: 'warning' },
      contextValue: 'waygate.server.ready.held',
      accessibilityLabel: 'files, server, ready, 3 tools, 2 changed, 1 new, 1 blocked',
    });
    const alone = rootElements([], [server('files', { held: quarantined, toolCount: 0 })]);
    expect(alone.map(row)).toMatchObject([
      {
        description: 'ready, quarantined',
        icon: { id: 'lock' },
        contextValue: 'waygate.server.ready.quarantined',
        expandable: true,
      },
    ]);
  });

  it('stand under their server with their state, and a server’s text cannot disguise them', () => {
    const [namespace] = rootElements([node('/files')], [server('files', { held })]);
    const rows = heldElements(namespace).map(row);
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
    expect(tooltipOf({ kind: 'server', server: { ...FAILED, stderr, since: 0 } })).toEqual([
      { style: 'title', text: 'tickets: failed' },
      { style: 'text', text: 'spawn tickets ENOENT.' },
      { style: 'code', text: stderr.slice(2).join('\n') },
    ]);
  });
});

describe('root', () => {
  it('has one row for each server, ordered by name whatever the state', () => {
    const states = ['ready', 'starting', 'not_started', 'failed', 'needs_sign_in', 'stopped'] as const;
    const orders = states.map((state) => {
      const servers = [
        server('ten10', { state, toolCount: 0 }),
        server('ten9', { state: 'starting' }),
        FAILED,
        server('off', { state: 'disabled' }),
        server('Mail', { state }),
      ];
      const nodes = [node('/ten9', { server: 'ten9' }), node('/mail', { server: 'Mail' })];
      return rootElements(nodes, servers).map((element) => row(element).id);
    });
    for (const ids of orders) expect(ids).toEqual(['server:Mail', 'server:ten9', 'server:ten10', 'server:tickets']);
  });

  it('keeps the tools of a server that has just left the configuration', () => {
    expect(rootElements([node('/gone', { server: 'gone' })], [])).toEqual([asNode('/gone', { server: 'gone' })]);
  });

  it('is redrawn for a new revision, worker, state or reason, and for nothing else', () => {
    const before = rootKey(view());
    const calls = snapshot({ recentCalls: [], sessions: [] });
    expect(rootKey(view({ ...calls, health: 'degraded' }))).toBe(before);
    const used = { calls: 3, errors: 1, lastUsedAt: 9, since: 8, pid: 7 };
    expect(rootKey(view({ servers: snapshot().servers.map((one) => ({ ...one, ...used })) }))).toBe(before);
    const waiting = [server('slow', { state: 'starting', toolCount: 0 })];
    expect(rootKey(view({ servers: waiting }))).not.toBe(rootKey(view({ servers: [server('slow')] })));
    const changed = [
      view({ catalog: { ...snapshot().catalog, revision: 2 } }),
      view({}, 2),
      view({ servers: [FAILED] }),
      view({ servers: [{ ...FAILED, reason: 'other' }] }),
      view({ servers: [WAITING] }),
      view({ servers: [{ ...WAITING, secret: { ...SECRET, key: 'another' } }] }),
    ].map(rootKey);
    expect(new Set([before, ...changed]).size).toBe(7);
  });

  it('is not redrawn if it was drawn from the current state', () => {
    const { catalog, servers } = snapshot({ servers: [FAILED] });
    const now = rootKey(view({ servers }, 3));
    expect(attachedKey(3, catalog.revision, servers)).toBe(now);
    expect(attachedKey(3, catalog.revision - 1, servers)).not.toBe(now);
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
  });
});

describe('parentPath', () => {
  it('goes up one segment and ends at the root', () => {
    expect(parentPath('/files/read/one')).toBe('/files/read');
    expect(parentPath('/files')).toBeUndefined();
    expect(parentPath('/')).toBeUndefined();
  });
});
