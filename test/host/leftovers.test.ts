import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sweepLeftovers } from '../../src/host/attach/leftovers.ts';
import { temporaryFolder } from '../support/workspace.ts';

const NOBODY = 2 ** 22 - 3;

/** Leaves the socket of a process that was killed while it listened. */
async function deadSocket(path: string): Promise<void> {
  const listens = `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('listening'))`;
  const child = spawn(process.execPath, ['-e', listens]);
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
}

describe('the sweep of a state folder', () => {
  it('deletes the files of dead processes and keeps those of living ones', {
    skip: process.platform === 'win32',
  }, async () => {
    const folder = temporaryFolder('wg-left-');
    await deadSocket(join(folder, '0123456789abcdef.sock'));
    const living = createServer((socket) => void socket.destroy());
    await new Promise<void>((done) => living.listen(join(folder, 'fedcba9876543210.sock'), done));
    onTestFinished(() => void living.close());
    const files = ['worker.json', 'lastWorker.json', `worker.json.${process.pid}.00ff00ff.new`];
    const left = ['worker.json', 'uses.json', 'children-1.json'].map((name) => `${name}.${NOBODY}.00ff00ff.new`);
    for (const name of [...files, ...left]) writeFileSync(join(folder, name), '{');
    await sweepLeftovers(folder);
    expect(readdirSync(folder).sort()).toEqual([...files, 'fedcba9876543210.sock'].sort());
  });
});
