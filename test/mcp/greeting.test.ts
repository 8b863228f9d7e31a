import { InitializeResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { readGreeting } from '../../src/mcp/wire/greeting.ts';

const WHOLE = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true }, experimental: {} },
  serverInfo: { name: 'x', version: '1', title: 'X' },
  instructions: 'Ask first.',
};
const ODD = [undefined, null, true, 7, 'text', []];

describe('an answer to initialize', () => {
  it('is read, also with what MCP does not define', () => {
    expect(readGreeting({ ...WHOLE, more: 1 })).toEqual({
      capabilities: WHOLE.capabilities,
      implementation: { name: 'x', version: '1' },
      instructions: 'Ask first.',
    });
  });

  it.each([
    ...ODD.map((capabilities) => ['capabilities', { capabilities }] as const),
    ...ODD.map((tools) => ['capabilities.tools', { capabilities: { tools } }] as const),
    ...ODD.map((serverInfo) => ['serverInfo', { serverInfo }] as const),
    ...ODD.map((name) => ['serverInfo', { serverInfo: { name, version: '1' } }] as const),
    ...ODD.map((version) => ['serverInfo', { serverInfo: { name: 'x', version } }] as const),
  ])('is wrong exactly where MCP’s own schema says so: %s, %j', (member, flaw) => {
    const answer = { ...WHOLE, ...flaw };
    const isRight = InitializeResultSchema.safeParse(answer).success;
    expect(readGreeting(answer)).toEqual(
      isRight ? expect.objectContaining({ capabilities: answer.capabilities }) : { wrong: member },
    );
  });

  it('of an unknown revision is wrong', () => {
    for (const protocolVersion of [undefined, 7, '1999-12-31'])
      expect(readGreeting({ ...WHOLE, protocolVersion })).toEqual({ wrong: 'protocolVersion' });
  });
});
