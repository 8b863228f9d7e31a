import { describe, expect, it } from 'vitest';
import { HttpProcess } from '../support/httpProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';
import { NOT_IN_GATEWAY_MODE } from './suites/notInGatewayMode.ts';
import { runSuite, SUITES, type SuiteVersion, total } from './suites/runSuite.ts';

const VERSIONS = Object.keys(SUITES) as SuiteVersion[];

describe('the official conformance suites', () => {
  it.each([
    ['0.1.16', 40],
    ['0.2.0-alpha.12', 84],
  ] as const)('%s: the fixture server itself meets all %i checks', async (version, checks) => {
    const results = await runSuite(version, await HttpProcess.fixture().url());
    expect(results.filter(({ failed, warned }) => failed.length + warned.length > 0)).toEqual([]);
    expect(total(results)).toEqual({ passed: checks, failed: 0 });
  });

  it.each([
    ['0.1.16', 20],
    ['0.2.0-alpha.12', 41],
  ] as const)('%s: the gateway mode meets all %i checks that apply to it', async (version, checks) => {
    const workspace = testWorkspace({ fixture: { ...servers.conformance, sampling: true } });
    const gateway = HttpProcess.waygate(workspace, ['--no-token']);
    const results = await runSuite(version, await gateway.url());
    const applying = results.filter(({ scenario }) => !(scenario in NOT_IN_GATEWAY_MODE));
    expect(applying.filter(({ failed, warned }) => failed.length + warned.length > 0)).toEqual([]);
    expect(total(applying)).toEqual({ passed: checks, failed: 0 });
  });

  it.each([
    ['0.1.16', 40],
    // Lacks one check: no server on stdio can close a client's stream during a call.
    ['0.2.0-alpha.12', 83],
  ] as const)('%s: the passthrough mode meets all %i checks of every scenario', async (version, checks) => {
    const workspace = testWorkspace({ fixture: { ...servers.conformance, sampling: true } });
    const gateway = HttpProcess.waygate(workspace, ['--no-token', '--mode', 'passthrough']);
    const results = await runSuite(version, await gateway.url());
    const direct = await runSuite(version, await HttpProcess.fixture().url());
    expect(results.map(({ scenario }) => scenario)).toEqual(direct.map(({ scenario }) => scenario));
    expect(results.filter(({ failed, warned }) => failed.length + warned.length > 0)).toEqual([]);
    expect(total(results)).toEqual({ passed: checks, failed: 0 });
  });

  it('list as not applicable in gateway mode only scenarios that exist', async () => {
    const url = await HttpProcess.fixture().url();
    const known = (await Promise.all(VERSIONS.map((version) => runSuite(version, url)))).flat();
    const names = new Set(known.map(({ scenario }) => scenario));
    expect(Object.keys(NOT_IN_GATEWAY_MODE).filter((name) => !names.has(name))).toEqual([]);
  });

  it('detect a server that fails', async () => {
    const [result] = await runSuite('0.1.16', 'http://127.0.0.1:9/mcp', { scenario: 'ping' });
    expect(result).toMatchObject({ scenario: 'ping', passed: 0, failed: [expect.stringContaining('ping: ')] });
  });
});
