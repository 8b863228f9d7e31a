// Changes of an installed extension, each of which makes it run as in other surroundings.

import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Puts a main module before the extension that hides a part of the API, as an editor built on VS Code lacks it. */
export function withoutMcp(folder: string): void {
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { main: string };
  writeFileSync(file, JSON.stringify({ ...manifest, main: './without.cjs' }));
  writeFileSync(
    join(folder, 'without.cjs'),
    `const Module = require('node:module');
const vscode = require('vscode');
const lm = new Proxy(vscode.lm, { get: (of, key) => key === 'registerMcpServerDefinitionProvider' ? undefined : of[key] });
const load = Module._load;
Module._load = (request, ...rest) => request === 'vscode' ? { ...vscode, lm } : load.call(Module, request, ...rest);
module.exports = require(${JSON.stringify(resolve(folder, manifest.main))});
Module._load = load;
`,
  );
}

/** Takes what an older build did not have from the worker: it reports no calls and no limits. */
export function olderWorker(folder: string): void {
  const file = join(folder, 'dist', 'worker.cjs');
  let text = readFileSync(file, 'utf8');
  for (const request of ['calls', 'limits']) {
    const handler = new RegExp(`\\b${request}:(\\(?\\w*\\)?=>\\w+\\.(?:page|limits)\\()`);
    if (!handler.test(text)) throw new Error(`The worker has no request ${request}.`);
    text = text.replace(handler, `removed_${request}:$1`);
  }
  writeFileSync(file, text);
}
