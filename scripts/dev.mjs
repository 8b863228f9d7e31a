// npm run dev: writes the demo workspace that F5 opens, then builds readable code with source maps at every change.
// Each build is a process of its own, so that it has a build id of its own (a running gateway gives way to it) and
// reads changed tables and a changed esbuild.mjs.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDemoWorkspace } from './lib/demo.mjs';
import { ensurePackages, ownNode, toolEnvironment } from './lib/npm.mjs';
import { exitCode, leaveTogether, start } from './lib/processes.mjs';
import { SetupError } from './lib/setupError.mjs';
import { runOnChange } from './lib/watch.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = ['src', 'webview', 'media', 'skills', 'esbuild.mjs', 'package.json'];

async function build() {
  // .vscode/tasks.json reads these two lines to know when a build runs.
  console.log('Build started');
  await exitCode(start(ownNode(root), ['esbuild.mjs', '--dev'], { cwd: root, env: toolEnvironment(root) }));
  console.log('Build finished, watching for changes (Ctrl-C ends it)');
}

leaveTogether(0);
try {
  await ensurePackages(root);
  writeDemoWorkspace(root, join(root, '.out', 'demo'));
  runOnChange(
    SOURCES.map((path) => join(root, path)),
    build,
  );
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
}
