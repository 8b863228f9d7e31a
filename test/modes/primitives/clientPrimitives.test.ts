import { describe, expect, it } from 'vitest';
import type { CallSettings } from '../../../src/config/declaration/callBlocks.ts';
import type { CallContext, ClientPeer } from '../../../src/mcp/session/sessionMode.ts';
import { UpstreamRequestError } from '../../../src/mcp/wire/upstreamClient.ts';
import { ClientPrimitives } from '../../../src/modes/primitives/clientPrimitives.ts';
import { pageOf } from '../../../src/modes/primitives/pages.ts';
import type { OwnResources } from '../../../src/modes/primitives/primitivePorts.ts';
import { ResultLinks } from '../../../src/modes/primitives/resultLinks.ts';
import { ClientNews } from '../../../src/modes/shared/client/clientNews.ts';
import { fixedContext } from '../../support/fixedContext.ts';

type Json = Record<string, unknown>;

const own: OwnResources = {
  list: () => [{ uri: 'waygate://health', name: 'health' }],
  read: (uri) => (uri === 'waygate://health' ? [{ uri, text: 'ok' }] : undefined),
};
const peer: ClientPeer = {
  client: { name: 'test', version: '1', protocolVersion: '2025-11-25' },
  session: {},
  capabilities: {},
  notify: () => undefined,
  request: async () => ({}),
};

function client(upstream?: (method: string, params: Json) => Promise<Json>, calls: Partial<CallSettings> = {}) {
  const asked: [string, Json][] = [];
  const context = fixedContext([], {
    calls,
    primitives: [
      {
        server: 'docs',
        resources: [{ uri: 'docs://1', name: 'one', size: 3, icons: [{ src: 'x' }], later: true }],
        resourceTemplates: [{ uriTemplate: 'docs://{n}/x', name: 'x' }],
        prompts: [{ name: 'p', arguments: [{ name: 'a' }] }],
      },
    ],
    upstream: async (method, params) => {
      asked.push([method, params]);
      return upstream ? upstream(method, params) : { contents: [{ uri: params.uri, odd: 1 }], later: 2 };
    },
  });
  const ports = { ...context.primitives, own };
  const news = new ClientNews();
  const primitives = new ClientPrimitives(ports, news);
  const call: CallContext = { signal: new AbortController().signal, client: 'test', session: {}, peer };
  const ask = (method: string, params: Json = {}, more: Partial<CallContext> = {}) =>
    primitives.request(method, params, { ...call, ...more }) as Promise<Json>;
  return { ask, asked, primitives, context, call };
}

describe("a client's own requests", () => {
  it("list the servers' items unchanged, and the gateway's own", async () => {
    const { ask } = client();
    expect(await ask('resources/list')).toEqual({
      resources: [
        { uri: 'waygate://health', name: 'health' },
        { uri: 'docs://1', name: 'one', size: 3, icons: [{ src: 'x' }], later: true },
      ],
    });
    expect(await ask('resources/templates/list')).toEqual({
      resourceTemplates: [{ uriTemplate: 'docs://{n}/x', name: 'x' }],
    });
    expect(await ask('prompts/list')).toEqual({ prompts: [{ name: 'p', arguments: [{ name: 'a' }] }] });
  });

  it('forward requests and answers unchanged', async () => {
    const { ask, asked } = client();
    const meta = { meta: { progressToken: 1, traceparent: 't' } };
    expect(await ask('resources/read', { uri: 'docs://1', _meta: meta.meta }, meta)).toEqual({
      contents: [{ uri: 'docs://1', odd: 1 }],
      later: 2,
    });
    await ask('prompts/get', { name: 'p', arguments: { a: 'b' } });
    expect(asked).toEqual([
      ['resources/read', { uri: 'docs://1', _meta: { traceparent: 't' } }],
      ['prompts/get', { name: 'p', arguments: { a: 'b' } }],
    ]);
    expect(await ask('resources/read', { uri: 'waygate://health' })).toEqual({
      contents: [{ uri: 'waygate://health', text: 'ok' }],
    });
    expect(asked).toHaveLength(2);
  });

  it('leave unknown methods to others', () => {
    expect(client().primitives.request('logging/setLevel', {}, client().call)).toBeUndefined();
  });

  it.each([
    ['resources/read', {}, -32602],
    ['resources/read', { uri: 7 }, -32602],
    ['resources/list', { cursor: 'zzz' }, -32602],
    ['resources/list', { cursor: 5 }, -32602],
    ['prompts/get', { name: 'nobody' }, -32602],
    ['completion/complete', {}, -32602],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'x' } }, -32602],
    ['resources/subscribe', { uri: 'docs://1' }, -32600],
  ])('are refused with the codes of MCP if invalid: %s %j', async (method, params, code) => {
    await expect(client().ask(method, params)).rejects.toMatchObject({ name: 'RpcError', code });
  });

  it("fail with the server's error, secrets masked, or with the reason for its silence", async () => {
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB';
    const failing = client(() => Promise.reject(new UpstreamRequestError('error', `bad ${secret}`, -32099)));
    const refused = failing.ask('resources/read', { uri: 'docs://1' });
    await expect(refused).rejects.toMatchObject({ code: -32099, message: expect.not.stringContaining(secret) });
    const slow = client(() => Promise.reject(new UpstreamRequestError('timeout', 'x')));
    await expect(slow.ask('prompts/get', { name: 'p' })).rejects.toMatchObject({
      code: -32603,
      message: 'docs did not answer in time. It is safe to repeat.',
      data: { error: 'UPSTREAM_TIMEOUT', retryable: true },
    });
  });

  it("obey the user's rules like those of a model", async () => {
    const { ask, asked, primitives } = client(undefined, { policy: { default: 'deny', rules: [] } });
    primitives.open(peer);
    for (const [method, params] of [
      ['resources/read', { uri: 'docs://1' }],
      ['resources/subscribe', { uri: 'docs://1' }],
      ['prompts/get', { name: 'p' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }],
    ] as const) {
      await expect(ask(method, params)).rejects.toMatchObject({ data: { error: 'POLICY_DENIED' } });
    }
    expect(asked).toEqual([]);
  });
});

describe('a page of a list', () => {
  const items = Array.from({ length: 600 }, (_, i) => ({ i }));

  it('leads to the next one until all items are listed', () => {
    const seen: unknown[] = [];
    let cursor: unknown;
    let pages = 0;
    do {
      const page = pageOf('items', items, cursor);
      seen.push(...(page.items as unknown[]));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect([seen, pages]).toEqual([items, 3]);
  });

  it('is shorter if its items are large, and never empty', () => {
    const large = [1, 2, 3].map((n) => ({ n, icon: 'x'.repeat(700_000) }));
    expect(pageOf('items', large, undefined).items).toHaveLength(1);
    expect(pageOf('items', [{ icon: 'x'.repeat(3_000_000) }], undefined)).not.toHaveProperty('nextCursor');
  });

  it('is empty beyond the end of a list that became shorter', () => {
    const { nextCursor } = pageOf('items', items, undefined);
    expect(pageOf('items', [], nextCursor)).toEqual({ items: [] });
  });
});

it('links of results belong to every server that sent them, within a bound of each', () => {
  const links = new ResultLinks();
  const link = (uri: unknown) => ({ content: [null, 7, { type: 'text' }, { type: 'resource_link', uri }] });
  links.note('a', link('x://1'));
  links.note('b', { content: [{ type: 'resource', resource: { uri: 'x://2' } }, { type: 'resource' }] });
  expect([links.serversOf('x://1'), links.serversOf('x://2')]).toEqual([['a'], ['b']]);
  links.note('b', link('x://1'));
  expect(links.serversOf('x://1')).toEqual(['a', 'b']);
  links.note('b', {});
  links.note('b', link(5));
  for (let i = 0; i < 5_000; i++) links.note('c', link(`y://${i}`));
  for (let i = 0; i < 5_000; i++) links.note('b', link(`y://${i}`));
  expect([links.serversOf('x://1'), links.serversOf('y://0')]).toEqual([['a'], ['b', 'c']]);
});
