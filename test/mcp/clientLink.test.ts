import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { OutgoingRequests } from '../../src/mcp/outgoingRequests.ts';
import { ClientLink } from '../../src/mcp/session/clientLink.ts';

function link(offered: Record<string, unknown> = {}) {
  const sent: JSONRPCMessage[] = [];
  const send = async (message: JSONRPCMessage): Promise<void> => void sent.push(message);
  return { client: new ClientLink(offered, send, new OutgoingRequests(send)), sent };
}

describe('a client', () => {
  it('is unknown until it has introduced itself', () => {
    const { client } = link();
    expect(client.client).toEqual({ name: 'unknown client', version: '', protocolVersion: '' });
    expect(client.capabilities).toEqual({});
  });

  it('has its name in one bounded line, whatever it claims', () => {
    const { client } = link();
    client.introduce({ protocolVersion: '2025-06-18', clientInfo: { name: `a\nb${'c'.repeat(99)}`, version: 7 } });
    expect(client.client).toMatchObject({ version: '', protocolVersion: '2025-06-18' });
    expect(client.client.name).toMatch(/^a b?c+…?/);
    expect(client.client.name.length).toBeLessThanOrEqual(64);
    client.introduce({ clientInfo: 'me' });
    expect(client.client.name).toBe('unknown client');
  });

  it('has the revision that its host translates for it, if that is one', () => {
    const { client } = link();
    const introduce = (rounds: unknown) =>
      client.introduce({ protocolVersion: '2025-11-25', capabilities: { experimental: { 'waygate/rounds': rounds } } });
    introduce({ revision: '2026-07-28' });
    expect([client.client.protocolVersion, client.takesRounds]).toEqual(['2026-07-28', true]);
    // A host of an earlier build names none.
    for (const other of [{}, { revision: '2026-07-28\nand more' }, { revision: 7 }]) {
      introduce(other);
      expect([client.client.protocolVersion, client.takesRounds]).toEqual(['2025-11-25', false]);
    }
  });

  it.each([
    ['forms, where it declares elicitation as before 2025-11-25', { elicitation: {} }, { elicitation: { form: {} } }],
    ['URLs alone', { elicitation: { url: {} } }, { elicitation: { url: {} } }],
    ['what it declares, unchanged', { roots: { listChanged: true }, experimental: { x: { y: 1 } } }, undefined],
    ['nothing of another form', { roots: true, sampling: null, unheardOf: {} }, {}],
  ])('can do %s', (_what, capabilities, expected) => {
    const { client } = link();
    client.introduce({ capabilities });
    expect(client.capabilities).toEqual(expected ?? capabilities);
  });

  it.each([
    ['notifications/tools/list_changed', { tools: {} }, {}],
    ['notifications/resources/list_changed', { resources: {} }, {}],
    ['notifications/resources/updated', { resources: {} }, {}],
    ['notifications/prompts/list_changed', { prompts: {} }, {}],
    ['notifications/message', { logging: {} }, {}],
    ['notifications/elicitation/complete', {}, { elicitation: { url: {} } }],
  ])('gets %s only where it expects it', (method, offered, capabilities) => {
    const [expecting, other] = [link(offered), link()];
    for (const { client } of [expecting, other]) {
      client.introduce({ capabilities: client === expecting.client ? capabilities : {} });
      client.notify(method, { a: 1 });
    }
    expect(expecting.sent).toEqual([{ jsonrpc: '2.0', method, params: { a: 1 } }]);
    expect(other.sent).toEqual([]);
  });
});
