import { expect, it } from 'vitest';
import type { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { LiveCatalog, type LiveCatalogOptions } from '../../src/worker/gateway/liveCatalog.ts';

it('waits for a server without tools to show, and not for a changed one that shows its earlier tools', async () => {
  const started: string[] = [];
  const starting = (name: string, tools: readonly object[]) => ({
    state: 'starting',
    isKnown: false,
    catalog: { tools },
    start: () => {
      started.push(name);
      return Promise.resolve();
    },
  });
  const connections = [starting('new', []), starting('changed', [{ name: 'echo' }])] as unknown as ServerConnection[];
  const options = { pool: { connections } } as unknown as LiveCatalogOptions;
  await new LiveCatalog(options).settled(60_000, new AbortController().signal);
  expect(started).toEqual(['new']);
});
