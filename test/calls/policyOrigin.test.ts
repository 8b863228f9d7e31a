import { describe, expect, it } from 'vitest';
import { decide, type PolicySubject } from '../../src/calls/policy/policy.ts';
import { POLICY, type PolicyRule, type ToolPolicy } from '../../src/config/declaration/policyBlock.ts';

const RUN = {
  metaTool: 'tool_execute',
  server: 'github',
  namespace: 'github',
  toolName: 'wipe',
  toolId: 'github:wipe#1',
} as const;
const own: PolicySubject = { ...RUN, origin: 'user' };
const theirs: PolicySubject = { ...RUN, origin: 'workspace' };
const actionOf = (policy: Partial<ToolPolicy>, subject: PolicySubject): string =>
  decide({ default: 'require_approval', rules: [], ...policy }, subject).action;

describe('a rule of the own file of the user', () => {
  it.each<[string, Partial<PolicyRule>]>([
    ['the name of a server', { server: 'github' }],
    ['a namespace', { namespace: 'github' }],
    ['a tool', { tool: 'wipe' }],
    ['a tool id', { tool: 'github:*' }],
    ['everything', {}],
  ])('that allows by %s allows no call of a server of a workspace, unless it says so', (_, rule) => {
    const allow = { action: 'allow', ...rule } as const;
    expect([own, theirs].map((subject) => actionOf({ rules: [allow] }, subject))).toEqual([
      'allow',
      'require_approval',
    ]);
    const both = [allow, { ...allow, origin: 'workspace' } as const];
    expect([own, theirs].map((subject) => actionOf({ rules: both }, subject))).toEqual(['allow', 'allow']);
  });

  it('that forbids or asks holds for every server, and a later rule only adds to it', () => {
    const deny = { action: 'deny', server: 'github' } as const;
    const ask = { action: 'require_approval', server: 'github' } as const;
    const allow = { action: 'allow', by: 'workspace' } as const;
    expect(actionOf({ rules: [deny, allow], default: 'allow' }, theirs)).toBe('deny');
    expect(actionOf({ rules: [ask, allow], default: 'allow' }, theirs)).toBe('require_approval');
    expect(actionOf({ rules: [ask], default: 'allow' }, theirs)).toBe('require_approval');
    expect(actionOf({ rules: [ask], default: 'deny' }, theirs)).toBe('deny');
    // The question is for the own server of this name.
    expect(actionOf({ rules: [ask, { action: 'deny', tool: 'wipe' }] }, theirs)).toBe('deny');
    expect(actionOf({ rules: [ask, { action: 'deny', tool: 'wipe' }] }, own)).toBe('require_approval');
  });

  it('can name one origin', () => {
    const policy = { default: 'allow', rules: [{ action: 'deny', origin: 'workspace' }] } as const;
    expect([own, theirs].map((subject) => actionOf(policy, subject))).toEqual(['allow', 'deny']);
  });
});

it('rules of a workspace are marked as its own', () => {
  const value: ToolPolicy = { default: 'allow', rules: [{ action: 'allow', server: 'github' }] };
  const block = { value, keys: new Set(['rules']) };
  const scope = { userServers: ['github'], ignored: () => undefined };
  const merged = POLICY.combine?.({ ...block, value: { ...value, rules: [] } }, block, scope) as ToolPolicy;
  expect(actionOf(merged, theirs)).toBe('allow');
});

describe('a rule that forbids', () => {
  const names = ['wipe', 'Wipe', 'wіpe', 'wi\u200bpe', 'WIPE ', 'w1pe'];

  it('holds for other spellings of the name', () => {
    const deny = { default: 'allow', rules: [{ action: 'deny', tool: 'wipe' }] } as const;
    for (const toolName of names) expect(actionOf(deny, { ...own, toolName, toolId: 'x' }), toolName).toBe('deny');
    const server = { default: 'allow', rules: [{ action: 'deny', server: 'wipe' }] } as const;
    for (const name of names) expect(actionOf(server, { ...own, server: name }), name).toBe('deny');
  });

  it('and one that asks holds for other spellings too, without softening a later rule', () => {
    const ask = { action: 'require_approval', tool: 'wipe' } as const;
    const of = (rules: PolicyRule[], toolName: string): string =>
      actionOf({ default: 'allow', rules }, { ...own, toolName, toolId: 'x' });
    for (const name of names) expect(of([ask], name), name).toBe('require_approval');
    expect(of([ask, { action: 'deny', tool: 'Wipe' }], 'Wipe')).toBe('deny');
    expect(of([ask, { action: 'allow', tool: 'Wipe' }], 'Wipe')).toBe('require_approval');
    const server = { default: 'allow', rules: [{ action: 'require_approval', server: 'wipe' }] } as const;
    for (const name of names) expect(actionOf(server, { ...own, server: name }), name).toBe('require_approval');
  });

  it('is exact where it allows', () => {
    const allow = { default: 'deny', rules: [{ action: 'allow', tool: 'wipe' }] } as const;
    expect(names.map((toolName) => actionOf(allow, { ...own, toolName, toolId: 'x' }))).toEqual([
      'allow',
      ...Array(5).fill('deny'),
    ]);
  });
});
