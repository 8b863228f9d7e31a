import type { Refreshed } from '../../control/activityContract.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

/** Lists a server again, and returns what has changed of its tools. Never rejects. */
export async function refreshed(connection: ServerConnection, refresh: () => Promise<void>): Promise<Refreshed> {
  const before = toolsOf(connection);
  await refresh();
  const after = toolsOf(connection);
  const { state, reason } = connection;
  const isListed = state === 'ready' && reason === undefined;
  return {
    server: connection.config.name,
    added: [...after.keys()].filter((name) => !before.has(name)).length,
    removed: [...before.keys()].filter((name) => !after.has(name)).length,
    changed: [...after].filter(([name, tool]) => before.has(name) && before.get(name) !== tool).length,
    ...(!isListed && { reason: reason ?? `It is ${state.replaceAll('_', ' ')}.` }),
  };
}

function toolsOf({ listed }: ServerConnection): Map<string, string> {
  return new Map(listed.tools.map((tool) => [isRecord(tool) ? String(tool.name) : '', JSON.stringify(tool)]));
}
