import { describe, expect, it, onTestFinished } from 'vitest';
import { AuthorizationServer, browse } from '../support/authorizationServer.ts';
import { approveShown, waygate } from '../support/census.ts';
import { until } from '../support/hostProcess.ts';
import { httpServer } from '../support/httpServer.ts';
import { addressOf, TRANSPORTS } from '../support/wire/eraWorld.ts';
import { type CallTool, echoIn, type Person, SDK_CLIENTS } from '../support/wire/sdkClients.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Questions that wait for the user while no window is open, with clients of both eras over both transports. */

const CASES = SDK_CLIENTS.flatMap((client) => TRANSPORTS.map((transport) => ({ ...client, transport })));

/** Waits until the server `one` has refused the gateway. */
const refused = (callTool: CallTool): Promise<unknown> =>
  until('the refusal', async () =>
    (await callTool('tool_browse', { path: '/' })).includes('Needs sign-in: one (ask the user: waygate login one).'),
  );

async function guarded(options = {}) {
  const issuer = await AuthorizationServer.start(options);
  onTestFinished(() => issuer.close());
  const { url } = await httpServer('--issuer', issuer.issuer);
  return { issuer, workspace: testWorkspace({ one: { url } }) };
}

/** Person who opens each URL in a browser, and waits there for the end, or who answers otherwise. */
function visitor(action: 'accept' | 'decline' = 'accept') {
  const asked: { mode?: string; message: string; url: string; elicitationId?: string }[] = [];
  const completed: string[] = [];
  const person: Person = {
    elicitation: { form: {}, url: {} },
    answer: (question) => {
      const visit = question as unknown as (typeof asked)[number];
      asked.push(visit);
      if (action === 'accept') void browse(visit.url);
      return { action };
    },
    completed: (id) => void completed.push(id),
  };
  return { asked, completed, person };
}

describe.each(CASES)('$name over $transport, without a window', ({ connect, transport, revision }) => {
  it('reads the command for each server that waits for the user, in a browse and in the answer to a call', async () => {
    const workspace = testWorkspace();
    const keyed = { ...servers.fixture(), env: { KEY: '$' + '{secret:the-key}' } };
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { fresh: servers.fixture(), keyed } }));
    await approveShown(workspace, 'keyed');
    const { callTool, close } = await connect(await addressOf(workspace, transport));
    const root = await until('the states', async () => {
      const text = await callTool('tool_browse', { path: '/' });
      return text.includes('Needs a secret') && text;
    });
    expect(root).toContain('Needs approval: fresh (ask the user: waygate approve fresh).');
    expect(root).toContain('Needs a secret: keyed (ask the user: waygate secret set the-key).');
    const call = (tool: string) => callTool('tool_execute', { tool_id: tool, args: { text: 'hi' } });
    expect(await call('fresh:echo')).toMatch(/\nstate: needs_approval\n(.*\n)*command: waygate approve fresh$/m);
    expect(await call('keyed:echo')).toMatch(/\nstate: needs_secret\n(.*\n)*command: waygate secret set the-key$/m);
    // The commands help, and the client needs no restart.
    await approveShown(workspace, 'fresh');
    expect((await waygate(workspace, ['secret', 'set', 'the-key'], 'value\n')).code).toBe(0);
    for (const name of ['fresh', 'keyed']) {
      const id = await until('its tools', async () => {
        const listing = await callTool('tool_browse', { path: `/${name}` });
        return listing.includes(`${name}:echo#`) && echoIn(listing, name);
      });
      expect(await call(id)).toContain('hi');
    }
    await close();
  });

  it('is offered the URL of a sign-in, and the call goes on after it', async () => {
    const { issuer, workspace } = await guarded();
    const { asked, completed, person } = visitor();
    const { callTool, close } = await connect(await addressOf(workspace, transport), person);
    // Nothing of the server is known yet, and a look at everything asks nothing.
    await refused(callTool);
    expect(asked).toEqual([]);
    const id = echoIn(await callTool('tool_browse', { path: '/one' }), 'one');
    expect(asked).toEqual([
      expect.objectContaining({
        mode: 'url',
        message: `Waygate asks: sign in to the server "one", which the call needs. The page is at ${new URL(issuer.issuer).host}.`,
        url: expect.stringMatching(
          new RegExp(`^${issuer.issuer}/authorize\\?.*redirect_uri=http%3A%2F%2F127\\.0\\.0\\.1`),
        ),
      }),
    ]);
    const echo = (text: string) => callTool('tool_execute', { tool_id: id, args: { text } });
    expect(await echo('signed in')).toContain('signed in');
    expect(asked).toHaveLength(1);
    // The tools are known now, and the call itself finds out.
    expect((await waygate(workspace, ['logout', 'one'])).code).toBe(0);
    expect(await echo('again')).toContain('again');
    expect(asked).toHaveLength(2);
    const isLegacy = revision !== '2026-07-28';
    if (isLegacy) await until('both notices', () => completed.length === 2);
    expect(completed).toEqual(isLegacy ? asked.map(({ elicitationId }) => elicitationId) : []);
    await close();
  });

  it('reads the command where the user declines, or where the client cannot show a URL', async () => {
    const { issuer, workspace } = await guarded();
    const { asked, person } = visitor('decline');
    const form: Person = { ...person, elicitation: { form: {} } };
    const [declines, cannot] = [
      await connect(await addressOf(workspace, transport), person),
      await connect(await addressOf(workspace, transport), form),
    ];
    await refused(cannot.callTool);
    for (const { callTool } of [declines, cannot]) {
      const answer = await callTool('tool_execute', { tool_id: 'one:echo', args: { text: 'x' } });
      expect(answer).toMatch(/one needs the user to sign in\. (.*\n)+command: waygate login one$/m);
    }
    expect(asked).toHaveLength(1);
    expect(issuer.authorizations).toEqual([]);
    await Promise.all([declines.close(), cannot.close()]);
  });

  it('is offered the sign-in in passthrough mode too, and reads the command where the client cannot show a URL', async () => {
    const { workspace } = await guarded();
    const { asked, person } = visitor();
    const flags = ['--mode', 'passthrough'];
    const first = await connect(await addressOf(workspace, transport), person);
    await refused(first.callTool);
    await first.callTool('tool_browse', { path: '/one' });
    const can = await connect(await addressOf(workspace, transport, flags), person);
    const cannot = await connect(await addressOf(workspace, transport, flags));
    expect(await can.callTool('echo', { text: 'signed in' })).toBe('signed in');
    expect((await waygate(workspace, ['logout', 'one'])).code).toBe(0);
    const answer = await cannot.callTool('echo', { text: 'x' }).catch((error: Error) => error.message);
    // A modern client may also learn what it lacks.
    const lacks = revision === '2026-07-28' ? '|Missing required client capability: elicitation' : '';
    expect(answer).toMatch(
      new RegExp(`one wants the user to sign in: (.*\\n)+command: waygate login one$${lacks}`, 'm'),
    );
    expect(asked).toHaveLength(1);
    expect(await can.callTool('echo', { text: 'again' })).toBe('again');
    expect(asked).toHaveLength(2);
    await Promise.all([first, can, cannot].map(({ close }) => close()));
  });
});

it.each([
  'http://evil.test/authorize',
  'javascript:alert(1)',
  'http://169.254.169.254/authorize',
  'https://u:p@evil.test/',
])('a client is never sent to %s, which a server names as the page of its sign-in', async (authorization_endpoint) => {
  const { workspace } = await guarded({ metadata: { authorization_endpoint } });
  const { asked, person } = visitor();
  const [{ connect }] = SDK_CLIENTS as [(typeof SDK_CLIENTS)[number]];
  const { callTool, close } = await connect(await addressOf(workspace, 'stdio'), person);
  await refused(callTool);
  const answer = await callTool('tool_execute', { tool_id: 'one:echo', args: { text: 'x' } });
  expect(answer).toMatch(/\ncommand: waygate login one$/m);
  expect(answer).not.toContain('evil.test');
  expect(asked).toEqual([]);
  await close();
});
