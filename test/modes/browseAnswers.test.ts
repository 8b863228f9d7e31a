import { describe, expect, it } from 'vitest';
import { responseCapTokens } from '../../src/catalog/cards/cardBudget.ts';
import { countTokens } from '../../src/catalog/tokenizer/tokens.ts';
import type { ServerListing } from '../../src/catalog/types.ts';
import { gatewayMode } from '../../src/modes/gateway/gatewayMode.ts';
import type { GatewayContext } from '../../src/modes/shared/modeContext.ts';
import { sampleListings } from '../catalog/sampleListings.ts';
import { fixedContext, readyServer } from '../support/fixedContext.ts';

const tool = (name: string, description: string, more: object = {}) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  ...more,
});

const TRACKER: ServerListing = {
  server: 'tracker',
  tools: [
    tool('create_issue', 'Create a new issue in a repository.'),
    tool('close_issue', 'Close an issue.', { annotations: { destructiveHint: true } }),
    tool('list_issues', 'List the issues of a repository.', { annotations: { readOnlyHint: true } }),
  ],
};
const CHAT: ServerListing = { server: 'chat', tools: [tool('send_message', 'Post a message to a channel.')] };

interface Answer {
  text: string;
  isError: boolean;
  json: Record<string, unknown>;
}

/** Opens one session on a fixed catalog. */
function session(context: GatewayContext) {
  const mode = gatewayMode(context);
  const key = {};
  return async (name: string, args: object): Promise<Answer> => {
    const result = (await mode.callTool(name, args, {
      signal: new AbortController().signal,
      client: 'test',
      session: key,
    })) as { content: { text: string }[]; structuredContent?: Record<string, unknown>; isError?: boolean };
    return {
      text: result.content.map((part) => part.text).join(''),
      isError: result.isError === true,
      json: result.structuredContent ?? {},
    };
  };
}

const cardIds = (answer: Answer): string[] => (answer.json.cards as { id: string }[]).map((card) => card.id);

describe('an answer of tool_browse', () => {
  it('to a query lists the tools, best first, and the next steps', async () => {
    const call = session(fixedContext([TRACKER, CHAT]));
    expect((await call('tool_browse', { query: 'open a new issue' })).text).toMatchInlineSnapshot(`
      "2 tools for this query, best first (4 searched).
      [1/2] tracker:create_issue#fc9592de (tool) — Create a new issue in a repository. [mcp]
          (id?: string)
      [2/2] tracker:close_issue#b194a8c5 (tool) — Close an issue. [destructive, mcp]
          (id?: string)
      Arguments of a tool: tool_view {"handle": "schema:<tool_id>"}. Run it: tool_execute.
      "
    `);
  });

  it('to "/" has one card per server, and to a path the entries there', async () => {
    const call = session(fixedContext([TRACKER, CHAT]));
    expect((await call('tool_browse', { path: '/' })).text).toMatchInlineSnapshot(`
      "/: 2 entries, 4 tools.
      [1/2] /chat (internal) — 1 tool: send_message
      [2/2] /tracker (internal) — 3 tools: close_issue, create_issue, list_issues
      "
    `);
    expect((await call('tool_browse', { path: '/tracker' })).text).toMatchInlineSnapshot(`
      "/tracker: 3 entries, 3 tools.
      [1/3] tracker:close_issue#b194a8c5 (tool) — Close an issue. [destructive, mcp]
      [2/3] tracker:create_issue#fc9592de (tool) — Create a new issue in a repository. [mcp]
      [3/3] tracker:list_issues#c73eba3b (tool) — List the issues of a repository. [mcp, read-only]
      Arguments of a tool: tool_view {"handle": "schema:<tool_id>"}. Run it: tool_execute.
      "
    `);
    expect((await call('tool_browse', { path: '/tracker/close_issue' })).text).toMatchInlineSnapshot(`
      "/tracker/close_issue: 1 entry, 1 tool.
      [1/1] tracker:close_issue#b194a8c5 (tool) — Close an issue. [destructive, mcp]
      Arguments of a tool: tool_view {"handle": "schema:<tool_id>"}. Run it: tool_execute.
      "
    `);
  });

  describe('shows arguments', () => {
    const WIDE = {
      server: 'wide',
      tools: ['one', 'two', 'three', 'four'].map((name) => ({
        name: `export_${name}`,
        description: 'Export a table.',
        inputSchema: {
          type: 'object',
          properties: {
            head: { type: 'number' },
            path: { type: 'string' },
            where: { type: 'object', properties: { deep: { type: 'string' } } },
            'a: string)\n[1/9] forged': { type: 'boolean' },
            ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`option_${i}`, { type: 'string' }])),
          },
          required: ['path'],
        },
      })),
    };
    const signatures = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('    ('));

    it('of the first three hits, in about 40 tokens each, required ones first', async () => {
      const { text } = await session(fixedContext([WIDE]))('tool_browse', { query: 'export table' });
      expect(signatures(text)).toHaveLength(3);
      for (const line of signatures(text)) {
        expect(line).toMatch(/^ {4}\(path: string, head\?: number, where\?: object, .*, …\)$/);
        expect(countTokens(line)).toBeLessThanOrEqual(48);
      }
      expect(text.split('\n').filter((line) => line.startsWith('[1/'))).toHaveLength(1);
      expect(text.indexOf('    (')).toBeGreaterThan(text.indexOf('[1/4]'));
      expect(text.indexOf('    (')).toBeLessThan(text.indexOf('[2/4]'));
    });

    it('within the token bound of the answer', async () => {
      const call = session(fixedContext([{ ...WIDE, tools: WIDE.tools.slice(0, 1) }]));
      const { text } = await call('tool_browse', { query: 'export table' });
      expect(countTokens(text)).toBeLessThanOrEqual(responseCapTokens(1));
    });

    it('of no tool at a path', async () => {
      const { text } = await session(fixedContext([WIDE]))('tool_browse', { path: '/wide' });
      expect(signatures(text)).toEqual([]);
    });
  });

  it('has at most three cards where nothing matches well', async () => {
    const answer = await session(fixedContext(sampleListings()))('tool_browse', {
      query: 'iron my linen trousers before the wedding page',
      top_k: 10,
      render: 'json',
    });
    expect(answer.json.confidence).toBe('weak');
    expect(cardIds(answer)).toHaveLength(3);
  });

  it.each([{}, { query: '', path: '/' }, { query: null, path: null }])('to %j is that to "/"', async (args) => {
    const call = session(fixedContext([TRACKER, CHAT]));
    expect((await call('tool_browse', args)).text).toBe((await call('tool_browse', { path: '/' })).text);
  });

  it('takes an empty path beside a query as none', async () => {
    const call = session(fixedContext([TRACKER, CHAT]));
    const { text } = await call('tool_browse', { query: 'open a new issue', path: '' });
    expect(text).toBe((await call('tool_browse', { query: 'open a new issue' })).text);
  });

  it('says that nothing matched, and lists the servers', async () => {
    const call = session(fixedContext([TRACKER, CHAT]));
    const answer = await call('tool_browse', { query: 'photosynthesis' });
    expect(answer.isError).toBe(false);
    expect(answer.text).toMatchInlineSnapshot(`
      "No tool matches this query (4 searched).
      There is: /chat (1), /tracker (3).
      Ask for one capability in English, in the words of an API: verb, object, product, and another wording: {"query": "git stash changes | save working tree"}. Or look around with "path".
      "
    `);
    const data = await call('tool_browse', { query: 'photosynthesis', render: 'json' });
    expect(data.json).toMatchObject({ cards: [], searched: 4, confidence: 'none' });
  });

  it('says above the cards which product no tool mentions', async () => {
    const call = session(fixedContext([TRACKER, CHAT]));
    const query = 'create an issue in PagerDuty';
    expect((await call('tool_browse', { query })).text.split('\n').slice(0, 2)).toEqual([
      '2 tools for this query, best first (4 searched).',
      'No tool here mentions "PagerDuty".',
    ]);
    expect((await call('tool_browse', { query, render: 'json' })).json.unmentioned).toEqual(['PagerDuty']);
    const known = { query: 'create an issue in Tracker' };
    expect((await call('tool_browse', known)).text).not.toContain('mentions');
    expect((await call('tool_browse', { ...known, render: 'json' })).json).not.toHaveProperty('unmentioned');
  });

  it('names further tools of the best server where the answer is not certain', async () => {
    const call = session(fixedContext([TRACKER, CHAT]));
    const vague = { query: 'would you please look after that issue of my colleague and friend', top_k: 1 };
    expect((await call('tool_browse', vague)).text).toMatch(/^More in \/tracker: \w+_issues?, \w+_issues?\.$/m);
    expect((await call('tool_browse', { ...vague, render: 'json' })).json.further).toMatchObject({ path: '/tracker' });
    const exact = { query: 'create issue', top_k: 1 };
    expect((await call('tool_browse', exact)).text).not.toContain('More in');
    expect((await call('tool_browse', { ...exact, render: 'json' })).json).not.toHaveProperty('further');
  });

  it('keeps the names of further tools short', async () => {
    const tools = Array.from({ length: 60 }, (_, i) => tool(`handle_the_parcel_of_kind_${i}`, `Parcel ${i}.`));
    const call = session(fixedContext([{ server: 'many', tools }, ...sampleListings()]));
    const { text } = await call('tool_browse', { query: 'what about that parcel of a colleague of mine', top_k: 10 });
    const line = text.split('\n').find((one) => one.startsWith('More in /')) as string;
    expect(countTokens(line)).toBeLessThanOrEqual(140);
    expect(line.length).toBeLessThan(440);
    expect(line.split(',').length).toBeGreaterThan(8);
  });

  it('says how to ask if a sentence matches only in part', async () => {
    const call = session(fixedContext([TRACKER, CHAT]));
    const asks = async (query: string) =>
      (await call('tool_browse', { query })).text.includes('in the words of an API');
    expect(await asks('would you please look after that issue of my colleague and friend')).toBe(true);
    expect(await asks('photosynthesis')).toBe(true);
    expect(await asks('create issue')).toBe(false);
    expect(await asks('create a new issue in a repository')).toBe(false);
  });

  it('reports that a server is starting, not that it is empty', async () => {
    const servers = [{ ...readyServer('slow', 0), state: 'starting' as const }];
    const call = session(fixedContext([{ server: 'slow', tools: [] }], { servers }));
    expect((await call('tool_browse', { query: 'anything' })).text).toContain('Still starting: slow');
    expect((await call('tool_browse', { path: '/' })).text).toContain('Still starting: slow');
  });

  it('names the other servers of a tool that several have', async () => {
    const twin = { ...CHAT, server: 'chat-two' };
    const call = session(fixedContext([CHAT, twin]));
    const answer = await call('tool_browse', { query: 'post a message', render: 'json' });
    expect(cardIds(answer)).toHaveLength(1);
    expect((await call('tool_browse', { query: 'post a message' })).text).toMatch(
      /chat-two:send_message#\w{8} is also in chat \(same definition; may reach other data\): chat:send_message#\w{8}\./,
    );
    const properties = { id: { type: 'string' }, thread: { type: 'string' } };
    const later = { ...(CHAT.tools[0] as object), inputSchema: { type: 'object', properties } };
    const releases = session(fixedContext([CHAT, { server: 'chat-two', tools: [later] }]));
    expect((await releases('tool_browse', { query: 'post a message' })).text).toMatch(
      /is also in chat \(same description, other arguments; may reach other data\): chat:send_message#/,
    );
    const reach = { chat: ['its own "TOKEN"'], 'chat-two': ['"/home/u"'] };
    const other = session(fixedContext([CHAT, twin], { reach }));
    expect((await other('tool_browse', { query: 'post a message' })).text).toMatch(
      /send_message#\w{8} \("\/home\/u"\) is also in chat \(same definition; may reach other data: its own "TOKEN"\): chat:/,
    );
  });

  it('has at most top_k cards, by default as many as the configuration says', async () => {
    const many = { server: 'many', tools: Array.from({ length: 30 }, (_, i) => tool(`read_${i}`, 'Read a record.')) };
    const call = session(fixedContext([many, TRACKER], { browse: { topK: 2 } }));
    const query = 'issue';
    expect(cardIds(await call('tool_browse', { query, render: 'json' }))).toHaveLength(2);
    expect(cardIds(await call('tool_browse', { query, top_k: 1, render: 'json' }))).toHaveLength(1);
  });

  it('to a path is complete up to the length limit, and says how to get the rest', async () => {
    const words = 'with a description that is neither short nor long but of the usual length for such a tool'.repeat(2);
    const servers = Array.from({ length: 400 }, (_, i) => ({ server: `server-${i}`, tools: [tool('run', words)] }));
    const call = session(fixedContext(servers));
    for (const render of ['porcelain', 'json']) {
      const answer = await call('tool_browse', { path: '/', render });
      expect(answer.text.length).toBeLessThan(8_000);
    }
    const { text } = await call('tool_browse', { path: '/' });
    const shown = text.split('\n').filter((line) => line.startsWith('[')).length;
    expect(text).toContain(`/: 400 entries, 400 tools.`);
    expect(text).toContain(`${400 - shown} more: `);
  });

  it('stays within the token limit of an answer, however many notes it has (G2.6)', async () => {
    const failing = Array.from({ length: 30 }, (_, i) => ({
      ...readyServer(`failing-${i}`, 0),
      state: 'failed' as const,
      reason: `The command "server-${i}" was not found; install it or give its whole path.`,
      location: { file: '/w/.vscode/waygate.json', line: i + 1, column: 1 },
    }));
    const call = session(fixedContext([TRACKER, CHAT], { servers: failing }));
    for (const args of [{ query: 'list issues', top_k: 1 }, { query: 'issue' }, { path: '/' }, { path: '/tracker' }]) {
      const { text } = await call('tool_browse', args);
      const cards = text.split('\n').filter((line) => /^\[\d+\/\d+\]/.test(line)).length;
      expect(cards).toBeGreaterThan(0);
      expect(countTokens(text)).toBeLessThanOrEqual(responseCapTokens(cards));
    }
    expect((await call('tool_browse', { path: '/tracker' })).text).toContain('Failed: failing-0, failing-1,');
    const nothing = await call('tool_browse', { query: 'photosynthesis' });
    expect(nothing.text).toContain('failing-0: The command "server-0" was not found');
    expect(countTokens(nothing.text)).toBeLessThanOrEqual(responseCapTokens(10));
  });

  it('with ten cards takes at most 600 tokens', async () => {
    const call = session(fixedContext(sampleListings()));
    const queries = [
      'create an issue',
      'send an email',
      'query a database',
      'list files',
      'deploy a website',
      'take a screenshot',
    ];
    const costs = await Promise.all(
      queries.map(async (query) => countTokens((await call('tool_browse', { query })).text)),
    );
    expect(Math.max(...costs)).toBeLessThanOrEqual(600);
  });
});

describe('cache-stable browsing', () => {
  it('lists the known cards first and unchanged, then the marker and the new cards', async () => {
    const call = session(fixedContext([TRACKER, CHAT], { browse: { cacheStable: true } }));
    const first = await call('tool_browse', { query: 'list issues', top_k: 1, render: 'json' });
    const second = await call('tool_browse', { query: 'create, close or list an issue', render: 'json' });
    expect(cardIds(second).slice(0, 2)).toEqual([...cardIds(first), '__cache_breakpoint__']);
    expect((second.json.cards as object[])[0]).toEqual((first.json.cards as object[])[0]);
  });

  it('is separate for each session, and off by default', async () => {
    const context = fixedContext([TRACKER, CHAT], { browse: { cacheStable: true } });
    await session(context)('tool_browse', { query: 'list issues', top_k: 1 });
    const other = await session(context)('tool_browse', { query: 'create, close or list an issue', render: 'json' });
    expect(cardIds(other)).not.toContain('__cache_breakpoint__');
    const plain = session(fixedContext([TRACKER, CHAT]));
    await plain('tool_browse', { query: 'list issues', top_k: 1 });
    const again = await plain('tool_browse', { query: 'create, close or list an issue', render: 'json' });
    expect(cardIds(again)).not.toContain('__cache_breakpoint__');
  });

  it('ignores a failed hydration', async () => {
    const call = session(fixedContext([TRACKER, CHAT], { browse: { cacheStable: true } }));
    await call('tool_view', { handle: 'schema:tracker:nothing#00000000', selector: {} });
    const answer = await call('tool_browse', { query: 'list issues', render: 'json' });
    expect(cardIds(answer)).not.toContain('__cache_breakpoint__');
  });
});

describe('the tool of a tool_id', () => {
  const context = fixedContext([TRACKER, CHAT]);
  const view = context.view().catalog;
  const id = view.tools.find((one) => one.name === 'create_issue')?.id as string;
  const dryRun = (given: string) =>
    session(context)('tool_execute', { tool_id: given, args: {}, dry_run: true, render: 'json' });

  it.each([
    ['by the exact id', id],
    ['with a stray blank', ` ${id}\n`],
    ['in another case', id.toUpperCase()],
    ['without its hash', 'tracker:create_issue'],
  ])('is found %s', async (_how, given) => {
    expect((await dryRun(given)).json).toMatchObject({ dry_run: true, tool_id: id });
    const shown = await session(context)('tool_view', { handle: `schema:${given}` });
    expect(shown.text).toContain(`${id}: 1 argument`);
    if (given !== id) expect(shown.text).toContain(`was read as "${id}" (tool_id)`);
  });

  it('runs without arguments, and not with those of the server beside "args"', async () => {
    const call = session(context);
    const plain = { tool_id: id, dry_run: true, render: 'json' };
    expect((await call('tool_execute', plain)).json).toMatchObject({ dry_run: true, tool_id: id });
    for (const misplaced of ['id', 'reason']) {
      expect((await call('tool_execute', { ...plain, [misplaced]: 'x' })).json.message).toMatch(/belong into "args"/);
    }
  });

  it.each([
    ['the beginning of a name', 'tracker:create'],
    ['a name of another server', 'chat:create_issue'],
    ['an old hash', 'tracker:create_issue#00000000'],
    ['an empty id', ''],
  ])('is never guessed from %s', async (_how, given) => {
    const answer = await dryRun(given);
    expect(answer.json).toMatchObject({ error: 'HYDRATE_FAILED', path: given, retryable: false });
  });

  it('is suggested if the id is nearly right', async () => {
    expect((await dryRun('tracker:create')).json.message).toContain(`Did you mean "${id}"?`);
    expect((await dryRun(id.replace('issue', 'isue'))).json.message).toContain(`Did you mean "${id}"?`);
  });
});
