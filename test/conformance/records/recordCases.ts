import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isRecord } from '../../../src/lib/isRecord.ts';
import { GrantPackage } from '../../../src/records/grants/grantPackage.ts';
import type { GrantMember } from '../../../src/records/grants/membership.ts';
import type { RecordProvider } from '../../../src/records/provider/recordProvider.ts';
import { RemoteProvider } from '../../../src/records/remote/remoteProvider.ts';
import { recordServer } from '../../../src/records/server/recordServer.ts';
import type { CaseResult } from '../conformance.ts';
import { firstFailure, type Observed } from './expectations.ts';
import { generatedRoute, ResourceServer, type Route, type SchemaGenerator } from './resourceServer.ts';

/** Runs files of the form of `test/fixtures/conformance/records.json`: routes of a resource server, and a tool call. */
export interface RecordCaseFile {
  constants?: { provider_url?: string; bearer?: string };
  adapter_cases: RecordCase[];
}

interface RecordCase {
  id: string;
  rs?: Route[];
  rs_generator?: SchemaGenerator;
  rs_by_token?: Record<string, Route[]>;
  package?: CaseMember[];
  call?: { tool?: string; method?: string; arguments?: unknown };
  cli?: { env?: Record<string, string>; argv?: string[]; cache?: unknown };
  expect: Record<string, unknown>;
}

interface CaseMember {
  grant_id: string;
  connection_id: string;
  token: string;
  source?: { id?: string; display_name?: string };
  grant?: { streams?: { name: string; instance_ids?: string[] }[] };
}

export function isRecordCases(file: unknown): file is RecordCaseFile {
  return isRecord(file) && Array.isArray(file.adapter_cases);
}

export async function runRecordCases(file: RecordCaseFile): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const one of file.adapter_cases) {
    const why = await judge(one, file).catch((error: Error) => `threw ${error.name}: ${error.message}`);
    results.push({ id: one.id, group: 'records', outcome: why === undefined ? 'passed' : 'failed', why: why ?? '' });
  }
  return results;
}

async function judge(one: RecordCase, { constants = {} }: RecordCaseFile): Promise<string | undefined> {
  const named = constants.provider_url ?? 'https://rs.test';
  const server = await ResourceServer.start((url) => {
    // Answers may name the provider's address, which here is on loopback.
    const given = JSON.parse(JSON.stringify([one.rs ?? [], one.rs_by_token ?? {}]).replaceAll(named, url));
    const generated = one.rs_generator ? [generatedRoute(one.rs_generator)] : [];
    return { routes: [...given[0], ...generated], byToken: given[1] };
  });
  try {
    const observed = one.cli
      ? await startProcess(one.cli, one.rs ? { named, actual: server.url } : undefined)
      : await call(one, server.url, constants.bearer ?? 'test-token');
    const result = JSON.parse(JSON.stringify(observed.result).replaceAll(server.url, named));
    return firstFailure(one.expect, { ...observed, result, seen: server.seen });
  } finally {
    await server.stop();
  }
}

type Outcome = Omit<Observed, 'seen'>;

async function call({ call: given = {}, package: members }: RecordCase, url: string, bearer: string): Promise<Outcome> {
  const provider: RecordProvider = members
    ? new GrantPackage(
        members.map((member) => memberOf(member, url)),
        url,
      )
    : new RemoteProvider({ url, token: bearer });
  const answer = recordServer(provider);
  const signal = new AbortController().signal;
  if (given.tool === undefined) return { result: await answer(given.method ?? '', {}, signal) };
  const params = { name: given.tool, arguments: given.arguments };
  try {
    return { result: await answer('tools/call', params, signal) };
  } catch (error) {
    return { result: { isError: true, content: [{ type: 'text', text: (error as Error).message }] } };
  }
}

function memberOf({ grant_id, connection_id, token, source = {}, grant = {} }: CaseMember, url: string): GrantMember {
  const streams = grant.streams ?? [];
  const ids = [...new Set([connection_id, ...streams.flatMap(({ instance_ids: own = [] }) => own)])];
  return {
    provider: new RemoteProvider({ url, token }),
    grantId: grant_id,
    connectorKey: source.id,
    displayName: source.display_name,
    connections: ids.map((connectionId) => ({ connectionId, displayName: source.display_name })),
    streams: streams.map(({ name }) => name),
  };
}

const MAIN = resolve(import.meta.dirname, '../../../src/cli/main.ts');
/** Far above the time of a start on a busy machine. */
const PROCESS_MS = 60_000;

/** Starts `waygate records` in an empty home, closes its input, and waits for its end. */
async function startProcess(
  { env = {}, argv = [], cache }: NonNullable<RecordCase['cli']>,
  address: { named: string; actual: string } | undefined,
): Promise<Outcome> {
  const home = mkdtempSync(join(tmpdir(), 'waygate-records-'));
  const placed = (text: string): string => (address ? text.replaceAll(address.named, address.actual) : text);
  if (cache !== undefined) {
    const host = new URL(address?.actual ?? 'https://rs.test').host.replace(/[^A-Za-z0-9.-]/g, '_');
    mkdirSync(join(home, 'cache', 'clients'), { recursive: true });
    writeFileSync(join(home, 'cache', 'clients', `${host}.json`), placed(JSON.stringify(cache)), { mode: 0o600 });
  }
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', MAIN, 'records', ...argv.map(placed)],
    {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        WAYGATE_STATE_DIR: join(home, 'state'),
        PDPP_CACHE_ROOT: join(home, 'cache'),
        ...Object.fromEntries(Object.entries(env).map(([key, value]) => [key, placed(value)])),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: PROCESS_MS,
    },
  );
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (output[name] += String(chunk)));
  child.stdin.on('error', () => undefined).end();
  const exitCode = await new Promise<number | undefined>((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => done(code ?? undefined));
  });
  rmSync(home, { recursive: true, force: true });
  return { result: {}, exitCode, ...output };
}
