import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder, WAYGATE } from './workspace.ts';

const BUILD = /\b(\d+\.\d+\.\d+)\+\d{14}\b/g;

export interface BuildOptions {
  /** `yyyymmddhhmmss`; the build under test is older than 2099. */
  builtAt?: string;
  /** Replacement of the worker program; `real` is the path of the real one. Null for a missing program. */
  worker?: ((real: string) => string) | null;
}

/** Makes a modified copy of the shipped bundles; returns its `waygate`. */
export function otherBuild({ builtAt, worker }: BuildOptions): string {
  const folder = join(temporaryFolder('waygate-build-'), 'dist');
  const from = dirname(WAYGATE);
  cpSync(from, folder, { recursive: true, filter: (source) => !source.includes(`${from}/test`) });
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (builtAt === undefined || !name.endsWith('.cjs')) continue;
    writeFileSync(file, readFileSync(file, 'utf8').replace(BUILD, `$1+${builtAt}`));
  }
  const program = join(folder, 'worker.cjs');
  if (worker === null) rmSync(program);
  else if (worker) {
    const real = join(folder, 'realWorker.cjs');
    cpSync(program, real);
    writeFileSync(program, worker(real));
  }
  return join(folder, 'waygate.cjs');
}

/** Worker that is killed before or after the step that publishes its rendezvous file. */
export const killedAtTakeover = (when: 'before' | 'behind') => (real: string) =>
  `
const fs = require('node:fs');
const rename = fs.renameSync;
fs.renameSync = (from, to) => {
  const mine = /worker\\.json$/.test(String(to));
  if (!mine || ${JSON.stringify(when)} === 'behind') rename(from, to);
  if (mine) process.kill(process.pid, 'SIGKILL');
};
require(${JSON.stringify(real)});
`;

/** Worker that greets an attaching host and then runs this statement. */
export const endedByAttachers = (end: string) => (real: string) =>
  `
const { Socket } = require('node:net');
const write = Socket.prototype.write;
let doomed = false;
Socket.prototype.write = function (chunk, ...rest) {
  if (doomed) return true;
  if (String(chunk).includes('"ok":true')) {
    doomed = true;
    setTimeout(() => { ${end} }, 20);
  }
  return write.call(this, chunk, ...rest);
};
require(${JSON.stringify(real)});
`;

export const killedByAttachers = endedByAttachers("process.kill(process.pid, 'SIGKILL');");

/** Worker that is killed once, before or after it writes this text, while the file exists. */
export const killedAtWords = (when: 'before' | 'behind', words: string, file: string) => (real: string) =>
  `
const fs = require('node:fs');
const { Socket } = require('node:net');
const write = Socket.prototype.write;
Socket.prototype.write = function (chunk, ...rest) {
  const isLast = String(chunk).includes(${JSON.stringify(words)}) && fs.existsSync(${JSON.stringify(file)});
  const mayGoOn = isLast && ${JSON.stringify(when)} === 'before' ? true : write.call(this, chunk, ...rest);
  if (isLast) {
    fs.rmSync(${JSON.stringify(file)});
    process.kill(process.pid, 'SIGKILL');
  }
  return mayGoOn;
};
require(${JSON.stringify(real)});
`;

/** Uses that program only for a worker that takes over from another, and only while the file exists. */
export const candidatesWhile = (file: string, worker: (real: string) => string) => (real: string) =>
  `
if (process.argv.includes('--candidate') && require('node:fs').existsSync(${JSON.stringify(file)})) {
  ${worker(real)}
} else require(${JSON.stringify(real)});
`;

/** Worker that cannot write its name into the state folder. */
export const withoutPlace = (real: string): string => `
const fs = require('node:fs');
const rename = fs.renameSync;
fs.renameSync = (from, to) => {
  if (/worker\\.json$/.test(String(to))) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
  rename(from, to);
};
require(${JSON.stringify(real)});
`;
