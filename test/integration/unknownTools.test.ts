import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AuthorizationServer } from '../support/authorizationServer.ts';
import { status } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { httpServer } from '../support/httpServer.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Returns the entry of a server that fails during its start. */
const faulty = (action: string | object) => ({
  command: process.execPath,
  args: [
    resolve('test/fixtures/faultServer.mjs'),
    '--script',
    JSON.stringify({ steps: [{ on: 'initialize', do: [action] }] }),
  ],
});

describe('a call of an unknown tool', () => {
  it('is answered with the state of its server or with the likely id, and a call with that id runs', async () => {
    const issuer = await AuthorizationServer.start({});
    onTestFinished(() => issuer.close());
    const { url } = await httpServer('--issuer', issuer.issuer);
    const workspace = testWorkspace({
      good: servers.fixture(),
      signin: { url },
      crashy: faulty({ exit: 3 }),
      wrong: { command: 'no-such-command-here' },
      hung: faulty('hang'),
      off: { ...servers.fixture(), disabled: true },
    });
    // A call waits for the first start of its server, up to its time limit.
    const configuration = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as object;
    writeFileSync(workspace.configFile, JSON.stringify({ ...configuration, timeouts: { servers: { hung: 1 } } }));
    const host = await GatewaySession.connect(workspace);
    const echo = await host.toolId('/good/echo');
    await until('the states of the servers', async () => {
      const states = new Map((await status(workspace)).servers.map(({ name, state }) => [name, state]));
      return (
        states.get('signin') === 'needs_sign_in' &&
        states.get('crashy') === 'failed' &&
        states.get('wrong') === 'failed'
      );
    });
    const execute = async (id: string): Promise<string> =>
      (await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text;
    expect(await execute('signin:echo')).toMatch(
      /^Error HYDRATE_FAILED: There is no tool "signin:echo": signin needs the user to sign in\. Ask [^\n]+\n(?:.+\n)*reason: It asks for a sign-in\./,
    );
    expect(await execute('crashy:echo')).toMatch(
      /: crashy has failed\. Ask [^\n]+\n(?:.+\n)*reason: .*(?:code|status) 3/,
    );
    expect(await execute('wrong:echo')).toMatch(
      /: wrong has failed\. Ask [^\n]+\n(?:.+\n)*reason: .*no-such-command-here/,
    );
    expect(await execute('hung:echo')).toMatch(
      /: hung is still starting\. Call again shortly\.\n(?:.+\n)*retryable: the same call may succeed later\n/,
    );
    expect(await execute('off:echo')).toContain(': off is switched off in the configuration. Use another tool');
    for (const written of ['good:ecko', 'ecko', 'good:echo#00000000']) {
      const [, meant] = /Did you mean "([^"]+)"\?/.exec(await execute(written)) ?? [];
      expect(meant).toBe(echo);
    }
    expect(await execute(echo)).toBe('ok\nhi\n');
  });
});
