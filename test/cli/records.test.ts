import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpServer, schemaOf } from '../records/fakes.ts';
import { WAYGATE } from '../support/workspace.ts';

const TOKEN = 'client-token-0123456789';

interface Setup {
  args?: readonly string[];
  env?: Record<string, string>;
  cache?: unknown;
  mode?: number;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts `waygate records` in an empty home with a credential cache for the address. */
function start(url: string, { args = ['--provider-url', url], env = {}, cache, mode = 0o600 }: Setup) {
  const home = mkdtempSync(join(tmpdir(), 'waygate-records-'));
  mkdirSync(join(home, '.pdpp', 'clients'), { recursive: true });
  const file = join(home, '.pdpp', 'clients', `${new URL(url).host.replace(':', '_')}.json`);
  if (cache !== undefined) {
    writeFileSync(file, typeof cache === 'string' ? cache : JSON.stringify(cache));
    chmodSync(file, mode);
  }
  const child = spawn(process.execPath, [WAYGATE, 'records', ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, WAYGATE_STATE_DIR: join(home, 'state'), ...env },
  });
  onTestFinished(() => void child.kill());
  return child;
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, ...output };
}

const client = (more: object = {}) => ({ credential: { access_token: TOKEN, ...more } });
const say = (child: ChildProcessWithoutNullStreams, ...messages: readonly object[]): void => {
  for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};

/** Resource server that knows tokens by their grants. */
function provider(kind = 'client', seen: string[] = []): Promise<string> {
  return httpServer((request, response) => {
    const token = request.headers.authorization ?? '';
    seen.push(`${token} ${request.url}`);
    const at = token.endsWith('b') ? 2 : 1;
    if (!request.url?.startsWith('/v1/schema')) return void response.end('{"data":[{"id":"m1"}],"has_more":false}');
    const schema = schemaOf({ streams: [{ name: 'messages', connections: [`cin_${at}`] }] });
    response.end(JSON.stringify({ ...schema, bearer: { token_kind: kind, grant_id: `grt_${at}` } }));
  });
}

describe('waygate records', () => {
  it('serves five tools on stdio, with nothing but protocol on stdout, and ends with its client', async () => {
    const seen: string[] = [];
    const child = start(await provider('client', seen), { cache: client(), env: { PDPP_MCP_SERVER_NAME: 'mine' } });
    const end = ended(child);
    say(
      child,
      { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} } },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'query_records', arguments: { stream: 'messages' } } },
      { id: 4, method: 'tools/call', params: { name: 'list_streams' } },
      { id: 5, method: 'resources/list' },
    );
    await new Promise<void>((resolve) => {
      let lines = 0;
      child.stdout.on('data', (chunk) => {
        lines += String(chunk).split('\n').length - 1;
        if (lines >= 5) resolve();
      });
    });
    child.stdin.end();
    const { code, stdout, stderr } = await end;
    expect([code, stderr]).toEqual([0, '']);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const byId = (id: number) => answers.find((answer) => answer.id === id);
    expect(byId(1).result.serverInfo.name).toBe('mine');
    expect(byId(1).result).toMatchObject({
      protocolVersion: '2025-06-18',
      instructions: expect.stringContaining('schema'),
    });
    expect(byId(2).result.tools).toHaveLength(5);
    expect(byId(3).result.structuredContent).toHaveProperty('data.data.0.id', 'm1');
    expect(byId(4).error.message).toMatch(/no tool "list_streams"/);
    expect(byId(5).error.code).toBe(-32601);
    expect(seen).toEqual([`Bearer ${TOKEN} /v1/schema?view=compact`, `Bearer ${TOKEN} /v1/streams/messages/records`]);
    expect(stdout).not.toContain(TOKEN);
  });

  it('reads several grants, each with its own token', async () => {
    const seen: string[] = [];
    const cache = { credentials: [{ access_token: 'grant-token-a' }, { access_token: 'grant-token-b' }] };
    const child = start(await provider('client', seen), { cache });
    const end = ended(child);
    say(child, {
      id: 1,
      method: 'tools/call',
      params: { name: 'query_records', arguments: { stream: 'messages', connection_id: 'cin_2' } },
    });
    say(child, { id: 2, method: 'tools/call', params: { name: 'query_records', arguments: { stream: 'messages' } } });
    await new Promise<void>((resolve) => {
      let lines = 0;
      child.stdout.on('data', (chunk) => {
        lines += String(chunk).split('\n').length - 1;
        if (lines >= 2) resolve();
      });
    });
    child.stdin.end();
    const { stdout } = await end;
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.find(({ id }) => id === 2).result.structuredContent.error).toMatchObject({
      code: 'ambiguous_connection',
      available_connections: [
        { grant_id: 'grt_1', connection_id: 'cin_1' },
        { grant_id: 'grt_2', connection_id: 'cin_2' },
      ],
    });
    expect(seen.filter((one) => one.includes('/records'))).toEqual([
      'Bearer grant-token-b /v1/streams/messages/records?connection_id=cin_2',
    ]);
  });

  it.each<[string, number, Setup, RegExp]>([
    ['an owner token in the environment', 77, { env: { PDPP_OWNER_TOKEN: 'x' }, cache: client() }, /PDPP_OWNER_TOKEN/],
    ['the cookie of an owner', 77, { env: { PDPP_OWNER_SESSION_COOKIE: 'x' }, cache: client() }, /COOKIE/],
    [
      'a control plane in the environment',
      77,
      { env: { PDPP_CONTROL_PLANE_TOKEN: 'x' }, cache: client() },
      /CONTROL_PLANE/,
    ],
    ['an owner in the cache', 77, { cache: client({ token_kind: 'OWNER' }) }, /owner credential/],
    [
      'an owner among several grants',
      77,
      { cache: { credentials: [{ access_token: 'a' }, { role: 'owner' }] } },
      /owner/,
    ],
    ['no cache', 78, {}, /no credential/],
    ['an expired credential', 78, { cache: client({ expires_at: 1_600_000_000 }) }, /expired/],
    ['a time that cannot be read', 78, { cache: client({ expires_at: 'soon' }) }, /expired/],
    ['a token of two lines', 78, { cache: client({ access_token: 'a\nb' }) }, /access_token/],
    [
      'a credential of another provider',
      78,
      { cache: { ...client(), provider_url: 'https://x.example' } },
      /another provider/,
    ],
    ['a cache that is no JSON', 78, { cache: '{' }, /no JSON/],
    ['a cache that others can read', 78, { cache: client(), mode: 0o644 }, /read it/],
    ['a profile', 64, { args: ['--profile', 'full'] }, /no option "--profile"/],
    ['an address without encryption', 64, { args: ['--provider-url', 'http://rs.example'] }, /https/],
  ])('with %s ends with %i before anything is read or said', async (_what, code, setup, why) => {
    const seen: string[] = [];
    const child = start(await provider('client', seen), setup);
    child.stdin.end();
    const end = await ended(child);
    expect([end.code, end.stdout, seen]).toEqual([code, '', []]);
    expect(end.stderr).toMatch(why);
    expect(end.stderr).not.toContain(TOKEN);
    expect(end.stderr.trim().split('\n')).toHaveLength(1);
  });

  it('without a provider serves the records of this machine', async () => {
    const seen: string[] = [];
    // As the editor starts it.
    const setup = { args: ['--workspace', '.'], env: { WAYGATE_RECORDS_PROVIDER_URL: '', PDPP_PROVIDER_URL: '' } };
    const child = start(await provider('client', seen), { ...setup, cache: client() });
    const end = ended(child);
    const answered = new Promise((resolve) => child.stdout.once('data', resolve));
    say(child, { id: 1, method: 'tools/call', params: { name: 'schema', arguments: {} } });
    await Promise.race([answered, end]);
    child.stdin.end();
    const { code, stdout } = await end;
    expect(JSON.parse(stdout).result.content[0].text).toContain('connector_key="waygate-history"');
    expect([code, seen]).toEqual([0, []]);
  });

  it.each([
    ['--help', /reads records under a grant/],
    ['--version', /^waygate \d/],
  ])('prints %s beside the protocol', async (option, text) => {
    const { code, stdout, stderr } = await ended(start('http://127.0.0.1:9', { args: [option] }));
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(text);
  });

  it('refuses a token of which the provider says that it is an owner’s', async () => {
    const seen: string[] = [];
    const child = start(await provider('owner', seen), { cache: client() });
    say(child, { id: 1, method: 'tools/call', params: { name: 'query_records', arguments: { stream: 'messages' } } });
    const { code, stdout } = await ended(child);
    expect([code, stdout]).toEqual([77, '']);
    expect(seen).toEqual([`Bearer ${TOKEN} /v1/schema?view=compact`]);
  });

  it('ends with 78 if the provider rejects the token', async () => {
    const url = await httpServer((_request, response) => void response.writeHead(401).end('{}'));
    const { code, stderr } = await ended(start(url, { cache: client() }));
    expect(code).toBe(78);
    expect(stderr).toMatch(/401/);
  });

  it('takes a token from the environment, and serves while the provider is away', async () => {
    const child = start('http://127.0.0.1:9', { env: { WAYGATE_RECORDS_TOKEN: TOKEN } });
    const end = ended(child);
    say(child, { id: 1, method: 'tools/call', params: { name: 'schema' } });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdin.end();
    const { code, stdout } = await end;
    expect(code).toBe(0);
    expect(stdout).toContain('provider_unreachable');
    expect(stdout).not.toContain(TOKEN);
  });
});
