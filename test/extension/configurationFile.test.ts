import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CONFIGURATION_TEMPLATE,
  ConfigurationFile,
  together,
} from '../../src/extension/configuration/configurationFile.ts';
import { configurationHash } from '../../src/extension/gateway/serverDefinition.ts';

let workspace: string;
let file: ConfigurationFile;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'waygate-editor-'));
  file = new ConfigurationFile(join(workspace, '.vscode', 'waygate.json'));
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

describe('ConfigurationFile', () => {
  it('knows nothing before it has looked', () => {
    expect(file.state.value).toEqual({ known: false, hash: undefined });
  });

  it('tells when the file is absent, comes, changes and goes', async () => {
    const seen: (string | undefined)[] = [];
    file.state.onChange(({ hash }) => seen.push(hash));
    await file.check();
    await mkdir(dirname(file.path));
    for (const text of ['{}', '{}', '{ }']) {
      await writeFile(file.path, text);
      await file.check();
    }
    await rm(file.path);
    await file.check();
    expect(seen).toEqual([
      undefined,
      configurationHash(Buffer.from('{}')),
      configurationHash(Buffer.from('{ }')),
      undefined,
    ]);
  });

  it('takes a file that cannot be read for present: the worker says what is wrong with it', async () => {
    await mkdir(file.path, { recursive: true });
    expect(await file.check()).toEqual({ known: true, hash: 'unreadable' });
  });

  it('takes it for absent when .vscode is a file', async () => {
    await writeFile(dirname(file.path), '');
    expect(await file.check()).toEqual({ known: true, hash: undefined });
  });

  it('creates the template, and never overwrites', async () => {
    expect(await file.create()).toBe(true);
    expect(await readFile(file.path, 'utf8')).toBe(CONFIGURATION_TEMPLATE);
    expect(file.state.value.hash).toBe(configurationHash(Buffer.from(CONFIGURATION_TEMPLATE)));
    await writeFile(file.path, 'mine');
    expect(await file.create()).toBe(false);
    expect(await readFile(file.path, 'utf8')).toBe('mine');
  });
});

describe('the person’s own file and the workspace’s', () => {
  const of = (hash: string | undefined, known = true) => ({ known, hash });

  it('are one configuration: there when either is, changed when either has', () => {
    expect(together(of(undefined), of(undefined))).toEqual(of(undefined));
    // A door that is open to the workspace's file does not close for a file that was never there.
    expect(together(of(undefined), of('a'))).toEqual(of('a'));
    expect(together(of('a'), of(undefined))).toEqual(of('a'));
    const both = together(of('a'), of('b'));
    expect(both.hash).toMatch(/^[0-9a-f]{12}$/);
    expect(together(of('c'), of('b')).hash).not.toBe(both.hash);
    expect(together(of('a'), of('c')).hash).not.toBe(both.hash);
  });

  it('are known once both have been looked for', () => {
    expect(together(of(undefined, false), of('a')).known).toBe(false);
    expect(together(of(undefined), of('a', false)).known).toBe(false);
  });
});
