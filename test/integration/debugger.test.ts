import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rendezvous, stateFolder } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { testWorkspace } from '../support/workspace.ts';

/** Sends one request of the inspector protocol and returns the answer. */
async function inspect(url: string, method: string, params: object): Promise<unknown> {
  const socket = new WebSocket(url);
  try {
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`Nothing answers at ${url}.`));
    });
    const answer = new Promise<string>((resolve) => {
      socket.onmessage = ({ data }) => resolve(String(data));
    });
    socket.send(JSON.stringify({ id: 1, method, params }));
    return JSON.parse(await answer);
  } finally {
    socket.close();
  }
}

it('attaches a debugger to the worker at the port in WAYGATE_INSPECT_WORKER', async () => {
  const workspace = testWorkspace({});
  const host = new HostProcess(workspace, [], { WAYGATE_INSPECT_WORKER: '0' });
  await host.initialize();
  const pid = await until('a worker', () => rendezvous(workspace)?.pid);
  const log = readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8');
  const url = /Debugger listening on (ws:\/\/127\.0\.0\.1:\S+)/.exec(log)?.[1];
  const answer = await inspect(String(url), 'Runtime.evaluate', { expression: 'process.pid' });
  expect(answer).toMatchObject({ result: { result: { value: pid } } });
});

it('reports an invalid port in WAYGATE_INSPECT_WORKER, and how to correct it', async () => {
  const workspace = testWorkspace({});
  const host = new HostProcess(workspace, [], { WAYGATE_INSPECT_WORKER: 'yes' });
  await host.initialize();
  const { text, isError } = await host.call('tool_browse', { path: '/' });
  expect(isError).toBe(true);
  expect(text).toContain('WAYGATE_INSPECT_WORKER is "yes", but must be a port number');
});
