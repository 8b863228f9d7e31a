import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waygate } from '../support/census.ts';
import { StreamClient } from '../support/hostProcess.ts';
import { atEnd } from '../support/lifetime.ts';
import { servers, testWorkspace, WAYGATE } from '../support/workspace.ts';

const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
const OLDEST = engines.node.replace('>=', '');

/** Returns the system's own Node, which may be older than the one of the packages. */
function systemNode(): string | undefined {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes(`${sep}node_modules${sep}`));
  return folders
    .map((folder) => join(folder, 'node'))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

const node = systemNode();
const version =
  node === undefined ? '' : execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
const isOldest = version.split('.')[0] === OLDEST.split('.')[0];

describe.skipIf(!isOldest)('with the oldest Node that package.json permits', () => {
  it('the command line, the host and the worker serve a call', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const run = (...args: string[]): string =>
      execFileSync(String(node), [WAYGATE, ...args], { cwd: workspace.folder, env: workspace.env, encoding: 'utf8' });
    const serve = spawn(String(node), [WAYGATE, 'serve', '--workspace', workspace.folder], { env: workspace.env });
    atEnd(() => void serve.kill('SIGKILL'));
    const client = new StreamClient(serve.stdin, serve.stdout);
    await client.initialize();
    const tool_id = await client.toolId('/one/echo');
    const answer = await client.call('tool_execute', { tool_id, args: { text: 'from an old Node' } });
    expect([answer.isError, answer.text]).toEqual([false, expect.stringContaining('from an old Node')]);
    const refused = await client.call('tool_execute', { tool_id, args: { text: 1, other: true } });
    expect(refused.isError).toBe(true);
    expect(run('catalog', '--stats')).toMatch(/^6 tools of 1 server\n/);
    expect(run('browse', 'say back a text')).toContain('one:echo');
    expect(run('trust')).toContain('one');
    expect(run('approve')).toContain('approved');
    expect(run('lock')).toContain('waygate.lock');
    expect(
      run('import', '--dry-run', '--from', workspace.write('m.json', '{"mcpServers":{"a":{"command":"a"}}}')),
    ).toContain('+');
    expect(run('client-config', 'codex')).toContain(String(node));
    expect(run('telemetry')).toContain('tool_execute');
    expect(JSON.parse((await waygate(workspace, ['status', '--json'])).stdout).worker.build).toBeDefined();
    expect(run('stop')).toMatch(/^Stopped the gateway/);
  });
});

it('the documents name that version and no other', () => {
  const files = ['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'scripts/contributes/contributed.ts'];
  for (const file of files) {
    const named = readFileSync(file, 'utf8').match(/(?:Node(?:\.js)? |\()\d[\d.]*(?= or newer)/g) ?? [];
    expect(
      named.map((words) => words.replace(/^\D+/, '')),
      file,
    ).toEqual(named.map(() => OLDEST));
  }
  expect(readFileSync('README.md', 'utf8')).toContain(`Node ${OLDEST} or newer`);
  expect(readFileSync('.github/workflows/ci.yml', 'utf8')).toMatch(
    new RegExp(`node-version: ${OLDEST.split('.')[0]}\\n`),
  );
});
