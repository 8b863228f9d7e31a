import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/config/declaration/policyBlock.ts';
import { GatewaySession } from '../support/gateway.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Calls a destructive tool of a real server in passthrough mode, as a client of that name. Returns whether it ran. */
async function runs(client: string, blocks: object = {}, own: object = {}): Promise<boolean> {
  const workspace = testWorkspace();
  writeFileSync(workspace.userConfigFile, JSON.stringify(own));
  workspace.write(
    '.vscode/waygate.json',
    JSON.stringify({ ...blocks, servers: { files: servers.filesystem(workspace.folder) } }),
  );
  workspace.approve();
  const host = new GatewaySession(workspace, ['--mode', 'passthrough']);
  await host.initialize({ clientInfo: { name: client, version: '1' } });
  const path = join(workspace.folder, 'new.txt');
  const { result } = await host.request('tools/call', { name: 'write_file', arguments: { path, content: 'x' } });
  const ran = existsSync(path);
  if (!ran) expect(JSON.stringify(result)).toContain('AUTH_REQUIRED');
  return ran;
}

describe('a destructive tool in passthrough mode', () => {
  it.each(['Visual Studio Code', 'claude-code', 'gemini-cli-mcp-client-v1'])(
    'runs for %s, which asks',
    async (name) => {
      expect(await runs(name)).toBe(true);
    },
  );

  it('does not run for a client that is not known to ask', async () => {
    expect(await runs('some-agent')).toBe(false);
    expect(await runs('not-claude-code')).toBe(false);
  });

  it('follows the setting, which a workspace cannot loosen', async () => {
    expect(await runs('claude-code', { passthrough: { asks: 'waygate' } })).toBe(false);
    expect(await runs('some-agent', {}, { passthrough: { asks: 'client' } })).toBe(true);
    expect(await runs('some-agent', { passthrough: { asks: 'client' } })).toBe(false);
  });

  it('runs if a file repeats the default question, as waygate allow writes it', async () => {
    const policy = { rules: [{ action: 'allow', server: 'other' }, ...DEFAULT_POLICY.rules] };
    expect(await runs('claude-code', {}, { policy })).toBe(true);
    expect(await runs('some-agent', {}, { policy })).toBe(false);
  });

  it('does not run against a rule that somebody wrote', async () => {
    const policy = { rules: [{ action: 'require_approval', tags: ['destructive'] }] };
    expect(await runs('claude-code', { policy })).toBe(false);
    expect(await runs('claude-code', {}, { policy })).toBe(false);
  });
});
