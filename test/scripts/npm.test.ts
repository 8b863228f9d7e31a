import { expect, test } from 'vitest';
import { installedIsCurrent, npmEnvironment } from '../../scripts/lib/npm.mjs';

const lock = {
  packages: {
    '': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/for-another-system': { version: '2.0.0', optional: true },
  },
};

test('packages are current if the installed versions match the lock file', () => {
  expect(installedIsCurrent(lock, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true);
});

test.each([
  ['missing', {}],
  ['another version', { 'node_modules/a': { version: '1.0.1' } }],
  [
    'another version of an optional one',
    { 'node_modules/a': { version: '1.0.0' }, 'node_modules/for-another-system': { version: '1.9.0' } },
  ],
  ['one too many', { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } }],
])('packages are stale: %s', (_, packages) => {
  expect(installedIsCurrent(lock, { packages })).toBe(false);
});

test('a nested npm gets the user’s settings, and no variables of the outer npm', () => {
  const environment = npmEnvironment('/repo', {
    PATH: '/repo/node_modules/.bin:/usr/bin',
    npm_package_name: 'waygate',
    npm_lifecycle_event: 'start',
    npm_config_loglevel: 'silent',
    npm_config_user_agent: 'npm/11.19.1 node/v20.20.2 linux x64',
    npm_config_cafile: '/etc/ca.pem',
    HOME: '/home/ada',
  });
  expect(environment).toEqual({ PATH: '/usr/bin', npm_config_cafile: '/etc/ca.pem', HOME: '/home/ada' });
});
