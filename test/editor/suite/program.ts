import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fixture } from './gateway.ts';

export interface Program {
  port: number;
  end(): void;
}

/** Starts a program of `test/fixtures` that serves on a port and prints the port on its first line. */
export async function startProgram(name: string, ...args: string[]): Promise<Program> {
  const child = spawn(process.execPath, [fixture(name), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), end: () => child.kill('SIGKILL') };
}
