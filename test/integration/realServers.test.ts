import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findBrowser } from '../../scripts/lib/systemPackages.mjs';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, type StreamClient } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';

/** Returns the entry of a published server from npm. */
const npm = (bin: string, ...args: string[]) => ({
  command: process.execPath,
  args: [resolve('node_modules', bin), ...args],
});

async function execute(host: StreamClient, path: string, args: object): Promise<string> {
  return (await host.call('tool_execute', { tool_id: await host.toolId(path), args })).text;
}

describe('behind the gateway', () => {
  it('memory, filesystem, everything and sequential thinking work side by side', async () => {
    const workspace = testWorkspace();
    const file = workspace.write('note.txt', 'a note\n');
    workspace.configure({
      memory: { ...servers.memory, env: { MEMORY_FILE_PATH: join(workspace.folder, 'memory.jsonl') } },
      files: servers.filesystem(workspace.folder),
      everything: servers.everything,
      thinking: npm('@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
    });
    const host = await HostProcess.connect(workspace);
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }];
    await execute(host, '/memory/create_entities', { entities });
    expect(await execute(host, '/memory/read_graph', {})).toContain('Ada');
    expect(readFileSync(join(workspace.folder, 'memory.jsonl'), 'utf8')).toContain('Ada');
    expect(await execute(host, '/files/read_text_file', { path: file })).toBe('ok\na note\n\n');
    expect(await execute(host, '/everything/get-sum', { a: 17, b: 25 })).toContain('42');
    const thought = { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
    expect(await execute(host, '/thinking/sequentialthinking', thought)).toContain('thoughtHistoryLength');
  });

  it.each<[string, object]>([
    ['without roots', {}],
    ['with roots elsewhere', { roots: {} }],
  ])('the filesystem server keeps its configured folder for a client %s', async (_, capabilities) => {
    const workspace = testWorkspace();
    const configured = temporaryFolder('waygate-files-');
    writeFileSync(join(configured, 'note.txt'), 'a note');
    workspace.configure({ files: servers.filesystem(configured) });
    const host = await GatewaySession.connect(workspace, [], capabilities);
    host.answer('roots/list', () => ({ roots: [{ uri: pathToFileURL(workspace.folder).href }] }));
    const read = () => execute(host, '/files/read_text_file', { path: join(configured, 'note.txt') });
    expect(await read()).toContain('a note');
    // Roots take effect a moment after the start.
    expect(await execute(host, '/files/list_allowed_directories', {})).toContain(configured);
    expect(await read()).toContain('a note');
  });

  it("Playwright's server opens a page in a real browser", async () => {
    const { workspace, address } = await withBrowser({});
    const host = await HostProcess.connect(workspace);
    const answer = await execute(host, '/playwright/browser_navigate', { url: `${address}/door` });
    expect(answer).toContain('Page Title: /door');
    await execute(host, '/playwright/browser_close', {});
  });

  it.each([
    ['session', 'a browser of its own', ['/first', '/second']],
    ['workspace', 'the same browser', ['/second', '/second']],
  ])("Playwright's server with sharing %s gives each of two agents %s", async (sharing, _, seen) => {
    const { workspace, address } = await withBrowser({ sharing });
    const agents = [await HostProcess.connect(workspace), await HostProcess.connect(workspace)] as const;
    const [first, second] = agents;
    await execute(first, '/playwright/browser_navigate', { url: `${address}/first` });
    await execute(second, '/playwright/browser_navigate', { url: `${address}/second` });
    const pages = async (host: StreamClient): Promise<string[]> => {
      const tabs = await execute(host, '/playwright/browser_tabs', { action: 'list' });
      return [...new Set([...tabs.matchAll(/127\.0\.0\.1:\d+(\/\w+)/g)].map(([, path]) => path as string))];
    };
    expect([await pages(first), await pages(second)]).toEqual(seen.map((path) => [path]));
    for (const host of agents) await execute(host, '/playwright/browser_close', {});
  });
});

/** Workspace with Playwright's server, and a site on which each page has its path as title. */
async function withBrowser(entry: object): Promise<{ workspace: TestWorkspace; address: string }> {
  const site = createServer(({ url }, response) => response.end(`<title>${url}</title>`));
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void site.close());
  const browser = findBrowser();
  expect(browser, 'npm test installs Chromium').toBeDefined();
  const flags = ['--headless', '--isolated', '--no-sandbox', '--executable-path', browser as string];
  const workspace = testWorkspace();
  // The server declares nearly all of its tools destructive, and no user can approve them here.
  const policy = { rules: [{ action: 'allow', server: 'playwright' }] };
  const playwright = { ...npm('@playwright/mcp/cli.js', ...flags), ...entry };
  workspace.write('.vscode/waygate.json', JSON.stringify({ policy, servers: { playwright } }));
  workspace.approve();
  return { workspace, address: `http://127.0.0.1:${(site.address() as AddressInfo).port}` };
}
