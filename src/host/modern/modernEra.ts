import { HttpClients, type HttpClientsOptions } from './httpClients.ts';
import { StdioClient, type StdioClientOptions } from './stdioClient.ts';

/**
 * Entry of the bundle for revision 2026-07-28, which a host loads with the first message of this revision. Most clients
 * speak an earlier one, and their hosts stay as small as they were.
 */
export function serveModernStdio(options: StdioClientOptions): Promise<number> {
  return new StdioClient(options).run();
}

export function openModernHttp(options: HttpClientsOptions): HttpClients {
  return new HttpClients(options);
}
