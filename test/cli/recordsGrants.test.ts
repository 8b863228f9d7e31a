import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { embeddedOptions } from '../../src/cli/commands/records/defaultProvider.ts';
import { recordsGrants } from '../../src/cli/commands/records/recordsGrants.ts';
import type { RecordsGrantsCommand } from '../../src/cli/commands.ts';
import { EmbeddedProvider } from '../../src/records/embedded/embeddedProvider.ts';
import { grantFile, readGrants } from '../../src/records/embedded/grants/grantFile.ts';
import { temporaryFolder } from '../support/workspace.ts';

function setUp() {
  const root = temporaryFolder('waygate-grants-');
  const workspace = join(root, 'workspace');
  const home = join(root, 'home');
  for (const folder of [workspace, home]) mkdirSync(folder);
  vi.stubEnv('WAYGATE_STATE_DIR', join(root, 'state'));
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const printed: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  onTestFinished(() => spy.mockRestore());
  const run = async (
    action: RecordsGrantsCommand['action'],
    subject = '',
    more: Partial<RecordsGrantsCommand> = {},
  ) => {
    printed.length = 0;
    const limits = { since: undefined, until: undefined, expires: undefined };
    const code = await recordsGrants({ workspace, json: false, action, subject, streams: [], ...limits, ...more });
    return { code, text: printed.join('') };
  };
  const options = () => embeddedOptions({ workspace });
  return { root, workspace, home, run, options };
}

describe('waygate records', () => {
  it('lists what can be granted, and grants nothing by that', async () => {
    const { run, options, home } = setUp();
    mkdirSync(join(home, '.claude/projects/p'), { recursive: true });
    writeFileSync(join(home, '.claude/projects/p/s.jsonl'), '');
    const { text } = await run('sources');
    expect(text).toContain('history  granted');
    expect(text).toContain('agents  not granted  claude-code 1 log, codex 0 logs, copilot-cli 0 logs');
    expect(readGrants(options().stateFolder).grants.map(({ connection }) => connection)).toEqual(['history']);
  });

  it('grants streams, fields and times, in a file of the user alone', async () => {
    const { run, options } = setUp();
    const limits = { streams: ['sessions', 'turns=role,text'], since: '2026-01-01', expires: '7d' };
    const { text } = await run('grant', 'agents', limits);
    expect(text).toContain('Granted agents: sessions; turns (role, text), from 2026-01-01T00:00:00.000Z');
    const { stateFolder } = options();
    const agents = readGrants(stateFolder).grants.find(({ connection }) => connection === 'agents');
    expect(agents).toMatchObject({
      streams: [
        { name: 'sessions', fields: 'all' },
        { name: 'turns', fields: ['role', 'text'] },
      ],
      since: '2026-01-01T00:00:00.000Z',
    });
    expect(Date.parse(String(agents?.expires)) - Date.now()).toBeGreaterThan(6 * 86_400_000);
    if (process.platform !== 'win32') expect(statSync(grantFile(stateFolder)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['no stream', 'agents', { streams: ['thoughts'] }, /no stream thoughts; the streams are sessions, turns/],
    ['no field', 'agents', { streams: ['turns=words'] }, /turns has no field words; its fields are id, at/],
    ['no time', 'agents', { since: 'yesterday' }, /--since takes a time/],
    ['an end before the beginning', 'agents', { since: '1d', until: '2d' }, /--since must be before --until/],
    ['an end in the past', 'agents', { expires: '2020-01-01' }, /--expires is in the past/],
    ['no folder', 'nowhere', {}, /nowhere is not there; name history, agents or a folder/],
    ['nothing', '', {}, /needs a source/],
  ])('refuses %s', async (_, subject, more, message) => {
    const { run, options } = setUp();
    await expect(run('grant', subject, more)).rejects.toThrow(message);
    expect(readGrants(options().stateFolder).grants.map(({ connection }) => connection)).toEqual(['history']);
  });

  it('keeps the real path of a folder, and removes its records when it is revoked', async () => {
    const { root, run, options, workspace } = setUp();
    mkdirSync(join(root, 'data'));
    writeFileSync(join(root, 'data', 'people.csv'), 'id,name\na,Marguerite\n');
    symlinkSync(join(root, 'data'), join(workspace, 'link'));
    await run('grant', 'link');
    const granted = readGrants(options().stateFolder).grants.find(({ source }) => source.kind === 'folder');
    expect(granted).toMatchObject({ source: { path: join(root, 'data'), name: 'data' } });
    const provider = new EmbeddedProvider(options());
    await provider.refresh();
    await provider.dispose();
    expect((await run('status')).text).toMatch(/folder-data-\w+ holds people 1/);
    const { text } = await run('revoke', '../data');
    expect(text).toMatch(/Revoked folder-data-\w+, and removed its records/);
    const file = join(options().stateFolder, 'records.db');
    expect(readFileSync(file).includes('Marguerite')).toBe(false);
    expect((await run('status')).text).not.toContain('people');
  });

  it('changes no damaged grants', async () => {
    const { run, options } = setUp();
    const file = grantFile(options().stateFolder);
    writeFileSync(file, '{"version":2}', { mode: 0o600 });
    await expect(run('grant', 'agents')).rejects.toThrow(/is damaged; remove it/);
    expect(readFileSync(file, 'utf8')).toBe('{"version":2}');
    const { code, text } = await run('status');
    expect(code).toBe(1);
    expect(text).toContain('No record can be read');
  });
});
