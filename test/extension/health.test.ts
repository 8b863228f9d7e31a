import { describe, expect, it } from 'vitest';
import { type AgentSettings, type PolicyBlock, policyBlock } from '../../src/extension/configuration/policy.ts';
import { COMMANDS } from '../../src/extension/contributions.ts';
import type { LinkState } from '../../src/extension/gateway/gatewayLink.ts';
import { type GatewayView, summarize } from '../../src/extension/status/health.ts';
import { type StatusBarModel, statusBarModel } from '../../src/extension/status/statusBarModel.ts';
import { attached, server, snapshot } from './fixtures.ts';

const OPEN: AgentSettings = { 'chat.mcp.access': 'all', 'chat.mcp.enabled': undefined, 'chat.agent.enabled': true };
const view = (link: LinkState, policy?: PolicyBlock): GatewayView => ({ link, policy });
const modelOf = (only: GatewayView): StatusBarModel =>
  statusBarModel([{ name: 'waygate', title: 'project', view: only }]);
const FAILED = server('tickets', { state: 'failed', toolCount: 0, reason: 'The command "x" was not found' });
const SIGN_IN = server('mail', { state: 'needs_sign_in', toolCount: 0 });
const DEGRADED = attached({ health: 'degraded', servers: [server('files'), FAILED, SIGN_IN] });

describe('policyBlock', () => {
  it('returns nothing if the editor lets extensions provide MCP servers', () => {
    expect(policyBlock(OPEN)).toBeUndefined();
    expect(policyBlock(OPEN, false)?.message).toMatch(/accepts no MCP servers from extensions/);
    expect(
      policyBlock({ 'chat.mcp.access': undefined, 'chat.mcp.enabled': true, 'chat.agent.enabled': undefined }),
    ).toBe(undefined);
  });

  it.each<[Partial<AgentSettings>, string]>([
    [{ 'chat.mcp.access': 'none' }, 'chat.mcp.access'],
    [{ 'chat.mcp.access': 'registry' }, 'chat.mcp.access'],
    [{ 'chat.mcp.enabled': false }, 'chat.mcp.enabled'],
    [{ 'chat.agent.enabled': false }, 'chat.agent.enabled'],
  ])('names the setting when %j hides Waygate', (over, setting) => {
    const block = policyBlock({ ...OPEN, ...over });
    expect(block?.setting).toBe(setting);
    expect(block?.message).toContain(setting);
  });
});

describe('summarize', () => {
  it.each<[string, LinkState, string, string]>([
    ['no folder', { kind: 'off', reason: 'no_folder' }, 'off', 'Open a folder to use Waygate.'],
    ['a first attachment', { kind: 'attaching' }, 'starting', 'The gateway is starting…'],
    ['a restart', { kind: 'stopping' }, 'stopping', 'The gateway is stopping…'],
    ['a healthy gateway', attached(), 'ready', '6 tools from 2 servers.'],
    ['a bad state without a reason', attached({ health: 'degraded' }), 'degraded', '6 tools from 2 servers.'],
    ['problems', DEGRADED, 'degraded', '6 tools, 1 usable of 3 servers; 2 problems.'],
    [
      'a start',
      attached({ health: 'starting' }),
      'starting',
      'The gateway is starting: 6 tools from 2 servers so far.',
    ],
  ])('%s', (_, link, level, headline) => {
    expect(summarize(view(link))).toMatchObject({ level, headline });
  });

  it('reports each problem in one sentence, the configuration first', () => {
    const location = { file: '/work/project/.vscode/waygate.json', line: 4, column: 2 };
    const configuration = {
      ...snapshot().configuration,
      problems: [
        { severity: 'error' as const, code: 'wrong_value' as const, message: 'A comma is missing', location },
        { severity: 'warning' as const, code: 'wrong_value' as const, message: 'Not worth a word here', location },
      ],
    };
    const link = attached({
      health: 'degraded',
      configuration,
      servers: [FAILED, SIGN_IN, server('slow', { state: 'starting' })],
    });
    expect(summarize(view(link)).problems).toEqual([
      'Configuration, line 4: A comma is missing.',
      'tickets failed: The command "x" was not found.',
      'mail needs sign-in.',
    ]);
  });

  it('counts the tools of a server that starts with its first call', () => {
    const lazy = [server('files', { state: 'not_started' }), server('new', { state: 'not_started', toolCount: 0 })];
    expect(summarize(view(attached({ servers: lazy }))).headline).toBe('6 tools, 1 usable of 2 servers.');
    expect(summarize(view(attached({ servers: lazy.slice(1) }))).headline).toBe('6 tools, 0 usable of 1 server.');
  });

  it('reports why the gateway does not run', () => {
    const link: LinkState = { kind: 'waiting', attempt: 2, reason: 'spawn ENOENT', delayMs: 100 };
    expect(summarize(view(link))).toEqual({
      level: 'lost',
      headline: 'The gateway is not running; Waygate retries automatically.',
      problems: ['spawn ENOENT.'],
    });
  });

  it('shows no warning while a worker is replaced at once', () => {
    const link: LinkState = { kind: 'waiting', attempt: 1, reason: 'The gateway has ended.', delayMs: 100 };
    expect(summarize(view(link))).toEqual({
      level: 'starting',
      headline: 'The gateway is being replaced…',
      problems: [],
    });
    expect(modelOf(view(link)).warning).toBe(false);
  });

  it('puts a policy first, but not if there is nothing to show', () => {
    const policy = policyBlock({ ...OPEN, 'chat.mcp.access': 'none' });
    expect(summarize(view(DEGRADED, policy)).problems[0]).toBe(policy?.message);
    expect(summarize(view({ kind: 'off', reason: 'no_configuration' }, policy)).problems).toEqual([]);
  });
});

describe('statusBarModel', () => {
  it('shows only the name if everything is well, and the cost of the definitions in the tooltip', () => {
    const tokens = { definitions: 68_380, sent: 1_220 };
    expect(modelOf(view(attached({ catalog: { ...snapshot().catalog, tokens } })))).toEqual({
      visible: true,
      text: '$(pass) Waygate',
      warning: false,
      command: 'waygate.openDashboard',
      accessibilityLabel: 'Waygate, 6 tools from 2 servers.',
      headline: '6 tools from 2 servers.',
      context: ['Context: about 68,380 → 1,220 tokens a request (−98 %), definitions and instructions as sent.'],
      needs: [],
      links: ['waygate.refresh', 'waygate.reload', 'waygate.showLog'],
    });
  });

  it('puts a question before everything else, with a link and a click that open it', () => {
    const model = modelOf({ ...view(DEGRADED), questions: ['drop of erp'], longCalls: 1 });
    expect(model).toMatchObject({
      text: '$(question) Waygate: 1 question',
      warning: true,
      command: 'waygate.reviewQuestions',
    });
    expect(model.needs[0]).toEqual({
      text: 'drop of erp waits for you.',
      link: { label: 'Review…', command: 'waygate.reviewQuestions' },
    });
  });

  it('turns while calls run for a second or longer', () => {
    expect(modelOf({ ...view(attached()), longCalls: 2 }).text).toBe('$(sync~spin) Waygate');
    const needing = attached({ health: 'degraded', servers: [FAILED, SIGN_IN] });
    expect(modelOf({ ...view(needing), longCalls: 1 }).text).toBe('$(sync~spin) Waygate: 2 need you');
  });

  it('names the step for each server as a link to its command', () => {
    const mail = { ...SIGN_IN, remedy: { kind: 'sign_in' as const } };
    const { needs } = modelOf(view(attached({ health: 'degraded', servers: [FAILED, mail] })));
    expect(needs).toEqual([
      { text: 'tickets failed: The command "x" was not found.' },
      {
        text: 'mail needs sign-in.',
        link: { label: 'Sign In', command: 'waygate.signIn', folder: 'waygate', server: mail },
      },
    ]);
  });

  it.each<[string, LinkState, string, boolean]>([
    ['degraded', DEGRADED, '$(warning) Waygate: 2 need you', true],
    ['lost', { kind: 'waiting', attempt: 2, reason: 'x', delayMs: 1 }, '$(debug-disconnect) Waygate', true],
    ['starting', { kind: 'attaching' }, '$(loading~spin) Waygate', false],
    ['starting with tools', attached({ health: 'starting' }), '$(loading~spin) Waygate', false],
    ['stopping', { kind: 'stopping' }, '$(loading~spin) Waygate', false],
    ['not trusted', { kind: 'off', reason: 'untrusted' }, '$(shield) Waygate', false],
  ])('%s', (_, link, text, warning) => {
    expect(modelOf(view(link))).toMatchObject({ visible: true, text, warning });
  });

  it('hides the item if there is nothing to show', () => {
    for (const reason of ['checking', 'no_folder', 'no_configuration'] as const) {
      expect(modelOf(view({ kind: 'off', reason })).visible).toBe(false);
    }
  });

  it('marks a gateway that the editor hides from its agent', () => {
    const policy = policyBlock({ ...OPEN, 'chat.mcp.access': 'registry' });
    expect(modelOf(view(attached(), policy))).toMatchObject({
      text: '$(circle-slash) Waygate',
      needs: [{ text: policy?.message }],
    });
  });

  it('limits a long list of problems', () => {
    const servers = Array.from({ length: 9 }, (_, index) => server(`s${index}`, { state: 'failed' }));
    const { needs } = modelOf(view(attached({ health: 'degraded', servers })));
    expect(needs).toHaveLength(6);
    expect(needs.at(-1)).toEqual({ text: 'And 4 more: see the dashboard.' });
  });

  it('offers no restart if nothing may start', () => {
    const { links } = modelOf(view({ kind: 'off', reason: 'untrusted' }));
    expect(links).toEqual(['waygate.openConfiguration', 'waygate.showLog']);
    for (const id of links) expect(COMMANDS).toHaveProperty([id]);
  });

  it('describes all folders with a gateway by the worst', () => {
    const folder = (title: string, link: LinkState) => ({ name: title, title, view: view(link) });
    const notes = folder('notes', { kind: 'off', reason: 'no_configuration' });
    const api = folder('api', attached());
    const shop = folder('shop', DEGRADED);
    expect(statusBarModel([api, notes])).toEqual(modelOf(api.view));
    expect(statusBarModel([api, shop])).toMatchObject({
      visible: true,
      text: '$(warning) Waygate: 2 need you',
      warning: true,
      headline: expect.stringMatching(/^2 folders\. api: 6 tools from 2 servers\. shop: 6 tools/),
      needs: [
        { text: expect.stringMatching(/^shop: tickets failed/) },
        { text: expect.stringMatching(/^shop: mail needs sign-in/) },
      ],
    });
    const lost = folder('lost', { kind: 'waiting', attempt: 3, reason: 'it broke', delayMs: 500 });
    expect(statusBarModel([shop, lost, api]).text).toBe('$(debug-disconnect) Waygate');
    expect(statusBarModel([notes]).visible).toBe(false);
  });
});
