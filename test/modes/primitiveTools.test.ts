import { describe, expect, it } from 'vitest';
import type { CallSettings } from '../../src/config/declaration/callBlocks.ts';
import { UpstreamRequestError } from '../../src/mcp/wire/upstreamClient.ts';
import { fixedGateway, SHOP, textOf } from './fixedGateway.ts';

type Json = Record<string, unknown>;

const DOCS = {
  server: 'docs',
  resources: [
    { uri: 'docs://guide/deploy', name: 'Deploy guide', description: 'How to deploy the shop to production.' },
    {
      uri: 'docs://guide/style',
      name: 'Style guide',
      description: 'How code is written here.',
      mimeType: 'text/markdown',
    },
    { uri: 'docs://schema/orders', name: 'orders' },
  ],
  resourceTemplates: [
    { uriTemplate: 'docs://invoice/{year}/{number}', name: 'Invoice', description: 'An invoice of a year.' },
  ],
};
const REVIEW = {
  server: 'github',
  prompts: [
    {
      name: 'review_pr',
      description: 'Review a pull request step by step.',
      arguments: [{ name: 'repo', required: true, description: 'owner/name' }, { name: 'depth' }],
    },
    { name: 'standup', description: 'Write the daily stand-up note.' },
  ],
};

/** Creates a gateway with two servers whose reads `answer` serves, and records the requests that they get. */
function shop(
  answer: (method: string, params: Json) => Json | Promise<Json> = answered,
  calls: Partial<CallSettings> = {},
) {
  const asked: [string, Json][] = [];
  const gateway = fixedGateway(SHOP, {
    primitives: [DOCS, REVIEW],
    calls,
    upstream: async (method, params) => {
      asked.push([method, params]);
      return answer(method, params);
    },
  });
  const { resources, prompts } = gateway.context.primitives.view().catalog;
  const id = (name: string): string => [...resources, ...prompts].find((one) => one.name === name)?.id as string;
  return { ...gateway, asked, id };
}

function answered(method: string, params: Json): Json {
  if (method === 'prompts/get') {
    return {
      messages: [{ role: 'user', content: { type: 'text', text: `Review ${JSON.stringify(params.arguments)}` } }],
    };
  }
  return { contents: [{ uri: params.uri, text: `what is at ${params.uri}` }] };
}

describe('the answers of the tools for resources and prompts', () => {
  const { call, id } = shop();

  it.each([
    ['the resources of all', 'resource_browse', { path: '/' }],
    ['the resources of a server', 'resource_browse', { path: '/docs' }],
    ['a query for a resource', 'resource_browse', { query: 'deploy to production', top_k: 1 }],
    ['a query that no resource matches', 'resource_browse', { query: 'zebra crossings' }],
    ['neither query nor path of a resource', 'resource_browse', {}],
    ['a resource', 'resource_read', { resource_id: id('Deploy guide') }],
    ['a resource by its address', 'resource_read', { resource_id: 'docs://guide/style' }],
    ['a template', 'resource_read', { resource_id: id('Invoice') }],
    ['a template that is filled in', 'resource_read', { resource_id: 'docs://invoice/2026/7' }],
    ['a template by its address', 'resource_read', { resource_id: 'docs://invoice/{year}/{number}' }],
    ['a resource that is not there', 'resource_read', { resource_id: 'resource::docs:Deploy_giude#00000000' }],
    ['the prompts of a server', 'prompt_browse', { path: '/github' }],
    ['a query for a prompt', 'prompt_browse', { query: 'review a pull request', top_k: 1 }],
    ['a prompt', 'prompt_get', { prompt_id: id('review_pr'), args: { repo: 'ada/shop' } }],
    ['a prompt without arguments', 'prompt_get', { prompt_id: id('standup') }],
    ['a prompt whose arguments are missing', 'prompt_get', { prompt_id: id('review_pr') }],
    ['a prompt whose arguments are no object', 'prompt_get', { prompt_id: id('review_pr'), args: 'repo' }],
    ['a prompt with a number', 'prompt_get', { prompt_id: id('review_pr'), args: { repo: 7 } }],
    ['a prompt that is not there', 'prompt_get', { prompt_id: 'review' }],
    ['the arguments of a prompt', 'tool_view', { handle: `schema:${id('review_pr')}`, selector: {} }],
  ])('match their golden file for %s', async (what, tool, args) => {
    const answer = await call(tool, args);
    expect(answer.structuredContent).toBeUndefined();
    const text = `${answer.isError ? 'isError\n' : ''}${textOf(answer)}`;
    if (answer.isError) expect(text.split('\n')[1]?.replace(/^Error \w+: /, '').length).toBeLessThanOrEqual(256);
    await expect(text).toMatchFileSnapshot(`golden/primitives/${what.replaceAll(' ', '-')}.txt`);
  });
});

describe('resources and prompts', () => {
  it('are never mixed with tools or with each other', async () => {
    const { call } = shop();
    for (const query of ['review deploy file issue', 'read a guide', 'orders']) {
      for (const kind of ['tool', 'resource', 'prompt']) {
        const { structuredContent } = await call(`${kind}_browse`, { query, render: 'json', top_k: 50 });
        const cards = structuredContent?.cards as { kind: string }[];
        expect(new Set(cards.map((card) => card.kind))).toEqual(new Set(cards.length > 0 ? [kind] : []));
      }
    }
  });

  it('have their own tools only if a server has them', () => {
    const names = (primitives: Parameters<typeof fixedGateway>[1]) =>
      (fixedGateway(SHOP, primitives).mode.listTools() as readonly object[])
        .slice(3)
        .map((tool) => (tool as { name: string }).name);
    expect(names({})).toEqual([]);
    expect(names({ primitives: [DOCS] })).toEqual(['resource_browse', 'resource_read']);
    expect(names({ primitives: [{ resourceTemplates: DOCS.resourceTemplates }] })).toHaveLength(2);
    expect(names({ primitives: [REVIEW] })).toEqual(['prompt_browse', 'prompt_get']);
  });

  it.each([
    ['auto', 'cursor-vscode', 7],
    ['auto', 'Visual Studio Code', 3],
    ['auto', 'Visual Studio Code - Insiders', 3],
    ['auto', 'code-server', 3],
    ['auto', 'claude-code', 3],
    ['auto', 'claude-ai', 3],
    ['tools', 'claude-code', 7],
    ['off', 'cursor-vscode', 3],
  ] as const)('with "%s" the client %s gets %i tools', (primitiveTools, name, count) => {
    const client = { name, version: '1', protocolVersion: '2025-11-25' };
    const { mode } = fixedGateway(SHOP, { primitives: [DOCS, REVIEW], primitiveTools });
    expect(mode.listTools(client)).toHaveLength(count);
  });

  it.each(['Deploy_guide', 'deploy_guide', 'DEPLOY_GUIDE '])('are read by an id without its hash: %s', async (name) => {
    const { call, asked, id } = shop();
    const whole = id('Deploy guide');
    const given = whole.replace(/Deploy_guide#.*$/, name);
    const text = textOf(await call('resource_read', { resource_id: given }));
    expect(asked).toEqual([['resources/read', { uri: 'docs://guide/deploy' }]]);
    expect(text).toContain(`was read as "${whole}" (tool_id)`);
  });

  it('are got and shown by an id without its hash, and no other id is guessed', async () => {
    const { call, asked, id } = shop();
    const given = id('review_pr').replace(/#.*$/, '');
    const note = `note: "${given}" was read as "${id('review_pr')}" (tool_id)`;
    expect(textOf(await call('prompt_get', { prompt_id: given, args: { repo: 'a/b' } }))).toContain(note);
    expect(asked[0]?.[0]).toBe('prompts/get');
    expect(textOf(await call('tool_view', { handle: `schema:${given}` }))).toContain(note);
    expect(textOf(await call('prompt_get', { prompt_id: given.slice(0, -3) }))).toMatch(/^Error PROMPT_NOT_FOUND/);
    expect(textOf(await call('resource_read', { resource_id: 'resource::docs:' }))).toMatch(/^Error RESOURCE_NOT/);
  });

  it('are limited to top_k, which must be in its range', async () => {
    const { call } = shop();
    const { structuredContent } = await call('resource_browse', { query: 'guide', top_k: 1, render: 'json' });
    expect(structuredContent?.cards).toHaveLength(1);
    for (const top_k of [0, 'x', 1.5]) {
      expect(textOf(await call('prompt_browse', { query: 'x', top_k }))).toMatch(/^Error ARGS_INVALID/);
    }
  });

  it('are read through the firewall: a long one is a digest with a handle, and its parts are artifacts', async () => {
    const long = 'a line of the guide\n'.repeat(3_000);
    const { call, id } = shop(async () => ({
      contents: [
        { uri: 'docs://guide/deploy', text: long },
        { uri: 'docs://guide/logo', mimeType: 'application/zip', blob: 'UEsD' },
      ],
    }));
    const resource_id = id('Deploy guide');
    const text = textOf(await call('resource_read', { resource_id }));
    expect(text.length).toBeLessThan(8_000);
    const handle = text.match(/text:resource::docs:\S+?:[0-9a-f]{16}/)?.[0];
    const more = await call('tool_view', { handle, selector: { type: 'lines', start: 2_998, end: 3_000 } });
    expect(textOf(more)).toContain('a line of the guide\na line of the guide');
    const { structuredContent } = await call('resource_read', { resource_id, render: 'json' });
    expect(structuredContent).toMatchObject({ status: 'ok', provenance: { tool_id: resource_id } });
    expect(structuredContent?.artifacts).toHaveLength(3);
  });

  it("pass on the client's _meta, except for its progress token", async () => {
    const { mode, asked, id } = shop();
    const call = {
      signal: new AbortController().signal,
      client: 'test',
      session: {},
      meta: { progressToken: 7, traceparent: '00-a-b-01' },
    };
    await mode.callTool('resource_read', { resource_id: id('Style guide') }, call);
    expect(asked[0]).toEqual(['resources/read', { uri: 'docs://guide/style', _meta: { traceparent: '00-a-b-01' } }]);
  });

  it.each([
    [new UpstreamRequestError('error', 'Resource not found', -32002), /^Error RESOURCE_NOT_FOUND: docs does not have/],
    [new UpstreamRequestError('error', 'disk on fire', -32603), /^Error UPSTREAM_ERROR: docs answered.*disk on fire/],
    [new UpstreamRequestError('timeout', 'too slow'), /^Error UPSTREAM_TIMEOUT: .*safe to repeat\..*\nretryable/s],
    [new UpstreamRequestError('closed', 'lost'), /^Error UPSTREAM_UNAVAILABLE: .*safe to repeat.*\nretryable/s],
    [new UpstreamRequestError('unauthorized', '401'), /^Error AUTH_FAILED/],
    [
      new UpstreamRequestError('error', 'no: ghp_0123456789abcdefghijklmnopqrstuvwxyzAB', -32603),
      /^(?!.*ghp_).*REDACTED/s,
    ],
  ])('fail like calls: %s', async (error, expected) => {
    const { text, id } = shop(() => Promise.reject(error));
    expect(await text('resource_read', { resource_id: id('Deploy guide') })).toMatch(expected);
  });

  it('count towards the limits of browsing and viewing', async () => {
    const one = { maxCallsPerMinute: null, maxCallsPerSession: 1 };
    const { text, id } = shop(answered, { rateLimits: { tool_browse: one, tool_view: one } });
    expect(await text('prompt_browse', { path: '/' })).not.toMatch(/^Error/);
    expect(await text('resource_browse', { path: '/' })).toMatch(/^Error RATE_LIMITED: The limit tool_browse\/session/);
    expect(await text('resource_read', { resource_id: id('Style guide') })).not.toMatch(/^Error/);
    expect(await text('prompt_get', { prompt_id: id('standup') })).toMatch(/^Error RATE_LIMITED.*tool_view/);
    expect(await text('prompt_get', { prompt_id: id('standup') })).not.toContain('retryable');
    // Resent after the loss of a worker that had counted it.
    expect(await text('prompt_get', { prompt_id: id('standup') }, { counted: true })).not.toMatch(/^Error/);
  });

  it("are subject to the user's rules by id, tag and name, and a denied read does not reach the server", async () => {
    const { text, id, asked } = shop(answered, {
      policy: {
        default: 'allow',
        rules: [
          { action: 'deny', tool: '*:Style_guide*', reason: 'Internal.' },
          { action: 'deny', tool: 'standup' },
          { action: 'deny', tool: 'resource::*', tags: ['template'] },
          { action: 'deny', metaTool: 'tool_execute' },
        ],
      },
    });
    expect(await text('resource_read', { resource_id: id('Style guide') })).toMatch(/^Error POLICY_DENIED.*Internal/);
    // Rules for a template also apply to addresses made from it.
    expect(await text('resource_read', { resource_id: 'docs://invoice/2026/7' })).toMatch(/^Error POLICY_DENIED/);
    expect(await text('prompt_get', { prompt_id: id('standup') })).toMatch(/^Error POLICY_DENIED/);
    expect(asked).toEqual([]);
    const review = { prompt_id: id('review_pr'), args: { repo: 'a/b' } };
    expect(await text('prompt_get', review)).toMatch(/^ok/);
  });
});
