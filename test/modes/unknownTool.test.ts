import { describe, expect, it } from 'vitest';
import { buildCatalog } from '../../src/catalog/catalog.ts';
import type { ServerStatus } from '../../src/control/contract.ts';
import { unknownTool } from '../../src/modes/shared/unknownTool.ts';
import { computedMs } from '../support/computedMs.ts';
import { FILE, fixedGateway, textOf } from './fixedGateway.ts';

const tool = (name: string) => ({ name, description: 'Does it.', inputSchema: { type: 'object' } });
const GOOD = { good: ['echo', 'add_note', 'add_note_to_list'].map(tool), other: [tool('echo'), tool('list')] };

async function executed(tool_id: string, servers: Partial<ServerStatus>[] = []) {
  const gateway = fixedGateway(GOOD, { servers });
  const answer = await gateway.call('tool_execute', { tool_id, args: {}, render: 'json' });
  const porcelain = await gateway.text('tool_execute', { tool_id, args: {} });
  const idOf = (server: string, name: string): string =>
    gateway.view.catalog.tools.find((one) => one.server === server && one.name === name)?.id ?? '';
  return { error: answer.structuredContent as Record<string, unknown>, porcelain, idOf, gateway };
}

describe('an unknown tool', () => {
  it.each([
    ['a letter for another, without the hash', 'good:ecko', 'good', 'echo'],
    ['a letter for another, with a hash', 'good:ecko#12345678', 'good', 'echo'],
    ['the hash of an earlier catalog', 'good:echo#00000000', 'good', 'echo'],
    ['a version that it never had', 'good:echo@2.0', 'good', 'echo'],
    ['a name that another begins with', 'good:add_note', 'good', 'add_note'],
    ['the beginning of one name alone', 'good:ec', 'good', 'echo'],
    ['a namespace that is mistyped', 'goood:ecko', 'good', 'echo'],
    ['another separator', 'good.ecko', 'good', 'echo'],
    ['another case', 'GOOD:Ecko', 'good', 'echo'],
    ['a bare name', 'add_note', 'good', 'add_note'],
    ['a bare name that is mistyped', 'ad_note', 'good', 'add_note'],
    ['a namespace that nobody has', 'elsewhere:add_note', 'good', 'add_note'],
    ['another server', 'good:list', 'other', 'list'],
  ])('is reported with the nearest tool: %s', async (_what, given, server, name) => {
    const { error, porcelain, idOf } = await executed(given);
    const id = idOf(server, name);
    expect(error).toMatchObject({ error: 'HYDRATE_FAILED', path: given, retryable: false, details: { nearest: id } });
    expect(porcelain).toBe(
      `Error HYDRATE_FAILED: There is no tool ${JSON.stringify(given)}. Did you mean "${id}"?\nnearest: ${id}\n`,
    );
  });

  it('is reported with every candidate if several servers have it', async () => {
    const { error, porcelain, idOf } = await executed('ecko');
    const ids = [idOf('good', 'echo'), idOf('other', 'echo')];
    expect(error.details).toEqual({ candidates: ids });
    expect(porcelain).toContain(`There is no tool "ecko". Did you mean "${ids[0]}" or "${ids[1]}"?`);
  });

  it('is reported without a suggestion if nothing is near', async () => {
    for (const given of ['', ':', 'good:', 'good:delete_everything', 'x'.repeat(300), `good:${'e'.repeat(500)}`]) {
      const { error } = await executed(given);
      expect(error.message).toMatch(/\. Find its id with tool_browse\.$/);
      expect(error.details).toBeUndefined();
    }
  });

  it('is reported with the complete id, whatever its length', () => {
    const long = 'n'.repeat(128);
    const catalog = buildCatalog([{ server: 's'.repeat(64), tools: [tool(long)] }]);
    const [{ id }] = catalog.tools as unknown as [{ id: string }];
    const directory = { servers: () => [], workspace: '/w' };
    const error = unknownTool(`${'s'.repeat(64)}:${long}#00000000`, catalog, directory);
    expect(error.message).toMatch(/… ?"\. Did you mean what follows\?$/);
    expect(error.details).toEqual({ nearest: id });
  });

  it('is searched among ten thousand tools in negligible time', () => {
    const tools = Array.from({ length: 10_000 }, (_, i) => tool(`does_this_and_that_${'_'.repeat(90)}_${i}`));
    const catalog = buildCatalog([{ server: 'big', tools }]);
    const directory = { servers: () => [], workspace: '/w' };
    expect(computedMs(() => unknownTool(`nobody:${'ab_'.repeat(38)}`, catalog, directory))).toBeLessThan(1_000);
  });
});

describe('a tool of a server that is not ready', () => {
  const reason = 'It asks for a sign-in.';

  it.each([
    ['needs_sign_in', 'down needs the user to sign in. Ask the user to sign in, or use another tool.'],
    ['needs_secret', 'down needs a secret that is not set. Ask the user to set it, or use another tool.'],
    ['needs_approval', "down waits for the user's approval. Ask the user to approve it, or use another tool."],
    ['failed', 'down has failed. Ask the user to look at this server, or use another tool.'],
    ['disabled', 'down is switched off in the configuration. Use another tool, or ask the user.'],
  ] as const)('is reported with its state and reason: %s', async (state, words) => {
    const { error, porcelain } = await executed('down:echo', [{ name: 'down', namespace: '', state, reason }]);
    const details = { server: 'down', state, reason };
    expect(error).toMatchObject({ error: 'HYDRATE_FAILED', retryable: false, details });
    expect(porcelain).toBe(
      `Error HYDRATE_FAILED: There is no tool "down:echo": ${words}\nserver: down\nstate: ${state}\nreason: ${reason}\n`,
    );
  });

  it('is retryable while the server is starting', async () => {
    const { error } = await executed('down:echo', [{ name: 'down', state: 'starting' }]);
    expect(error).toMatchObject({
      message: 'There is no tool "down:echo": down is still starting. Call again shortly.',
      retryable: true,
      details: { server: 'down', state: 'starting' },
    });
  });

  it('is recognised by the name of its server, also with another separator or case', async () => {
    const servers: Partial<ServerStatus>[] = [{ name: 'My Server', namespace: '', state: 'failed' }];
    for (const given of ['My Server:echo', 'my-server:echo#00000000', 'my-server.echo', 'MY-SERVER/echo']) {
      expect((await executed(given, servers)).error.details).toMatchObject({ server: 'My Server', state: 'failed' });
    }
  });

  it('reports the place in the configuration, relative to the workspace', async () => {
    const { error } = await executed('down:echo', [
      {
        name: 'down',
        state: 'failed',
        reason: 'Its command "nothing" was not found.',
        location: { file: FILE, line: 4 },
      },
    ] as Partial<ServerStatus>[]);
    expect(error.details).toMatchObject({
      reason: 'Its command "nothing" was not found. (.vscode/waygate.json line 4)',
    });
  });

  it('is suggested by name if its tools are known from before', async () => {
    const servers: Partial<ServerStatus>[] = [{ name: 'good', state: 'failed', reason: 'It ended.' }];
    const gateway = fixedGateway(GOOD);
    gateway.context.servers = () => servers as ServerStatus[];
    const text = async (tool_id: string): Promise<string> =>
      textOf(await gateway.call('tool_execute', { tool_id, args: {} }));
    expect(await text('good:ecko')).toContain('Did you mean "good:echo#');
    expect(await text('good:list')).toContain('There is no tool "good:list": good has failed.');
  });

  it('is reported for its schema too', async () => {
    const { gateway } = await executed('x', [{ name: 'down', state: 'needs_sign_in', reason }]);
    const answer = await gateway.text('tool_view', { handle: 'schema:down:echo', selector: {} });
    expect(answer).toMatch(/^Error VIEW_FAILED: There is no tool "down:echo": down needs the user to sign in\./);
    expect(await gateway.text('tool_view', { handle: 'schema:good:ecko', selector: {} })).toContain('Did you mean');
  });
});
