import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stateFolder, status } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

it('masks a secret in the last output of a failing server in answers, in the status and in the log', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const workspace = testWorkspace({ leaky: servers.fixture('--say-and-exit', `Error: bad token ${secret}`) });
  const host = await HostProcess.connect(workspace);
  const listing = await until('its failure', async () => {
    const { text } = await host.call('tool_browse', { path: '/' });
    return text.includes('Failed: leaky') && text;
  });
  expect(listing).toContain('Error: bad token');
  const seen = [
    listing,
    JSON.stringify(await status(workspace)),
    readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8'),
  ];
  for (const text of seen) expect(text).not.toContain(secret);
});
