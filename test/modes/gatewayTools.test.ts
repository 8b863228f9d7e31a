import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../src/config/declaration/rateLimitsBlock.ts';
import { GatewayError } from '../../src/errors/gatewayError.ts';
import { journalCallOf } from '../../src/host/session/sessionCalls.ts';
import { failedCallEvent, runnableTool } from '../../src/modes/gateway/toolTable.ts';
import { TokenMeter } from '../../src/modes/shared/catalog/tokenMeter.ts';
import {
  DECLARED_TOOLS,
  GATEWAY_TOOL_NAMES,
  type GatewayTool,
  gatewayTool,
} from '../../src/modes/shared/gatewayTools.ts';
import { normaliseCall } from '../../src/modes/shared/normaliseCall.ts';
import { diagnosticEvent } from '../../src/telemetry/diagnosticEvent.ts';
import { fixedGateway, SHOP } from './fixedGateway.ts';

const TOOLS = DECLARED_TOOLS.map((tool): [string, GatewayTool] => [tool.definition.name, tool]);
const REJECTED = new GatewayError('ARGS_INVALID', 'no');
/** Names that policies and rate limits have too, so that more files contain them. */
const NAMED_IN_SETTINGS = ['tool_browse', 'tool_execute', 'tool_view'];

describe('the gateway tools', () => {
  it('are those that clients know', () => {
    expect([...GATEWAY_TOOL_NAMES].sort()).toEqual([
      'prompt_browse',
      'prompt_get',
      'resource_browse',
      'resource_read',
      'tool_browse',
      'tool_execute',
      'tool_hydrate',
      'tool_view',
    ]);
  });

  it('repeat everything after a loss but tool_execute', () => {
    const others = DECLARED_TOOLS.filter(({ contract }) => contract !== 'convergent');
    expect(others.map(({ definition, contract }) => [definition.name, contract])).toEqual([
      ['tool_execute', 'never_replay'],
    ]);
  });

  it('count against the limits of G7.8', () => {
    expect(Object.fromEntries(TOOLS.map(([name, { limit }]) => [name, limit]))).toEqual({
      tool_hydrate: 'none',
      tool_browse: 'tool_browse',
      tool_execute: 'tool_execute',
      tool_view: 'tool_view',
      resource_browse: 'tool_browse',
      resource_read: 'tool_view',
      prompt_browse: 'tool_browse',
      prompt_get: 'tool_view',
    });
  });
});

describe.each(TOOLS)('%s', (name, tool) => {
  it('has code of its own', () => {
    const { run, failed, ...declaration } = runnableTool(name) ?? {};
    expect(declaration).toEqual(tool);
    expect([typeof run, typeof failed]).toEqual(['function', 'function']);
  });

  it('has a mode', () => {
    expect(Object.keys(tool.modes).length).toBeGreaterThan(0);
  });

  it('names only its own arguments', () => {
    const { properties, required = [] } = tool.definition.inputSchema;
    for (const field of Object.values(tool.aliases)) expect(properties).toHaveProperty(field);
    if (tool.id !== undefined) expect(required).toContain(tool.id);
  });

  it('has a failed event that the log keeps', () => {
    const event = failedCallEvent(name, {}, REJECTED, () => undefined);
    const attributes = event.attributes(new TokenMeter());
    const written = diagnosticEvent({ ...event, attributes }, new Date(0), (text) => text);
    expect(written).toMatchObject({ success: false, attributes: { error_code: 'ARGS_INVALID' } });
  });

  it('has its contract in the host', () => {
    const mode = tool.modes.gateway === undefined ? 'transparent' : 'gateway';
    const call = { jsonrpc: '2.0' as const, method: 'tools/call', params: { name, arguments: { render: 'json' } } };
    const { contract, payload } = journalCallOf(1, call, Buffer.from(''), mode);
    expect([contract, payload.wantsData]).toEqual([tool.contract, true]);
  });

  it('takes its aliases', () => {
    const mode = tool.modes.gateway === undefined ? 'transparent' : 'gateway';
    for (const [alias, field] of Object.entries(tool.aliases)) {
      expect(normaliseCall(name, { [alias]: 'x' }, mode).args).toEqual({ [field]: 'x' });
    }
  });

  const isLimited = tool.modes.gateway !== undefined && tool.limit !== 'none';
  if (isLimited)
    it('takes the quota of its limit', async () => {
      const once: RateLimit = { maxCallsPerMinute: 1, maxCallsPerSession: null };
      const { view, call } = fixedGateway(SHOP, { calls: { rateLimits: { [tool.limit]: once } } });
      const { required = [], properties } = tool.definition.inputSchema;
      const samples: Record<string, unknown> = { string: 'x', object: {} };
      const args = Object.fromEntries(required.map((field) => [field, samples[properties[field]?.type as string]]));
      if (tool.limit === 'tool_execute') {
        args.tool_id = view.catalog.tools.find((one) => one.name === 'whoami')?.id;
      }
      await call(name, args);
      const { structuredContent } = await call(name, { ...args, render: 'json' });
      expect(structuredContent).toMatchObject({ error: 'RATE_LIMITED', path: tool.id ? args[tool.id] : '' });
    });

  if (!NAMED_IN_SETTINGS.includes(name))
    it('is named in a declaration, its code and the table alone', () => {
      const named = new RegExp(`'${name}'|\\b${name}:`);
      const files = globSync('src/**/*.ts').filter((file) => named.test(readFileSync(file, 'utf8')));
      expect(files).toHaveLength(3);
      expect(files).toEqual(
        expect.arrayContaining(['src/modes/gateway/toolTable.ts', 'src/modes/shared/gatewayTools.ts']),
      );
    });
});

it('knows no other tool', () => {
  expect([gatewayTool('toString'), runnableTool('toString'), runnableTool('tool_remove')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(failedCallEvent('tool_remove', {}, REJECTED, () => undefined)).toMatchObject({
    event: 'call.failed',
    method: '(unknown)',
  });
});
