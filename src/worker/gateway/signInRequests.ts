import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { SecretMissingError } from '../../config/secretReferences.ts';
import type { ControlHandlers } from '../../control/channel.ts';
import { didYouMean } from '../../text/nearest.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { ServerPool } from '../../upstream/connection/serverPool.ts';
import { SignInError, type SignIns } from '../../upstream/connection/signIns.ts';

export type SignInRequests = Pick<ControlHandlers, 'signIn' | 'signInEnd' | 'signOut'>;

/** How the editor and the command line have a person signed in to a server, and out again. */
export function signInRequests(
  signIns: SignIns,
  pool: ServerPool,
  follow: (config: ServerConfig) => Promise<ServerConfig>,
): SignInRequests {
  return {
    signIn: ({ server }) => answered(async () => ({ url: await signIns.begin(serverCalled(server, pool)) })),
    signInEnd: async ({ server }) => {
      const reason = await signIns.ended(server);
      return reason === undefined ? {} : { reason };
    },
    signOut: ({ server }) =>
      answered(async () => {
        const connection = serverCalled(server, pool);
        const config = await follow(connection.config);
        if (config.type === 'stdio' || config.type === 'static') return { wasSignedIn: false };
        return { wasSignedIn: await signIns.signOut(connection, config) };
      }),
  };
}

/** What a person can be told in a sentence is an answer; all else is a fault. */
async function answered<T>(run: () => Promise<T>): Promise<T | { reason: string }> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SignInError || error instanceof SecretMissingError) return { reason: error.message };
    throw error;
  }
}

function serverCalled(name: string, pool: ServerPool): ServerConnection {
  const connection = pool.get(name);
  if (connection) return connection;
  const known = pool.connections.map(({ config }) => config.name);
  const remedy = didYouMean(name, known, known.length > 1 ? undefined : `there is ${known[0] ?? 'none'}.`);
  throw new SignInError(`There is no server "${name}"; ${remedy}`);
}
