import { describe, expect, it, onTestFinished } from 'vitest';
import type { StaticServerConfig } from '../../src/config/gatewayConfig.ts';
import { deferred } from '../../src/lib/deferred.ts';
import { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { staticLink } from '../../src/upstream/transports/staticLink.ts';

const WAIT = { timeoutMs: 20_000 };
const MAX = 16;

/** Connects a server in this process, shared by session. Starts wait for `gate`. */
function connect(gate: Promise<void> = Promise.resolve()): ServerConnection {
  const listing = { tools: [{ listed: { name: 'a', inputSchema: { type: 'object' } } }], resources: [], prompts: [] };
  const config: StaticServerConfig = {
    name: 'one',
    type: 'static',
    listing,
    sharing: 'session',
    disabled: false,
    keepAlive: false,
    location: { file: 'waygate.json', line: 1, column: 1 },
  };
  const openLink = async (given: unknown) => {
    await gate;
    return staticLink(given as StaticServerConfig);
  };
  const events = { onChange: () => undefined, log: () => undefined, scrubSecrets: (text: string) => text };
  const connection = new ServerConnection(config, { openLink }, events);
  onTestFinished(() => connection.stop());
  return connection;
}

describe('connections of sessions', () => {
  it('are at most 16; the one that was not used for longest ends first', async () => {
    const connection = connect();
    const sessions = Array.from({ length: MAX }, () => ({}));
    const call = (session: object) => connection.call('a', {}, { ...WAIT, origin: { session } });
    for (const session of sessions) await call(session);
    await call(sessions[0] as object);
    expect(connection.withSessions).toHaveLength(1 + MAX);
    const [, second] = connection.withSessions;
    await call({});
    expect(connection.withSessions).toHaveLength(1 + MAX);
    expect(connection.withSessions).not.toContain(second);
    expect(connection.withSessions.map(({ session }) => session)).toContain(sessions[0]);
  });

  it('refuse one more while all have calls', async () => {
    const gate = deferred<void>();
    const connection = connect(gate.promise);
    const call = () => connection.call('a', {}, { ...WAIT, origin: { session: {} } });
    const calls = Array.from({ length: MAX }, call);
    await expect(call()).rejects.toThrow('too many client sessions');
    gate.resolve();
    await Promise.all(calls);
  });

  it('end with the session, and with a removed entry', async () => {
    const connection = connect();
    const [a, b] = [{}, {}];
    for (const session of [a, b]) await connection.call('a', {}, { ...WAIT, origin: { session } });
    connection.endSession(a);
    expect(connection.withSessions.map(({ session }) => session)).toEqual([undefined, b]);
    await connection.retire(() => undefined);
    expect(connection.withSessions).toHaveLength(1);
  });
});
