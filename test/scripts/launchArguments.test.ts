import { expect, test } from 'vitest';
import { readLaunchArguments, workbenchAddress } from '../editor/harness/launchArguments.ts';

const argv = [
  '/tmp/w s',
  '--user-data-dir=/tmp/data',
  '--extensions-dir=/tmp/extensions',
  '--disable-telemetry',
  '--no-sandbox',
  '--extensionTestsPath=/repo/dist/test/editor/index.cjs',
  '--extensionDevelopmentPath=/repo',
];

test('the arguments of runTests become the address of the workbench', () => {
  const address = new URL(workbenchAddress(8123, readLaunchArguments(argv)));
  expect(address.origin).toBe('http://127.0.0.1:8123');
  expect(address.searchParams.get('workspace')).toBe('/tmp/w s');
  expect(JSON.parse(address.searchParams.get('payload') ?? '')).toEqual([
    ['extensionDevelopmentPath', 'vscode-remote://127.0.0.1:8123/repo'],
    ['extensionTestsPath', 'vscode-remote://127.0.0.1:8123/repo/dist/test/editor/index.cjs'],
    ['skipWelcome', 'true'],
  ]);
});

test.each(argv.filter((arg) => !/telemetry|sandbox/.test(arg)))('the run fails without %s', (missing) => {
  expect(() => readLaunchArguments(argv.filter((arg) => arg !== missing))).toThrow('is missing');
});
