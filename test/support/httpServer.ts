import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { bundled } from './bundledFixtures.ts';
import { atEnd } from './lifetime.ts';

export interface HttpServer {
  url: string;
  port: number;
  end(): Promise<void>;
}

/** Real MCP server over HTTP in its own process, stopped with the test. */
export function httpServer(...flags: string[]): Promise<HttpServer> {
  return startHttpServer(bundled('httpServer.mjs'), flags);
}

/** Real server of revision 2026-07-28 over HTTP in its own process, stopped with the test. */
export function modernHttpServer(...flags: string[]): Promise<HttpServer> {
  return startHttpServer(bundled('modernServer.mjs'), ['--http', ...flags]);
}

/** Starts any program that writes its port to stdout. */
export async function startHttpServer(program: string, flags: readonly string[]): Promise<HttpServer> {
  const child = spawn(process.execPath, [program, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = async (): Promise<void> => {
    if (hasEnded(child)) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  atEnd(end);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  const path = flags[flags.indexOf('--kind') + 1] === 'sse' ? 'sse' : 'mcp';
  return { url: `http://127.0.0.1:${port}/${path}`, port, end };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
