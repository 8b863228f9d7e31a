import { describe, expect, it } from 'vitest';
import { WORKSPACE_OWNER } from '../../src/results/artifacts/artifactStore.ts';
import { textContent } from '../../src/results/envelope/partContent.ts';
import { MAX_ANSWER_CHARS } from '../../src/text/porcelain.ts';
import { FILE, fixedGateway, SHOP, textOf } from './fixedGateway.ts';

const location = { file: FILE, line: 7, column: 5 };

describe('the answers of the three tools', () => {
  const shop = fixedGateway(SHOP);
  const id = (name: string): string => shop.view.catalog.tools.find((tool) => tool.name === name)?.id as string;

  it.each([
    ['the root', 'tool_browse', { path: '/' }],
    ['a server', 'tool_browse', { path: '/files' }],
    ['a query', 'tool_browse', { query: 'create an issue', top_k: 1 }],
    ['a path that is not there', 'tool_browse', { path: '/githbu' }],
    ['a path in another style', 'tool_browse', { path: 'files/' }],
    ['an invalid path', 'tool_browse', { path: 'no-such-files' }],
    ['neither query nor path', 'tool_browse', {}],
    ['an empty query', 'tool_browse', { query: '  ' }],
    ['a wrong type', 'tool_browse', { query: 5 }],
    ['a number out of bounds', 'tool_browse', { query: 'x', top_k: 0 }],
    ['an unknown argument', 'tool_browse', { qeury: 'x' }],
    ['arguments that are no object', 'tool_browse', [1]],
    ['a tool that Waygate does not have', 'tool_brwose', {}],
    ['arguments that are missing', 'tool_execute', {}],
    ['a tool that is not there', 'tool_execute', { tool_id: 'nobody:nothing#00000000', args: {} }],
    ['a handle that is not there', 'tool_view', { handle: 'text:gone', selector: {} }],
  ])('match their golden file for %s', async (_what, tool, args) => {
    const answer = await shop.call(tool, args);
    expect(answer.structuredContent).toBeUndefined();
    await expect(`${answer.isError ? 'isError\n' : ''}${textOf(answer)}`).toMatchFileSnapshot(
      `golden/${_what.replaceAll(' ', '-')}.txt`,
    );
  });

  it('match their golden file for a schema, a dry run and invalid arguments', async () => {
    const issue = id('create_issue');
    const answers = [
      await shop.text('tool_view', { handle: `schema:${issue}`, selector: {} }),
      await shop.text('tool_view', { handle: `schema:${id('whoami')}`, selector: {} }),
      await shop.text('tool_execute', { tool_id: issue, args: { title: 'x' }, dry_run: true }),
      await shop.text('tool_execute', { tool_id: issue, args: { title: 5, labels: 'bug', state: 'gone' } }),
      await shop.text('tool_execute', { tool_id: issue, args: {} }),
    ];
    await expect(answers.join('\n')).toMatchFileSnapshot('golden/schema-and-execute.txt');
  });

  it('suggest the tool that was most likely meant, but do not run it', async () => {
    const issue = id('create_issue');
    const answer = await shop.call('tool_execute', { tool_id: issue.replace('issue', 'isue'), args: { title: 'x' } });
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toContain(`Did you mean "${issue}"?`);
  });

  it('are byte for byte the same for the same request', async () => {
    const again = fixedGateway(SHOP);
    for (const args of [{ path: '/' }, { query: 'read a file' }]) {
      expect(await again.text('tool_browse', args)).toBe(await shop.text('tool_browse', args));
    }
  });

  it('have the data as text and as structured content with render=json, and only text otherwise', async () => {
    const json = await shop.call('tool_browse', { path: '/files', render: 'json' });
    expect(JSON.parse(textOf(json))).toEqual(json.structuredContent);
    expect(json.structuredContent).toMatchObject({
      total: 2,
      searched: 4,
      servers: [{ name: 'files', state: 'ready' }, {}],
    });
    const error = await shop.call('tool_view', { handle: 'gone', selector: {}, render: 'json' });
    expect(error.structuredContent).toMatchObject({ error: 'VIEW_FAILED', path: 'gone', retryable: false });
  });

  it('are recorded with their subject, never with argument values', async () => {
    const { call, calls } = fixedGateway(SHOP);
    await call('tool_execute', { tool_id: 'a:b', args: { password: 'hunter2' } });
    await call('tool_browse', { query: 'files' });
    expect(calls).toMatchObject([
      { metaTool: 'tool_execute', subject: 'a:b', outcome: 'error', errorCode: 'HYDRATE_FAILED', client: 'test' },
      { metaTool: 'tool_browse', subject: 'files', outcome: 'ok' },
    ]);
    expect(JSON.stringify(calls)).not.toContain('hunter2');
  });
});

describe('the notes below a listing', () => {
  it('say which servers are starting, failed or need a sign-in, with file, line and reason', async () => {
    const { text } = fixedGateway(SHOP, {
      servers: [
        { name: 'slow', state: 'starting' },
        { name: 'slower', state: 'starting' },
        { name: 'broken', state: 'failed', reason: 'The command "nope" was not found.', location },
        { name: 'cloud', state: 'needs_sign_in' },
        { name: 'new', state: 'needs_approval' },
        { name: 'off', state: 'disabled' },
      ],
      configuration: {
        problems: [{ severity: 'error', code: 'wrong_value', message: 'Unknown key "server".', location }],
      },
    });
    await expect(await text('tool_browse', { path: '/' })).toMatchFileSnapshot('golden/notes.txt');
  });

  it('say what to do if nothing is configured', async () => {
    const missing = await fixedGateway({}, { configuration: { exists: false } }).text('tool_browse', { path: '/' });
    expect(missing).toContain(`ask the user to create ${FILE}`);
    expect(await fixedGateway({}).text('tool_browse', { query: 'x' })).toContain(`${FILE} has none`);
  });
});

describe('an answer with much content', () => {
  const long = 'Searches the archive of the department for records that match all of the given words. '.repeat(20);
  const properties = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`argument_${i}`, { type: 'string', description: `"${long}"\n` }]),
  );
  const many = Array.from({ length: 400 }, (_, i) => ({
    name: `search_${i}_${'records'.repeat(6)}`,
    description: long,
    inputSchema: { type: 'object', properties },
  }));
  const failed = Array.from({ length: 60 }, (_, i) => ({
    name: `server-${i}`,
    state: 'failed' as const,
    reason: 'It ended before it answered (exit code 1). '.repeat(20),
    location,
  }));
  const problems = Array.from({ length: 60 }, () => ({
    severity: 'error' as const,
    code: 'wrong_value' as const,
    message: long,
    location,
  }));
  const crowd = fixedGateway({ archive: many }, { servers: failed, configuration: { problems } });
  const first = crowd.view.catalog.tools[0]?.id as string;
  const { handle } = crowd.artifacts.hold({
    kind: 'text',
    source: first,
    content: textContent('"quoted"\n\t\u0001'.repeat(4_000)),
    mediaType: 'text/plain',
    label: 'x',
    owner: WORKSPACE_OWNER,
  }).info;

  it.each(
    (['porcelain', 'json'] as const).flatMap((render) => [
      [render, 'the root', 'tool_browse', { path: '/', render }],
      [render, 'a full server', 'tool_browse', { path: '/archive', render }],
      [render, 'fifty hits', 'tool_browse', { query: 'search the records', top_k: 50, render }],
      [render, 'a schema', 'tool_view', { handle: `schema:${first}`, selector: {}, render }],
      [render, 'an artifact', 'tool_view', { handle, selector: { type: 'head', chars: 100_000 }, render }],
      [render, 'a very long path', 'tool_browse', { path: `/${'x'.repeat(100_000)}`, render }],
      [render, 'a very long query', 'tool_browse', { query: 'search '.repeat(20_000), render }],
      [render, 'a very long handle', 'tool_view', { handle: 'x'.repeat(100_000), selector: {}, render }],
      [render, 'a very long id', 'tool_execute', { tool_id: 'x'.repeat(100_000), args: {}, render }],
      [render, 'a very long argument name', 'tool_browse', { ['x'.repeat(100_000)]: 1, render }],
    ]) as [string, string, string, Record<string, unknown>][],
  )('stays below 8,000 characters as %s for %s', async (_render, _what, tool, args) => {
    const answer = await crowd.call(tool, args);
    expect(textOf(answer).length).toBeLessThan(MAX_ANSWER_CHARS);
    expect(textOf(answer).length).toBeGreaterThan(20);
  });

  it('keeps the ids of its cards usable', async () => {
    const answer = await crowd.call('tool_browse', { query: 'search the records', top_k: 50, render: 'json' });
    const cards = (answer.structuredContent?.cards ?? []) as { id: string }[];
    expect(cards.length).toBeGreaterThan(5);
    for (const card of cards) expect(crowd.view.catalog.byId.has(card.id)).toBe(true);
  });
});
