import { describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/config/gatewayConfig.ts';
import { keptRoutes } from '../../../src/modes/passthrough/toolRoutes.ts';
import { CatalogView } from '../../../src/modes/shared/catalog/catalogView.ts';
import type { ServerConnection } from '../../../src/upstream/connection/serverConnection.ts';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } });

/** Returns a server with its list, as far as routes look at it. */
function serving(name: string, ...tools: string[]) {
  const config = { name, type: 'stdio', command: 'x', args: [] } as unknown as ServerConfig;
  const listed = tools.map(tool);
  return { config, tools: listed, listedTools: listed } as unknown as ServerConnection;
}

const viewOf = (servers: readonly ServerConnection[]) =>
  CatalogView.build(
    servers.map(({ config, tools }) => ({ server: config.name, tools }) as never),
    1,
  );

describe('the routes of passthrough mode', () => {
  it('are made again after a change of the catalog, of a list or of the servers, and not for each call', () => {
    let servers = [serving('a', 'read')];
    let view = viewOf(servers);
    let several = false;
    const routes = keptRoutes({ view: () => view, connections: () => servers, hasSeveralServers: () => several });
    const first = routes();
    expect(first.find('read')?.upstreamName).toBe('read');
    expect(routes()).toBe(first);

    view = viewOf(servers);
    const second = routes();
    expect(second).not.toBe(first);

    Object.assign(servers[0] as object, { tools: [tool('read')] });
    const third = routes();
    expect(third).not.toBe(second);

    servers = [...servers, serving('b', 'write')];
    view = viewOf(servers);
    expect(routes().find('write')?.server).toBe('b');

    several = true;
    expect(routes().find('write')).toBeUndefined();
    expect(routes().find('b__write')?.server).toBe('b');
    expect(routes()).toBe(routes());
  });
});
