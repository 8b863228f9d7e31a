import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countTokens } from '../../src/catalog/tokenizer/tokens.ts';
import { dashboardState } from '../../src/extension/dashboard/dashboardModel.ts';
import { groupDigits } from '../../src/text/porcelain.ts';
import { stateFolder, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, temporaryFolder, testWorkspace } from '../support/workspace.ts';
import { sources } from '../webview/sample.ts';

/** Covers finding tools from the command line, and learning from use. */
/** Removes the line that the command prints while it waits for a server. */
const withoutWait = (stderr: string): string => stderr.replace(/^waiting for one …\n/, '');

describe('waygate browse', () => {
  it('shows what a model reads, as soon as the servers are up', async () => {
    const workspace = testWorkspace({ one: servers.fixture('--start-delay', '300') });
    const found = await waygate(workspace, ['browse', 'say', 'back', 'a', 'text']);
    expect({ code: found.code, stderr: withoutWait(found.stderr) }).toEqual({ code: 0, stderr: '' });
    expect(found.stdout).toMatch(/^\d tools? for this query, best first \(6 searched\)\.\n\[1\/\d\] one:echo#\w{8} /);
    const path = await waygate(workspace, ['browse', '/one/wait']);
    expect(path.stdout).toMatch(/^\/one\/wait: 1 entry, 1 tool\.\n\[1\/1\] one:wait#/);
  });

  it('explains the ranking, in words and in JSON', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const words = await waygate(workspace, ['browse', 'say back a text', '--explain']);
    expect(words.stdout).toMatch(/^query {5}say back a text\nwords {5}/);
    expect(words.stdout).toMatch(/\+\d[\d.]* {2}word text in /);
    const { hits } = JSON.parse(
      (await waygate(workspace, ['browse', 'say back a text', '--explain', '--json'])).stdout,
    );
    const sum = hits[0].contributions.reduce((total: number, { amount }: { amount: number }) => total + amount, 0);
    expect(Math.round(sum)).toBe(hits[0].score);
  });

  it('fails with the error that a model gets', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const missing = await waygate(workspace, ['browse', '/two']);
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(withoutWait(missing.stderr)).toMatch(/^Error PATH_NOT_FOUND: There is no path "\/two"\./);
    const bare = await waygate(workspace, ['browse']);
    expect(bare).toMatchObject({ code: 64, stderr: expect.stringContaining('needs a query or a path') });
  });
});

describe('a tool that two servers have', () => {
  it('names both, and the folders that they reach', async () => {
    const [home, documents] = [temporaryFolder('waygate-a-'), temporaryFolder('waygate-b-')];
    const entries = { filesystem: servers.filesystem(home), 'filesystem-2': servers.filesystem(documents) };
    const workspace = testWorkspace(entries);
    const { stdout } = await waygate(workspace, ['browse', 'read text file']);
    const also =
      /^(filesystem\S*):read_text_file#\w+ \("(.*)"\) is also in (.*) \(same definition; may reach other data: "(.*)"\): (\S+):read_text_file#\w+\.$/m;
    const [, first, reached, second, otherwise, again] = also.exec(stdout) ?? [];
    expect(again).toBe(second);
    expect({ [first as string]: reached, [second as string]: otherwise }).toEqual({
      filesystem: home,
      'filesystem-2': documents,
    });
  });
});

describe('waygate catalog', () => {
  it('lists every tool by its path, and the tokens that all definitions take', async () => {
    const workspace = testWorkspace({ one: servers.fixture('--tools', '40'), two: servers.fixture() });
    const { stdout } = await waygate(workspace, ['catalog']);
    expect(stdout).toContain('/one  40 tools\n');
    expect(stdout).toContain('  /two/echo  Says back the text it was given.\n');
    const stats = JSON.parse((await waygate(workspace, ['catalog', '--stats', '--json'])).stdout);
    expect(stats.tokensByServer).toEqual([
      { server: 'one', tools: 40, tokens: expect.any(Number) },
      { server: 'two', tools: 6, tokens: expect.any(Number) },
    ]);
    expect(stats.definitionTokens).toBeGreaterThan(stats.gatewayTokens);
    expect(stats.gatewayTokens).toBeLessThanOrEqual(700);
  });

  it.each([
    ['the user prompts and resources', 'Visual Studio Code', 3, 'gatewayTokens'],
    ['none of them', 'test-client', 7, 'withPrimitivesTokens'],
  ])('counts tokens as telemetry, status and dashboard do for a client that shows %s', async (_, name, count, of) => {
    const workspace = testWorkspace({ one: servers.fixture('--tools', '40'), two: servers.primitives() });
    const host = new HostProcess(workspace);
    const { result: introduced } = await host.initialize({ clientInfo: { name, version: '1.0.0' } });
    await host.toolId('/one/echo');
    const data = async (...args: string[]) => JSON.parse((await waygate(workspace, [...args, '--json'])).stdout);
    const stats = await data('catalog', '--stats');
    const [full, sent] = [stats.definitionTokens, stats[of]] as [number, number];
    const telemetry = await until('the count', async () => {
      const report = await data('telemetry');
      return report.tokens.definition_tokens_full === full && report;
    });
    expect(telemetry.tokens).toMatchObject({ definition_tokens_full: full, definition_tokens_exposed: sent });
    const { stdout } = await waygate(workspace, ['telemetry']);
    expect(stdout).toContain(`(${groupDigits(full)} would be, ${groupDigits(sent)} are)`);
    // The status bar shows those of the status.
    expect((await data('status')).catalog.tokens).toEqual({ definitions: full, sent });
    const { now } = dashboardState(sources({ telemetry }));
    expect(now.figures.find(({ id }) => id === 'context')?.value).toBe(`${groupDigits(full)} → ${groupDigits(sent)}`);
    // A schema is counted apart from the rest of its definition, so a token may be split at the seam.
    const { tools } = (await host.request('tools/list')).result as { tools: object[] };
    expect(tools).toHaveLength(count);
    const whole = countTokens(String(introduced?.instructions)) + countTokens(JSON.stringify(tools));
    expect(Math.abs(whole - sent) / whole).toBeLessThan(0.03);
    const printed = (await waygate(workspace, ['catalog', '--stats'])).stdout;
    expect(printed).toContain(
      ` ${stats.gatewayTokens} through the gateway, or ${groupDigits(stats.withPrimitivesTokens)} `,
    );
    const promise = /cost your agent at most ([\d,]+) tokens, or ([\d,]+) where/.exec(
      readFileSync('README.md', 'utf8'),
    );
    const [three, seven] = (promise ?? []).slice(1).map((figure) => Number(figure.replace(',', '')));
    expect(stats.gatewayTokens).toBeLessThanOrEqual(three as number);
    expect(stats.withPrimitivesTokens).toBeLessThanOrEqual(seven as number);
  });
});

describe('learning from use', () => {
  it('is stored for the workspace, and can be shown and erased', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/picture');
    await host.call('tool_browse', { query: 'tiny image thing', top_k: 6 });
    await host.call('tool_execute', { tool_id: id, args: {} });
    const file = join(stateFolder(workspace), 'uses.json');
    await until('what was learned', () => statSync(file, { throwIfNoEntry: false }) !== undefined);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // Only stems are stored, neither the words of the query nor arguments.
    expect(JSON.parse(readFileSync(file, 'utf8')).entries).toEqual([
      { words: ['imag', 'thing', 'tini'], toolId: id, uses: 1 },
    ]);
    const learned = await waygate(workspace, ['learned']);
    expect(learned.stdout).toBe(`${id}  imag thing tini  (1)\n`);
    const forgotten = await waygate(workspace, ['learned', '--forget', id]);
    expect(forgotten.stdout).toBe('Forgot 1 entry.\nNothing has been learned here.\n');
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('does not happen if it is switched off, or if the call fails', async () => {
    const workspace = testWorkspace();
    workspace.write(
      '.vscode/waygate.json',
      JSON.stringify({ browse: { learning: false }, servers: { one: servers.fixture() } }),
    );
    workspace.approve();
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/one/echo');
    await host.call('tool_browse', { query: 'say back the text' });
    await host.call('tool_execute', { tool_id: 'one:echo', args: { text: 'x' } });
    workspace.configure({ one: servers.fixture() });
    await host.call('tool_browse', { query: 'an error of its own' });
    const failed = await host.call('tool_execute', { tool_id: 'one:fails', args: {} });
    expect(failed).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Error UPSTREAM_ERROR: the thing is not there/),
    });
    expect((await waygate(workspace, ['learned'])).stdout).toBe('Nothing has been learned here.\n');
  });
});
