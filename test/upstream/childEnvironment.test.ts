import { describe, expect, it } from 'vitest';
import { childEnvironment, RUN_MARKER } from '../../src/upstream/process/childEnvironment.ts';

describe('the environment of a server', () => {
  const editors = {
    VSCODE_PID: '1',
    VSCODE_IPC_HOOK_CLI: '/run/x',
    ELECTRON_RUN_AS_NODE: '1',
    ELECTRON_NO_ATTACH_CONSOLE: '1',
    NODE_OPTIONS: '--inspect',
    NODE_PATH: '/x',
    WAYGATE_STATE_DIR: '/s',
    WAYGATE_LINGER_MS: '5',
    GITHUB_TOKEN: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    npm_config_cache: '/c',
    LD_PRELOAD: '/evil.so',
  };

  it('contains nothing of the editor or the gateway, and no other secret', () => {
    expect(childEnvironment(editors, {}, 'r1')).toEqual({ [RUN_MARKER]: 'r1' });
  });

  it.skipIf(process.platform === 'win32')('contains the variables that programs usually need', () => {
    const own = {
      PATH: '/bin',
      HOME: '/h',
      LANG: 'de',
      LC_ALL: 'de',
      https_proxy: 'p',
      NO_PROXY: 'n',
      XDG_CACHE_HOME: '/c',
      SSL_CERT_FILE: 'f',
    };
    expect(childEnvironment({ ...own, ...editors }, {}, 'r')).toEqual({ ...own, [RUN_MARKER]: 'r' });
  });

  it('has one PATH on Windows, whatever its spelling', () => {
    const own = { Path: 'C:\\system', SystemRoot: 'C:\\Windows', GITHUB_TOKEN: 's' };
    expect(childEnvironment(own, {}, 'r', 'win32')).toEqual({
      Path: 'C:\\system',
      SystemRoot: 'C:\\Windows',
      [RUN_MARKER]: 'r',
    });
    expect(childEnvironment(own, { PATH: 'C:\\own' }, 'r', 'win32')).toEqual({
      PATH: 'C:\\own',
      SystemRoot: 'C:\\Windows',
      [RUN_MARKER]: 'r',
    });
  });

  it('gives precedence to configured variables, except for the mark', () => {
    const configured = { PATH: '/own', NODE_OPTIONS: '--x', [RUN_MARKER]: 'forged' };
    expect(childEnvironment({ PATH: '/bin' }, configured, 'r')).toEqual({
      PATH: '/own',
      NODE_OPTIONS: '--x',
      [RUN_MARKER]: 'r',
    });
  });
});
