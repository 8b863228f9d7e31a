import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder, WAYGATE } from './workspace.ts';

const BUILD = /\b(\d+\.\d+\.\d+)\+\d{14}\b/g;

export interface BuildOptions {
  /** `yyyymmddhhmmss`; the build under test was made long before 2099. */
  builtAt?: string;
  /** What the worker program is instead; `real` is where the real one lies. None at all when null. */
  worker?: ((real: string) => string) | null;
}

/** A copy of what ships, changed; returns its `waygate`. */
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

/** A worker that is killed with the step that gives it its place: before, or behind it. */
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

/** A worker that greets whoever attaches and ends of it, by this statement. */
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

/** A worker that is killed as it writes these words, or when it has written them: once, when the file is there. */
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

/** Only a worker that is to take over from another is that program, and only while the file is there. */
export const candidatesWhile = (file: string, worker: (real: string) => string) => (real: string) =>
  `
if (process.argv.includes('--candidate') && require('node:fs').existsSync(${JSON.stringify(file)})) {
  ${worker(real)}
} else require(${JSON.stringify(real)});
`;

/** A worker that may not write its name into the state folder. */
export const withoutPlace = (real: string): string => `
const fs = require('node:fs');
const rename = fs.renameSync;
fs.renameSync = (from, to) => {
  if (/worker\\.json$/.test(String(to))) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
  rename(from, to);
};
require(${JSON.stringify(real)});
`;
