import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { giveCompiledCode } from '../../support/compileCache.ts';
import { until } from '../../support/hostProcess.ts';
import { HttpProcess } from '../../support/httpProcess.ts';
import { atEnd } from '../../support/lifetime.ts';
import { MODERN } from '../../support/modernMeta.ts';
import { RoundGateway } from '../../support/roundGateway.ts';
import { WAYGATE } from '../../support/workspace.ts';

/** The client of the official SDK in each of its modes, with real hosts, workers and servers. */

type Mode = 'legacy' | 'auto' | { pin: string };

const WATCHED = 'test://watched-resource';
const transports = {
  stdio: async ({ workspace }: RoundGateway) => {
    giveCompiledCode(workspace.stateDir);
    const env = Object.fromEntries(Object.entries(workspace.env).filter(([, value]) => value !== undefined));
    const args = [WAYGATE, 'serve', '--workspace', workspace.folder];
    return new StdioClientTransport({ command: process.execPath, args, env: env as Record<string, string> });
  },
  http: async ({ workspace }: RoundGateway) => {
    const served = HttpProcess.waygate(workspace, ['--no-token']);
    return new StreamableHTTPClientTransport(new URL(await served.url()));
  },
};

async function connected(gateway: RoundGateway, over: keyof typeof transports, mode: Mode): Promise<Client> {
  const client = new Client(
    { name: 'sdk-client', version: '2.4.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  await client.connect(await transports[over](gateway));
  atEnd(() => client.close());
  return client;
}

async function text(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as { text?: string }[]).map((part) => part.text ?? '').join('');
}

const idOf = (client: Client, path: string): Promise<string> =>
  until(`a tool at ${path}`, async () => {
    const answer = await text(client, 'tool_browse', { path, render: 'json' });
    return /"id":"([^"]+)","kind":"tool"/.exec(answer)?.[1] ?? /"id":"([^"]+)"/.exec(answer)?.[1];
  });

describe.each(['stdio', 'http'] as const)('the SDK over %s', (over) => {
  it.each<[string, Mode]>([
    ['pinned to the modern era', { pin: MODERN }],
    ['choosing itself', 'auto'],
    ['of the legacy era', 'legacy'],
  ])('%s lists, browses, approves and calls', async (_, mode) => {
    const gateway = new RoundGateway();
    const client = await connected(gateway, over, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'legacy' ? '2025-11-25' : MODERN);
    expect(client.getServerVersion()).toMatchObject({ name: 'waygate' });
    expect(client.getInstructions()).toContain('tool_execute');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { remember: 'once' } };
    });
    const act = await idOf(client, '/faulty/act');
    expect(await text(client, 'tool_execute', { tool_id: act, args: { nonce: 'from the SDK' } })).toContain(
      'from the SDK',
    );
    expect(asked).toEqual([expect.stringContaining('act')]);
    expect(gateway.effectsOf('from the SDK')).toBe(1);
  });

  it('hears of changes', async () => {
    const client = await connected(new RoundGateway(), over, { pin: MODERN });
    const id = await idOf(client, '/asking/test_trigger_changes');
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
    const subscription = await client.listen({ resourceSubscriptions: [WATCHED] });
    await text(client, 'tool_execute', { tool_id: id, args: {} });
    await until('the update', () => updated.includes(WATCHED));
    await subscription.close();
  });
});
