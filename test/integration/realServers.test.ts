import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findBrowser } from '../../scripts/lib/systemPackages.mjs';
import { HostProcess } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Returns the entry of a published server from npm. */
const npm = (bin: string, ...args: string[]) => ({
  command: process.execPath,
  args: [resolve('node_modules', bin), ...args],
});

async function execute(host: HostProcess, path: string, args: object): Promise<string> {
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

  it("Playwright's server opens a page in a real browser", async () => {
    const page = createServer((_, response) => response.end('<title>Waygate</title><h1>The door is open</h1>'));
    await new Promise<void>((listening) => page.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void page.close());
    const browser = findBrowser();
    expect(browser, 'npm test installs Chromium').toBeDefined();
    const flags = ['--headless', '--isolated', '--no-sandbox', '--executable-path', browser as string];
    const workspace = testWorkspace();
    // The server declares nearly all of its tools destructive, and no user can approve them here.
    const policy = { rules: [{ action: 'allow', server: 'playwright' }] };
    const playwright = npm('@playwright/mcp/cli.js', ...flags);
    workspace.write('.vscode/waygate.json', JSON.stringify({ policy, servers: { playwright } }));
    workspace.approve();
    const host = await HostProcess.connect(workspace);
    const { port } = page.address() as AddressInfo;
    const answer = await execute(host, '/playwright/browser_navigate', { url: `http://127.0.0.1:${port}/` });
    expect(answer).toContain('Page Title: Waygate');
    await execute(host, '/playwright/browser_close', {});
  });
});
