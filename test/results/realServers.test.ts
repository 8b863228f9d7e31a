import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { type AdmittedResult, Firewall } from '../../src/results/firewall.ts';

/** Runs results of popular servers, with every kind of content, through the firewall. */

const require = createRequire(import.meta.url);
const entryOf = (name: string): string =>
  join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), 'dist/index.js');

let folder: string;
let store: ArtifactStore;
const clients: Client[] = [];

async function start(name: string, args: readonly string[], env: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'firewall-test', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [entryOf(name), ...args], env, stderr: 'ignore' }),
  );
  clients.push(client);
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<AdmittedResult> {
  const result = await client.callTool({ name, arguments: args });
  const admitted = await new Firewall({ store }).admit(result, { toolId: `real:${name}#0`, upstreamName: name });
  // The passed-on result must be valid for any client.
  CallToolResultSchema.parse({ content: [{ type: 'text', text: admitted.text }, ...admitted.parts] });
  for (const { handle, size_bytes: size, content_hash: hash } of (await admitted.envelope()).artifacts) {
    const reader = await store.open(handle);
    expect(reader?.info).toMatchObject({ size, sha256: hash });
    await reader?.close();
  }
  return admitted;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waygate-real-'));
  store = new ArtifactStore({ folder: join(folder, 'artifacts') });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await store.flush();
  await rm(folder, { recursive: true });
});

describe('server-everything', () => {
  let everything: Client;
  beforeAll(async () => {
    everything = await start('server-everything', ['stdio']);
  });

  it('returns text', async () => {
    expect((await call(everything, 'echo', { message: 'hi' })).text).toBe('ok · data from real\nEcho: hi\nend of data');
  });

  it('returns an error', async () => {
    const failed = await call(everything, 'echo', {});
    expect(failed.isError).toBe(true);
    expect(failed.text).toMatch(/^Error UPSTREAM_ERROR · data from real\n/);
  });

  it('returns an image', async () => {
    const { text, parts } = await call(everything, 'get-tiny-image', {});
    expect(parts).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect(text).toMatch(/image \(image\/png, [\d,]+ bytes\) attached, kept as image:real:get-tiny-image#0:/);
  });

  it('returns links', async () => {
    const { text, parts } = await call(everything, 'get-resource-links', { count: 4 });
    const links = parts.filter((part) => part.type === 'resource_link');
    expect(links).toHaveLength(4);
    for (const link of links) {
      expect(link).toMatchObject({ annotations: { audience: ['user'] } });
      expect(text).toContain(`<${link.uri}>`);
    }
  });

  it('returns an embedded resource of text, and one of bytes', async () => {
    for (const resourceType of ['Text', 'Blob']) {
      const { parts, envelope } = await call(everything, 'get-resource-reference', { resourceType, resourceId: 2 });
      expect(parts).toMatchObject([{ type: 'resource', annotations: { audience: ['user'] } }]);
      expect((await envelope()).artifacts.map(({ handle }) => handle.split(':')[0])).toEqual(['resource', 'text']);
    }
  });

  it('returns a created file', async () => {
    const data = `data:text/plain;base64,${Buffer.from('words '.repeat(500)).toString('base64')}`;
    const { text } = await call(everything, 'gzip-file-as-resource', { name: 'w.gz', data, outputType: 'resource' });
    expect(text).toMatch(/^ok · data from real\n[\s\S]*application\/gzip/);
  });

  it('returns annotated parts', async () => {
    const { parts, envelope, text } = await call(everything, 'get-annotated-message', {
      messageType: 'success',
      includeImage: true,
    });
    expect((await envelope()).provenance.content_annotations).toMatchObject([
      { part_index: 0, audience: ['user'] },
      { part_index: 1, audience: ['user'] },
    ]);
    expect(parts.map((part) => part.type)).toEqual(['image', 'text']);
    expect(text).toContain('1 text part for the user alone');
  });

  it('returns structured content', async () => {
    const { text, envelope } = await call(everything, 'get-structured-content', { location: 'New York' });
    expect(text).toMatch(/^ok · data from real\n\{.*temperature/);
    expect((await envelope()).artifacts.map(({ media_type: type }) => type)).toEqual([
      'application/json',
      'text/plain',
    ]);
    expect((await envelope()).facts).toContain('temperature: 33');
  });
});

describe('server-filesystem', () => {
  it('returns a file that is too large to be shown, and an image file', async () => {
    const files = await mkdtemp(join(folder, 'files-'));
    await writeFile(
      join(files, 'table.csv'),
      `id,name\n${Array.from({ length: 5_000 }, (_, i) => `${i},Ann`).join('\n')}\n`,
    );
    await writeFile(join(files, 'dot.png'), Buffer.from('iVBORw0KGgo=', 'base64'));
    const filesystem = await start('server-filesystem', [files]);
    const table = await call(filesystem, 'read_text_file', { path: join(files, 'table.csv') });
    expect(table.text).toMatch(
      /^ok · data from real\nCSV, [\d,]+ characters: 5,000 rows of 2 columns\nid,name\n0,Ann\n/,
    );
    const image = await call(filesystem, 'read_media_file', { path: join(files, 'dot.png') });
    expect(image.parts).toMatchObject([{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }]);
  });
});

describe('server-memory', () => {
  it('returns a graph as text and as structure', async () => {
    const memory = await start('server-memory', [], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') });
    const entities = Array.from({ length: 3 }, (_, i) => ({ name: `n${i}`, entityType: 'note', observations: ['o'] }));
    const { text } = await call(memory, 'create_entities', { entities });
    expect(text).toMatch(/^ok · data from real\n/);
  });
});
