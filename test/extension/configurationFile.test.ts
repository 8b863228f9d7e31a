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
  it('knows nothing before its first check', () => {
    expect(file.state.value).toEqual({ known: false, hash: undefined });
  });

  it('reports when the file is absent, created, changed and deleted', async () => {
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

  it('treats an unreadable file as present; the worker reports its error', async () => {
    await mkdir(file.path, { recursive: true });
    expect(await file.check()).toEqual({ known: true, hash: 'unreadable' });
  });

  it('treats the file as absent when .vscode is a file', async () => {
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

describe('the user’s own file and the workspace’s file', () => {
  const of = (hash: string | undefined, known = true) => ({ known, hash });

  it('are one configuration: present if either is present, changed if either has changed', () => {
    expect(together(of(undefined), of(undefined))).toEqual(of(undefined));
    // A user's file that never existed must not hide the workspace's file.
    expect(together(of(undefined), of('a'))).toEqual(of('a'));
    expect(together(of('a'), of(undefined))).toEqual(of('a'));
    const both = together(of('a'), of('b'));
    expect(both.hash).toMatch(/^[0-9a-f]{12}$/);
    expect(together(of('c'), of('b')).hash).not.toBe(both.hash);
    expect(together(of('a'), of('c')).hash).not.toBe(both.hash);
  });

  it('are known once both have been checked', () => {
    expect(together(of(undefined, false), of('a')).known).toBe(false);
    expect(together(of(undefined), of('a', false)).known).toBe(false);
  });
});
