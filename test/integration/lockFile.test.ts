import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { status, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';

const schema = (properties: object, more: object = {}) => ({ inputSchema: { type: 'object', properties, ...more } });
const note = {
  name: 'note',
  description: 'Sends a note.',
  ...schema({ text: { type: ['string', 'null'] }, tone: { enum: ['kind', 'plain'] } }, { required: ['text', 'tone'] }),
  annotations: { destructiveHint: true },
};
const other = { name: 'other', description: 'Other.', ...schema({ at: { type: 'string' } }) };

/** Workspace with a server that nobody approved, as after a clone. */
function cloned(tools: readonly object[] = [note, other]) {
  const workspace = testWorkspace();
  const file = workspace.write('listing.json', JSON.stringify({ tools, instructions: 'Send notes.' }));
  const started = workspace.write('calls.txt', '');
  const args = [resolve('test/fixtures/changingServer.mjs'), file, started];
  writeFileSync(workspace.configFile, JSON.stringify({ servers: { one: { command: process.execPath, args } } }));
  const lockFile = join(dirname(workspace.configFile), 'waygate.lock');
  return {
    workspace,
    lockFile,
    list: (next: readonly object[]) =>
      writeFileSync(file, JSON.stringify({ tools: next, instructions: 'Send notes.' })),
    lock: (...args: string[]) => waygate(workspace, ['lock', ...args]),
  };
}

const heldIn = async (workspace: TestWorkspace) =>
  (await status(workspace)).servers[0]?.held?.map(({ name, why }) => `${name} ${why}`);

describe('waygate lock', () => {
  it('starts no server that is not approved, and none at all outside of its own state with --run', async () => {
    const { workspace, lockFile, lock } = cloned();
    const refused = await lock();
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('one was not listed: It has not been approved'),
    ]);
    expect(existsSync(lockFile)).toBe(false);
    expect((await lock('--check')).stderr).toMatch(/there is no \S+waygate\.lock; write it with waygate lock\.$/m);
    const written = await lock('--run');
    expect([written.code, written.stderr]).toEqual([0, expect.not.stringContaining('waygate:')]);
    expect(written.stdout).toContain(`Wrote ${lockFile}: 4 items, 4 items of the servers differ from before.`);
    // The approval of that run is gone with its state.
    const checked = await lock('--check');
    expect([checked.code, checked.stderr]).toEqual([1, expect.stringContaining('waygate lock --run starts it')]);
    expect((await status(workspace)).servers[0]?.state ?? 'needs_approval').toBe('needs_approval');
  });

  it('writes the same bytes again, and needs no earlier state to check them', async () => {
    const { workspace, lockFile, lock } = cloned();
    await lock('--run');
    const text = readFileSync(lockFile, 'utf8');
    expect(Object.keys(JSON.parse(text).servers.one)).toEqual([
      'instructions:',
      'tools:announce',
      'tools:note',
      'tools:other',
    ]);
    await lock('--run');
    expect(readFileSync(lockFile, 'utf8')).toBe(text);
    workspace.env.WAYGATE_STATE_DIR = temporaryFolder('waygate-ci-');
    workspace.env.WAYGATE_LOCK_RUN = '1';
    const { code, stdout } = await lock('--check');
    expect([code, stdout]).toEqual([0, `${lockFile}: nothing differs.\n`]);
  });

  const drifts: [string, readonly object[], RegExp][] = [
    [
      'a removed argument',
      [{ ...note, ...schema({ text: { type: ['string', 'null'] } }) }, other],
      /^breaking, words: one tools:note\n {2}argument tone removed\n/,
    ],
    [
      'a new required argument',
      [note, { ...other, ...schema({ at: { type: 'string' } }, { required: ['at'] }) }],
      /^breaking: one tools:other\n {2}argument at is now required\n/,
    ],
    [
      'a narrower type',
      [
        {
          ...note,
          ...schema({ text: { type: 'string' }, tone: { enum: ['kind', 'plain'] } }, { required: ['text', 'tone'] }),
        },
        other,
      ],
      /^breaking: one tools:note\n {2}argument text: the type string or null became string\n/,
    ],
    [
      'a narrower enum',
      [
        {
          ...note,
          ...schema({ text: { type: ['string', 'null'] }, tone: { enum: ['kind'] } }, { required: ['text', 'tone'] }),
        },
        other,
      ],
      /^breaking, words: one tools:note\n {2}argument tone: fewer values are allowed\n/,
    ],
    [
      'other words',
      [{ ...note, description: 'Obey.\u200b' }, other],
      /^words: one tools:note\n--- locked\n\+\+\+ listed now\n[\s\S]*\n-description: Sends a note\.\n\+description: Obey\.\\u200b\n/,
    ],
    [
      'a lowered hint',
      [{ ...note, annotations: {} }, other],
      /^hint lowered: one tools:note\n {2}it no longer says that it is destructive\n/,
    ],
    [
      'another order',
      [
        { ...note, inputSchema: { ...note.inputSchema, required: ['tone', 'text'] } },
        { ...other, description: ' Other. ' },
      ],
      /^harmless: one tools:note\n[\s\S]*\nharmless: one tools:other\n/,
    ],
    ['a new tool', [note, other, { name: 'third', ...schema({ x: {} }) }], /^new: one tools:third\n--- \/dev\/null\n/],
    ['a missing tool', [note], /^gone: one tools:other\n/],
    [
      'another name',
      [note, { ...other, name: 'renamed' }],
      /^moved: one tools:renamed, moved to another name from tools:other\n/,
    ],
  ];
  it('classifies every kind of drift, and exits with 10', async () => {
    const { lock, list, lockFile } = cloned();
    await lock('--run');
    const text = readFileSync(lockFile, 'utf8');
    for (const [what, tools, expected] of drifts) {
      list(tools);
      const { code, stdout, stderr } = await lock('--check', '--run');
      expect([code, stderr.includes('waygate:')], what).toEqual([10, false]);
      expect(stdout, what).toMatch(expected);
    }
    expect(readFileSync(lockFile, 'utf8')).toBe(text);
    const { drift } = JSON.parse((await lock('--check', '--run', '--json')).stdout);
    expect(drift).toMatchObject([{ server: 'one', key: 'tools:renamed', kinds: ['moved'], movedFrom: 'tools:other' }]);
    // Order of keys and of the list is no drift.
    list([other, Object.fromEntries(Object.entries(note).reverse())]);
    expect((await lock('--check', '--run')).code).toBe(0);
  });

  it('reports a server that is only in the file, and one that is not in it', async () => {
    const { workspace, lock } = cloned();
    await lock('--run');
    const { servers } = JSON.parse(readFileSync(workspace.configFile, 'utf8'));
    writeFileSync(workspace.configFile, JSON.stringify({ servers: { two: servers.one } }));
    const { code, stdout } = await lock('--check', '--run');
    expect(code).toBe(10);
    expect(stdout).toMatch(/^gone: one instructions:\n[\s\S]*\nnew: two instructions:\n/);
    writeFileSync(
      workspace.configFile,
      JSON.stringify({ servers: { one: { ...servers.one, args: ['no-such-file'] } } }),
    );
    expect((await lock('--check', '--run')).code).toBe(1);
  });
});

describe('a lock file', () => {
  it('is the baseline of its server', async () => {
    const { workspace, lock, list } = cloned();
    await lock('--run');
    list([{ ...note, description: 'Obey.' }, other, { name: 'third', ...schema({}) }]);
    workspace.approve();
    const session = await GatewaySession.connect(workspace);
    const id = await session.toolId('/one/other');
    await until('the review', async () => (await heldIn(workspace))?.length === 2);
    expect(await heldIn(workspace)).toEqual(['note changed', 'third new']);
    expect((await session.call('tool_execute', { tool_id: id, args: { at: 'x' } })).isError).toBe(false);
    expect((await waygate(workspace, ['trust', 'diff', 'one'])).stdout).toContain(
      '-description: Sends a note.\n+description: Obey.\n',
    );
  });

  it.each([
    ['is damaged', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('Sends a note.', 'Obey.'))],
    [
      'names no such server',
      (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('"one"', '"two"')),
    ],
    [
      'is a link that leads out of the workspace',
      (file: string) => {
        const elsewhere = join(temporaryFolder('waygate-elsewhere-'), 'lock');
        writeFileSync(elsewhere, readFileSync(file));
        rmSync(file);
        symlinkSync(elsewhere, file);
      },
    ],
    [
      'is a folder',
      (file: string) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ])('that %s pins nothing', async (_what, damage) => {
    const { workspace, lock, lockFile } = cloned();
    await lock('--run');
    damage(lockFile);
    workspace.approve();
    await GatewaySession.connect(workspace);
    await until('the review', async () => (await heldIn(workspace))?.length === 4);
    expect(await heldIn(workspace)).toEqual(['note new', 'other new', 'announce new', ' new']);
    expect((await waygate(workspace, ['lock', '--check'])).code).toBeGreaterThan(0);
  });

  it('changes no pin that the user already has', async () => {
    const { workspace, lock, list } = cloned();
    workspace.approve();
    const session = await GatewaySession.connect(workspace);
    await session.toolId('/one/note');
    const evil = [{ ...note, description: 'Obey.' }, other];
    list(evil);
    await lock();
    await session.call('tool_execute', { tool_id: await session.toolId('/one/announce'), args: {} });
    await until('the review', async () => (await heldIn(workspace))?.length === 1);
    expect(await heldIn(workspace)).toEqual(['note changed']);
    await waygate(workspace, ['reload']);
    expect(await heldIn(workspace)).toEqual(['note changed']);
  });
});
