import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildCatalog } from '../../src/catalog/catalog.ts';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { scrubSecrets } from '../../src/secrets/mask.ts';
import { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { bench, resultOf } from './support.ts';

/** Runs the pipeline against a real server over stdio, for the types and codes of real errors. */
describe('a call of a real server', () => {
  let folder: string;
  let journal: ChildJournal;
  let connection: ServerConnection;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'waygate-dispatch-'));
    journal = new ChildJournal(folder);
    const config: StdioServerConfig = {
      name: 'fixture',
      type: 'stdio',
      command: process.execPath,
      args: [join(import.meta.dirname, '../fixtures/server.mjs')],
      env: {},
      cwd: folder,
      disabled: false,
      keepAlive: false,
      location: { file: '', line: 1, column: 1 },
    };
    connection = new ServerConnection(
      config,
      { openLink: async (_, events) => new StdioLink(config, journal, events) },
      { onChange: () => undefined, log: () => undefined, scrubSecrets },
    );
    await connection.start();
  });

  afterEach(async () => {
    await connection.stop();
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function benchOf(config: Parameters<typeof bench>[1] = {}) {
    const { byId } = buildCatalog([{ server: 'fixture', tools: connection.tools }]);
    const idOf = (name: string): string => [...byId.keys()].find((id) => id.startsWith(`fixture:${name}#`)) as string;
    return { ...bench(byId, config, { upstream: () => connection }), idOf };
  }

  it("returns results, and passes on the tool's own errors", async () => {
    const { run, idOf, firewalled } = benchOf();
    expect(resultOf(await run(idOf('echo'), { text: 'hello' })).text).toBe('hello');
    await run(idOf('fails'), {});
    expect(firewalled[1]).toMatchObject({ isError: true });
  });

  it('has an unknown outcome if the server ends during the call', async () => {
    const { fail, idOf } = benchOf();
    expect(await fail(idOf('crash'), {})).toMatchObject({
      error: 'UPSTREAM_UNAVAILABLE',
      retryable: false,
      details: { outcome: 'unknown' },
    });
  });

  it('ends at its deadline', async () => {
    const { fail, idOf } = benchOf({ timeouts: { default: 0.1, servers: {}, tools: {} } });
    expect(await fail(idOf('wait'), { ms: 60_000 })).toMatchObject({
      error: 'UPSTREAM_TIMEOUT',
      details: { outcome: 'unknown' },
    });
  });

  it('is not sent to a server that cannot be started, and says so', async () => {
    const { fail, idOf } = benchOf();
    const id = idOf('echo');
    await connection.stop();
    expect(await fail(id, { text: 'x' })).toMatchObject({
      error: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      details: { outcome: 'not_dispatched' },
    });
  });
});
