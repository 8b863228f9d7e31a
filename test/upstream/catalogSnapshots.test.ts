import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CatalogSnapshots } from '../../src/upstream/listing/catalogSnapshots.ts';
import { KeptCatalog } from '../../src/upstream/listing/keptCatalog.ts';
import { NOTHING_LISTED, type ServerCatalog } from '../../src/upstream/listing/serverCatalog.ts';
import { stdioConfig } from '../support/connection.ts';
import { temporaryFolder } from '../support/workspace.ts';

const NOBODY = 2 ** 22 - 3;
const WRITES = 300;

/** Writes a server's snapshot repeatedly, reads it after each write, and prints what failed. */
const WRITER = `
const { CatalogSnapshots } = await import(${JSON.stringify(pathToFileURL(resolve('src/upstream/listing/catalogSnapshots.ts')).href)});
const said = new Set();
const snapshots = new CatalogSnapshots(process.argv[1], (line) => said.add(line));
const config = ${JSON.stringify(stdioConfig({ name: 'shared' }))};
const tools = Array.from({ length: 200 }, (_, i) => ({ name: 'tool' + i, inputSchema: { type: 'object' } }));
const catalog = { tools, resources: [], resourceTemplates: [], prompts: [], capabilities: {} };
process.stdin.once('data', () => {
  let unreadable = 0;
  for (let i = 0; i < ${WRITES}; i++) {
    snapshots.write(config, catalog);
    if (!snapshots.read(config)) unreadable += 1;
  }
  process.stdout.write(JSON.stringify({ said: [...said], unreadable }));
  process.exit();
});
process.stdout.write('ready ');
`;

describe('catalog snapshots', () => {
  it('are complete when two workers write the same one at once, as in a rollout', async () => {
    const folder = temporaryFolder('wg-snapshots-');
    const workers = [1, 2].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', WRITER, folder], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    onTestFinished(() => void workers.map((worker) => worker.kill('SIGKILL')));
    const outputs = workers.map((worker) => text(worker.stdout));
    await Promise.all(workers.map((worker) => once(worker.stdout, 'data')));
    for (const worker of workers) worker.stdin.write('go');
    expect(await Promise.all(outputs)).toEqual(Array(2).fill(`ready ${JSON.stringify({ said: [], unreadable: 0 })}`));
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('of removed servers and killed workers are deleted, but not those being written', () => {
    const folder = temporaryFolder('wg-snapshots-');
    const writing = `0123456789abcdef.json.${process.pid}.00ff00ff.new`;
    const names = ['fedcba9876543210.json', `0123456789abcdef.json.${NOBODY}.00ff00ff.new`, writing];
    for (const name of names) writeFileSync(join(folder, name), '{');
    new CatalogSnapshots(folder, () => undefined).keepOnly(['shared']);
    expect(readdirSync(folder)).toEqual([writing]);
  });

  it('that cannot be removed stay, and prevent neither the removal of others nor the start', () => {
    const folder = temporaryFolder('wg-snapshots-');
    // No program removes a folder as a file.
    mkdirSync(join(folder, 'a.json'));
    writeFileSync(join(folder, 'b.json'), '{');
    new CatalogSnapshots(folder, () => undefined).keepOnly([]);
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  it('are shown if the predecessor of a changed server was never listed', () => {
    const snapshots = new CatalogSnapshots(temporaryFolder('wg-snapshots-'), () => undefined);
    const config = stdioConfig({ name: 'shared' });
    const catalog = { ...NOTHING_LISTED, tools: [{ name: 'kept' }] };
    snapshots.write(config, catalog);
    const shown = (before?: ServerCatalog) => new KeptCatalog(config, snapshots, before).current.tools;
    expect(shown()).toEqual(catalog.tools);
    expect(shown(NOTHING_LISTED)).toEqual(catalog.tools);
    expect(shown({ ...catalog, tools: [{ name: 'earlier' }] })).toEqual([{ name: 'earlier' }]);
  });
});
