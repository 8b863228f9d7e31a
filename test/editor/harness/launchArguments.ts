import { parseArgs } from 'node:util';

/** Command line that `runTests` of @vscode/test-electron passes to VS Code, as far as the server build supports it. */
export interface LaunchArguments {
  extensionDevelopmentPath: string;
  extensionTestsPath: string;
  userDataDir: string;
  extensionsDir: string;
  /** File of the workspace. */
  workspace: string;
}

export function readLaunchArguments(argv: readonly string[]): LaunchArguments {
  const { values, positionals } = parseArgs({ args: [...argv], strict: false, allowPositionals: true });
  const required = (name: string): string => {
    const value = values[name];
    if (typeof value !== 'string' || value === '') throw new Error(`--${name}=<path> is missing.`);
    return value;
  };
  const [workspace] = positionals;
  if (workspace === undefined) throw new Error('The workspace is missing.');
  return {
    extensionDevelopmentPath: required('extensionDevelopmentPath'),
    extensionTestsPath: required('extensionTestsPath'),
    userDataDir: required('user-data-dir'),
    extensionsDir: required('extensions-dir'),
    workspace,
  };
}

export const CHROMIUM_FLAGS = [
  // Chromium has no sandbox for root (in a container), and opens only the test page.
  ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** Returns the address that makes the server build load an extension under development and run its tests. */
export function workbenchAddress(port: number, launch: LaunchArguments): string {
  const remote = (path: string) => `vscode-remote://127.0.0.1:${port}${path}`;
  const payload = JSON.stringify([
    ['extensionDevelopmentPath', remote(launch.extensionDevelopmentPath)],
    ['extensionTestsPath', remote(launch.extensionTestsPath)],
    ['skipWelcome', 'true'],
  ]);
  return `http://127.0.0.1:${port}/?${new URLSearchParams({ workspace: launch.workspace, payload })}`;
}
