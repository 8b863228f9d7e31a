import { AuthorizationServer } from '../../support/authorizationServer.ts';
import { bundled } from '../../support/bundledFixtures.ts';
import { until } from '../../support/hostProcess.ts';
import { HttpProcess } from '../../support/httpProcess.ts';
import { atEnd } from '../../support/lifetime.ts';

/** Starts a server that wants a sign-in, and returns its address. `options` are those of its authorization server. */
export async function guardedServer(options?: Parameters<typeof AuthorizationServer.start>[0]): Promise<string> {
  const issuer = await AuthorizationServer.start(options);
  atEnd(() => issuer.close());
  const says = JSON.stringify({ resource: '{here}/mcp', authorization_servers: [issuer.issuer] });
  const server = new HttpProcess([bundled('httpServer.mjs'), '--issuer', issuer.issuer, '--says', says], {
    ...process.env,
  });
  return `http://127.0.0.1:${await until('the port', () => /^\d+/.exec(server.stdout)?.[0])}/mcp`;
}
