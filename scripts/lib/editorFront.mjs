// Runs the VS Code server build with the parts that it expects in front of it. Run as: editorFront.mjs SERVER_MAIN [option …]
//
// The workbench keeps secrets in the browser, under a key of which half comes from the server (POST /mint-key). The build
// does not serve that address. Without it, storing a secret takes seconds and the secret is lost with the page.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const [serverMain = '', ...options] = process.argv.slice(2);
// The build reads its options from argv, and starts its own server unless code-server is its parent.
process.argv = [process.execPath, serverMain, ...options];
process.env.CODE_SERVER_PARENT_PID = String(process.pid);
const { loadCodeWithNls } = await import(pathToFileURL(serverMain).href);
delete process.env.CODE_SERVER_PARENT_PID;

const string = /** @type {const} */ ({ type: 'string' });
const { values } = parseArgs({
  args: options,
  strict: false,
  options: { host: string, port: string, 'server-data-dir': string, 'connection-token-file': string },
});
const option = (/** @type {keyof typeof values} */ name) => /** @type {string} */ (values[name]);
const tokenFile = option('connection-token-file');
const keyFile = join(option('server-data-dir'), 'serve-web-key-half');

function keyHalf() {
  try {
    writeFileSync(keyFile, randomBytes(32), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
  return readFileSync(keyFile);
}

/** Checks the cookie that the build sets for a client with the token. @param {import('node:http').IncomingMessage} request */
function isLetIn({ headers }) {
  if (tokenFile === undefined) return true;
  const shown = Buffer.from(/(?:^|; )vscode-tkn=([^;]*)/.exec(headers.cookie ?? '')?.[1] ?? '');
  const token = Buffer.from(readFileSync(tokenFile, 'utf8').trim());
  return shown.length === token.length && timingSafeEqual(shown, token);
}

const editor = (await loadCodeWithNls()).createServer(null);
const server = createServer(async (request, response) => {
  if (request.method !== 'POST' || request.url !== '/mint-key') return (await editor).handleRequest(request, response);
  if (!isLetIn(request)) return response.writeHead(403).end();
  return response.end(keyHalf());
});
server.on('upgrade', async (request, socket) => (await editor).handleUpgrade(request, socket));
await editor;
server.listen(Number(option('port')), option('host'), () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`Listening on ${address.port}`);
});
process.on('exit', () => server.close());
