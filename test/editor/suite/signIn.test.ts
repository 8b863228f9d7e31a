import assert from 'node:assert/strict';
import { AuthorizationServer } from '../../support/authorizationServer.ts';
import { driver, eventually } from '../harness/driver.ts';
import { call, startedTools } from './agent.ts';
import { filesThatHold, scratchFolder } from './disk.ts';
import { anotherWorker, approveAll, configure, keptSecrets, toolsRow } from './person.ts';
import { type Program, startProgram } from './program.ts';

/** Characters that a scope may contain (RFC 6749 §3.3) and that the address must carry to the browser unchanged. */
const SCOPE = 'read&write+all%2F';
const TOKENS = /^waygate\.secret\.oauth-/;

/** Sign-in by a user: through the row's button, in the browser that VS Code opens, stored in VS Code's secret store. */
describe('A server that wants a sign-in', () => {
  let issuer: AuthorizationServer;
  let server: Program;
  let restore: () => Promise<void>;

  before(async () => {
    issuer = await AuthorizationServer.start();
    const says = { resource: '{here}/mcp', authorization_servers: [issuer.issuer], scopes_supported: [SCOPE] };
    server = await startProgram('httpServer.mjs', '--issuer', issuer.issuer, '--says', JSON.stringify(says));
    restore = await configure(({ servers }) => {
      servers.guarded = { url: `http://127.0.0.1:${server.port}/mcp` };
    });
    await approveAll();
    await startedTools(3);
  });

  after(async () => {
    await restore?.();
    server?.end();
    issuer?.close();
    await driver.closeBrowserPages();
  });

  it('shows it in its row, and the user signs in through the browser', async () => {
    await toolsRow('guarded', ({ description }) => description === 'needs sign-in');
    await driver.screenshot('needs-sign-in');
    await driver.clickRowAction('Tools', 'guarded', 'Sign In');
    await toolsRow('guarded', ({ description }) => / tools\b/.test(description));
    const [page, ...others] = await driver.browserPages();
    // The pages of a desktop's own browser are not accessible.
    if (page !== undefined) assert.equal(page, 'You are signed in. You can close this page and go back.');
    assert.deepEqual(others, []);
    assert.deepEqual(
      issuer.authorizations.map(({ scope }) => scope),
      [SCOPE],
    );
    assert.equal(await call('/guarded/echo', { text: 'let in' }), 'ok · data from guarded\nlet in\nend of data\n');
  });

  it('stays signed in with another worker, by tokens that VS Code stores and no file contains', async () => {
    await anotherWorker();
    assert.equal(await call('/guarded/echo', { text: 'still' }), 'ok · data from guarded\nstill\nend of data\n');
    assert.equal(issuer.authorizations.length, 1);
    assert.ok(issuer.issued.length > 0);
    assert.deepEqual(filesThatHold(issuer.issued, scratchFolder()), []);
    const names = await keptSecrets(TOKENS);
    if (names) assert.equal(names.length, 1);
  });

  it('can be signed out: the tokens are deleted and revoked, and the row asks again', async () => {
    await toolsRow('guarded', ({ description }) => / tools\b/.test(description));
    await driver.chooseFromRowMenu('Tools', 'guarded', 'Sign Out');
    await toolsRow('guarded', ({ description }) => description === 'needs sign-in');
    await eventually('the revocation', () => issuer.seen.includes('POST /revoke'));
    const names = await keptSecrets(TOKENS);
    if (names) assert.deepEqual(names, []);
    assert.match(await call('/guarded/echo', { text: 'out' }), /^Error AUTH_FAILED/);
  });
});
