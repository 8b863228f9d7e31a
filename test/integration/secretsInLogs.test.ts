import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stateFolder, status } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

it('a secret in a failing server’s last words reaches neither the model, nor a person’s view, nor the log', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const workspace = testWorkspace({ leaky: servers.fixture('--say-and-exit', `Error: bad token ${secret}`) });
  const host = await HostProcess.connect(workspace);
  const told = await until('its failure', async () => {
    const { text } = await host.call('tool_browse', { path: '/' });
    return text.includes('Failed: leaky') && text;
  });
  expect(told).toContain('Error: bad token');
  const seen = [
    told,
    JSON.stringify(await status(workspace)),
    readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8'),
  ];
  for (const text of seen) expect(text).not.toContain(secret);
});
