import { execFileSync } from 'node:child_process';
import * as files from 'node:fs/promises';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ArtifactFiles, fileNameOf } from '../../src/results/artifacts/artifactFile.ts';
import { type ArtifactDraft, ArtifactError, ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { textContent } from '../../src/results/envelope/partContent.ts';
import { LongText } from '../../src/text/longText.ts';
import { until } from '../support/hostProcess.ts';

let root: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'waygate-artifacts-'));
  folder = join(root, 'artifacts');
});
afterEach(() => rm(root, { recursive: true, force: true }));

function draft(text: string, more: Partial<ArtifactDraft> = {}): ArtifactDraft {
  const content = textContent(text);
  return {
    kind: 'text',
    source: 'fs:read#1',
    content,
    mediaType: 'text/plain',
    label: 'a file',
    owner: 'workspace',
    ...more,
  };
}

async function textOf(store: ArtifactStore, handle: string, owners?: string[]): Promise<string | undefined> {
  const reader = await store.open(handle, owners);
  if (!reader) return undefined;
  const bytes = await reader.read(0, reader.info.size);
  await reader.close();
  return bytes.toString();
}

const artifactFiles = async (): Promise<string[]> => (await readdir(folder)).filter((name) => !name.startsWith('.'));

describe('an artifact', () => {
  it('is named by its content: two calls never share bytes, equal bytes share a name', () => {
    const store = new ArtifactStore();
    const [one, two, again] = ['first', 'second', 'first'].map((text) => store.hold(draft(text)).info);
    expect(one?.handle).toMatch(/^text:fs:read#1:[0-9a-f]{16}$/);
    expect(two?.handle).not.toBe(one?.handle);
    expect(again).toEqual(one);
  });

  it('is readable before and after its write to disk', async () => {
    const store = new ArtifactStore({ folder });
    const { info, saved } = store.hold(draft('here at once'));
    expect(await textOf(store, info.handle)).toBe('here at once');
    await saved();
    expect(await artifactFiles()).toEqual([fileNameOf('workspace', info.handle)]);
    expect(await textOf(store, info.handle)).toBe('here at once');
  });

  it('is written in the background', async () => {
    const store = new ArtifactStore({ folder });
    store.hold(draft('by itself'));
    await until('the file', async () => (await artifactFiles().catch(() => [])).length === 1);
  });

  it('survives a restart', async () => {
    const { info, saved } = new ArtifactStore({ folder }).hold(draft('still here\n'));
    await saved();
    const next = new ArtifactStore({ folder });
    const reader = await next.open(info.handle);
    expect(reader?.info).toEqual(info);
    expect(info).toMatchObject({ size: 11, lines: 1, mediaType: 'text/plain', label: 'a file' });
    await reader?.close();
    expect((await next.list(10)).map((listed) => listed.info)).toEqual([info]);
  });

  it('is in a file and a folder that only their owner can read', async () => {
    await mkdir(folder, { mode: 0o755 });
    const store = new ArtifactStore({ folder });
    const { info, saved } = store.hold(draft('private'));
    await saved();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, fileNameOf('workspace', info.handle)))).mode & 0o777).toBe(0o600);
  });

  it('opens only for its owner', async () => {
    const store = new ArtifactStore({ folder });
    const { info, saved } = store.hold(draft('mine', { owner: 'session:1' }));
    expect(await textOf(store, info.handle, ['session:2', 'workspace'])).toBeUndefined();
    await saved();
    expect(await textOf(store, info.handle, ['session:2', 'workspace'])).toBeUndefined();
    expect(await textOf(store, info.handle, ['session:1'])).toBe('mine');
  });

  it('is streamed if it is large, complete and in order', async () => {
    const store = new ArtifactStore({ folder });
    const text = Array.from({ length: 200_000 }, (_, i) => `line ${i} größer 👍`).join('\n');
    const info = await store.store(draft('', { content: textContent(new LongText([text, 'end'])) }));
    expect(await textOf(store, info.handle)).toBe(`${text}\nend`);
    expect(info.lines).toBe(200_001);
  });
});

describe('a handle', () => {
  it.each([
    '../../etc/passwd',
    '/etc/passwd',
    '..%2f..%2fetc%2fpasswd',
    'text:a\0b',
    'C:\\Windows\\win.ini',
    'con',
    'x::$DATA',
    '.',
    '',
    'a'.repeat(100_000),
  ])('that is a path opens nothing: %s', async (handle) => {
    const store = new ArtifactStore({ folder });
    await store.hold(draft('x')).saved();
    expect(await store.open(handle)).toBeUndefined();
  });

  it('does not follow a symbolic link in its place', async () => {
    const store = new ArtifactStore({ folder });
    const { info, saved } = store.hold(draft('real'));
    await saved();
    const file = join(folder, fileNameOf('workspace', info.handle));
    await writeFile(join(root, 'elsewhere'), await readFile(file));
    await rm(file);
    await symlink(join(root, 'elsewhere'), file);
    expect(await new ArtifactStore({ folder }).open(info.handle)).toBeUndefined();
  });

  it('opens no truncated file, and no file of another handle', async () => {
    const store = new ArtifactStore({ folder });
    const [one, two] = [store.hold(draft('one')), store.hold(draft('two'))];
    await store.flush();
    const [first, second] = [one, two].map(({ info }) => join(folder, fileNameOf('workspace', info.handle)));
    const whole = await readFile(first as string);
    await writeFile(first as string, whole.subarray(0, -3));
    await writeFile(second as string, whole);
    expect(await store.open(one.info.handle)).toBeUndefined();
    expect(await store.open(two.info.handle)).toBeUndefined();
  });
});

describe('artifact store', () => {
  it('keeps a limited number, and drops the oldest first', async () => {
    let now = 1_000_000;
    const store = new ArtifactStore({ folder, maxCount: 3, now: () => now });
    const held = ['a', 'b', 'c', 'd', 'e'].map((text) => store.hold(draft(text)).info.handle);
    await store.flush();
    now += 1;
    expect(await artifactFiles()).toHaveLength(3);
    expect(await Promise.all(held.map((handle) => textOf(store, handle)))).toEqual([
      undefined,
      undefined,
      'c',
      'd',
      'e',
    ]);
  });

  it('treats a requested artifact as new', async () => {
    const store = new ArtifactStore({ folder, maxCount: 2 });
    const first = store.hold(draft('a')).info.handle;
    store.hold(draft('b'));
    await store.flush();
    store.hold(draft('a'));
    await store.hold(draft('c')).saved();
    expect(await textOf(store, first)).toBe('a');
  });

  it('touches a renewed file on disk once, after the answers', async () => {
    const touched: string[] = [];
    const counting: ArtifactFiles = {
      ...files,
      utimes: (path, ...times) => {
        touched.push(String(path));
        return files.utimes(path, ...times);
      },
    };
    let now = 1_000_000;
    const store = new ArtifactStore({ folder, files: counting, now: () => now });
    const { handle } = store.hold(draft('a')).info;
    await store.flush();
    now += 5_000;
    for (let i = 0; i < 3; i++) store.hold(draft('a'));
    expect(touched).toEqual([]);
    await store.flush();
    const file = join(folder, fileNameOf('workspace', handle));
    expect(touched).toEqual([file]);
    expect((await stat(file)).mtimeMs).toBe(now);
  });

  it('opens a renewed artifact although its file is too old', async () => {
    let now = Date.now();
    const store = new ArtifactStore({ folder, maxAgeMs: 60_000, now: () => now });
    const { handle } = store.hold(draft('a')).info;
    await store.flush();
    now += 59_000;
    store.hold(draft('a'));
    now += 2_000;
    expect(await textOf(store, handle)).toBe('a');
  });

  it('writes an artifact again after its file was removed', async () => {
    const store = new ArtifactStore({ folder });
    const { handle } = store.hold(draft('a')).info;
    await store.flush();
    await rm(join(folder, fileNameOf('workspace', handle)));
    store.hold(draft('a'));
    await store.flush();
    store.hold(draft('a'));
    await store.flush();
    expect(await textOf(store, handle)).toBe('a');
  });

  it('keeps a limited number of bytes, including files of an earlier run', async () => {
    const earlier = new ArtifactStore({ folder });
    const handles = ['c', 'a', 'b'].map((text) => earlier.hold(draft(text.repeat(1_000))).info.handle);
    await earlier.flush();
    for (const [i, handle] of handles.entries()) {
      await utimes(join(folder, fileNameOf('workspace', handle)), 1_000 + i, 1_000 + i);
    }
    const store = new ArtifactStore({ folder, maxBytes: 2_800, maxAgeMs: Number.MAX_SAFE_INTEGER });
    handles.push(store.hold(draft('d'.repeat(1_000))).info.handle);
    await store.flush();
    const kept = await Promise.all(handles.map((handle) => textOf(store, handle)));
    expect(kept.map((text) => text?.[0])).toEqual([undefined, undefined, 'b', 'd']);
    expect(store.status().bytes).toBeLessThanOrEqual(2_800);
  });

  it('forgets expired artifacts, on disk and on request', async () => {
    let now = Date.now();
    const store = new ArtifactStore({ folder, maxAgeMs: 60_000, now: () => now });
    const { info } = store.hold(draft('old'));
    await store.flush();
    now += 61_000;
    expect(await store.open(info.handle)).toBeUndefined();
    await store.hold(draft('new')).saved();
    expect(await artifactFiles()).toHaveLength(1);
  });

  it('removes partial files of killed processes, and keeps those of running ones', async () => {
    await mkdir(folder);
    const dead = execFileSync(process.execPath, ['-p', 'process.pid']).toString().trim();
    await writeFile(join(folder, `.${dead}-0123456789abcdef.part`), 'half');
    await writeFile(join(folder, `.${process.ppid}-0123456789abcdef.part`), 'half');
    await new ArtifactStore({ folder }).hold(draft('x')).saved();
    const parts = (await readdir(folder)).filter((name) => name.startsWith('.'));
    expect(parts).toEqual([`.${process.ppid}-0123456789abcdef.part`]);
  });

  it('can be shared by an old and a new worker', async () => {
    const [old, young] = [new ArtifactStore({ folder }), new ArtifactStore({ folder })];
    await young.hold(draft('from the new one')).saved();
    const { info, saved } = old.hold(draft('from the old one'));
    await saved();
    expect(await textOf(young, info.handle)).toBe('from the old one');
  });

  it('keeps a limited number of bytes in memory, and drops the oldest first', async () => {
    const store = new ArtifactStore({ maxBytes: 2_500 });
    const handles = ['a', 'b', 'c'].map((text) => store.hold(draft(text.repeat(1_000))).info.handle);
    const kept = await Promise.all(handles.map((handle) => textOf(store, handle)));
    expect(kept.map((text) => text?.[0])).toEqual([undefined, 'b', 'c']);
    expect(store.status().bytes).toBe(2_000);
  });

  it('keeps artifacts in memory if it has no folder', async () => {
    const store = new ArtifactStore();
    const info = await store.store(draft('x'.repeat(1_000)));
    expect(await textOf(store, info.handle)).toHaveLength(1_000);
    expect(store.status()).toEqual({ count: 1, bytes: 1_000, faults: 0 });
  });
});

describe('a disk error', () => {
  const full: ArtifactFiles = {
    ...files,
    open: async (path, ...rest) => {
      const file = await files.open(path, ...rest);
      if (!String(path).endsWith('.part')) return file;
      return Object.assign(Object.create(file) as typeof file, {
        write: () => Promise.reject(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })),
        close: () => file.close(),
      });
    },
  };

  it('fails only the one write, with a sentence without a path, and leaves no file', async () => {
    const store = new ArtifactStore({ folder, files: full });
    const failure = await store.store(draft('x'.repeat(10_000))).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ArtifactError);
    expect((failure as Error).message).toBe(
      'The state folder of Waygate is on a full disk (ENOSPC), so this was not kept on disk.',
    );
    expect(await readdir(folder)).toEqual([]);
    expect(store.status().faults).toBe(1);
  });

  it('leaves small artifacts readable while the process runs', async () => {
    const store = new ArtifactStore({ folder, files: full });
    const { info, saved } = store.hold(draft('small'));
    await expect(saved()).rejects.toThrow(ArtifactError);
    expect(await textOf(store, info.handle)).toBe('small');
    await store.flush();
  });

  it('names a folder that cannot be created', async () => {
    await writeFile(folder, 'a file in its place');
    await expect(new ArtifactStore({ folder }).store(draft('x'))).rejects.toThrow(ArtifactError);
  });

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)('is reported on a full disk', async (context) => {
    await mkdir(folder);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' });
    } catch {
      context.skip();
    }
    try {
      const store = new ArtifactStore({ folder });
      const kept = await store.store(draft('a'.repeat(400_000)));
      await expect(store.store(draft('b'.repeat(900_000)))).rejects.toThrow(/full disk \(ENOSPC\)/);
      expect(await textOf(store, kept.handle)).toHaveLength(400_000);
      const after = await store.store(draft('c'.repeat(400_000)));
      expect(await textOf(store, after.handle)).toHaveLength(400_000);
    } finally {
      execFileSync('umount', [folder]);
    }
  });
});
