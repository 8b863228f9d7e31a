import { expect, it } from 'vitest';
import { status } from '../support/census.ts';
import { HostProcess } from '../support/hostProcess.ts';
import { testWorkspace } from '../support/workspace.ts';

/** Module that sets the clock back by two hours as soon as a file exists. */
const jumpAt = (file: string): string =>
  `import { existsSync } from 'node:fs'; const { now } = Date; Date.now = () => now() - (existsSync(${JSON.stringify(file)}) ? 7_200_000 : 0);`;

it('a worker whose clock was set back has a positive uptime', async () => {
  const workspace = testWorkspace({});
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(jumpAt(workspace.gate))}` };
  const host = await HostProcess.connect(workspace, [], {}, env);
  await host.call('tool_browse', { path: '/' });
  workspace.letGo();
  expect((await status(workspace)).worker?.uptimeMs).toBeGreaterThan(0);
});
