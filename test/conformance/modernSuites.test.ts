import { describe, expect, it } from 'vitest';
import { HttpProcess } from '../support/httpProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';
import { NOT_IN_GATEWAY_MODE } from './suites/notInGatewayMode.ts';
import { NEEDS_ROUNDS, NOT_IN_MODERN_ERA } from './suites/notInModernEra.ts';
import { runSuite, type ScenarioResult, type Selection, total } from './suites/runSuite.ts';

const SUITE = '0.2.0-alpha.12';
const REVISION = '2026-07-28';

/** Checks of `server-stateless` in the gateway mode, and those that call a tool of the fixture by its own name. */
const STATELESS_CHECKS = 26;
const CALLS_A_TOOL = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-sends-prompts-list-changed-on-subscription',
  'sep-2575-server-sends-tools-list-changed-on-subscription',
];

const conformance = { ...servers.conformance, sampling: true };
const rounds = { ...servers.rounds, sampling: true };

async function run(mode: string, entry: object, selected: Selection = {}): Promise<ScenarioResult[]> {
  const gateway = HttpProcess.waygate(testWorkspace({ fixture: entry }), ['--no-token', '--mode', mode]);
  return runSuite(SUITE, await gateway.url(), { revision: REVISION, ...selected });
}

function expectPassed(results: readonly ScenarioResult[], checks: number): void {
  expect(results.filter(({ failed, warned }) => failed.length + warned.length > 0)).toEqual([]);
  expect(total(results)).toEqual({ passed: checks, failed: 0 });
}

describe('the official conformance suite of revision 2026-07-28', () => {
  it('is met by the passthrough mode in front of an older server, but for questions', async () => {
    const results = await run('passthrough', conformance);
    const applying = results.filter(({ scenario }) => !(scenario in NOT_IN_MODERN_ERA) && !NEEDS_ROUNDS.test(scenario));
    expectPassed(applying, 75);
    // No scenario is forgotten: the others are in the next test, or listed.
    const names = results.map(({ scenario }) => scenario);
    expect(Object.keys(NOT_IN_MODERN_ERA).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('is met in its scenarios with questions, in front of a server of that revision', async () => {
    const results = await run('passthrough', rounds);
    const applying = results.filter(({ scenario }) => NEEDS_ROUNDS.test(scenario) && !(scenario in NOT_IN_MODERN_ERA));
    expectPassed(applying, 67);
  });

  it('is met by the gateway mode in what applies to it', async () => {
    const results = await run('gateway', conformance);
    const applying = results.filter(
      ({ scenario }) =>
        !(scenario in NOT_IN_MODERN_ERA) && !(scenario in NOT_IN_GATEWAY_MODE) && !NEEDS_ROUNDS.test(scenario),
    );
    expectPassed(applying, 53);
    const stateless = results.find(({ scenario }) => scenario === 'server-stateless');
    expect(stateless?.passed).toBe(STATELESS_CHECKS);
    expect([...(stateless?.failed ?? []), ...(stateless?.warned ?? [])].map((one) => one.split(':')[0])).toEqual(
      CALLS_A_TOOL,
    );
  });

  it('detects a server that does not speak it', async () => {
    const [result] = await runSuite(SUITE, await HttpProcess.fixture().url(), {
      scenario: 'server-stateless',
      revision: REVISION,
    });
    expect(result?.failed.map((one) => one.split(':')[0])).toContain('sep-2575-server-implements-discover');
  });
});
