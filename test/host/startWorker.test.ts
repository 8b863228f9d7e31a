import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startWorker } from '../../src/host/startWorker.ts';
import { LINK_VERSION } from '../../src/protocol/rendezvous.ts';
import { isAlive } from '../support/hostProcess.ts';
import { testWorkspace } from '../support/workspace.ts';

it('a worker that is named serves, though its word that it is ready has been lost', async () => {
  const workspace = testWorkspace({});
  const named = { link: LINK_VERSION, socket: 'none', token: 'x', version: '0', build: '0', startedAt: 0 };
  const place = JSON.stringify(join(workspace.folder, 'worker.json'));
  const workerScript = workspace.write(
    'silent.cjs',
    `require('node:fs').writeFileSync(${place}, JSON.stringify({ ...${JSON.stringify(named)}, pid: process.pid }), { mode: 0o600 });
     setInterval(() => {}, 1000);`,
  );
  const runtime = { workspace: workspace.folder, nodePath: process.execPath, workerScript };
  const pid = await startWorker({ ...runtime, env: { ...process.env, WAYGATE_READY_MS: '20000' } }, workspace.folder);
  onTestFinished(() => void process.kill(pid));
  expect(isAlive(pid)).toBe(true);
});
