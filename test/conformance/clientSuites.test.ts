import { describe, expect, it } from 'vitest';
import { NOT_FOR_UPSTREAMS } from './suites/notForUpstreams.ts';
import { type ClientResult, clientScenarios, runClientScenario } from './suites/runClientSuite.ts';
import { SUITES, type SuiteVersion } from './suites/runSuite.ts';

const SCENARIOS = (Object.keys(SUITES) as SuiteVersion[]).flatMap((version) =>
  clientScenarios(version).map((one) => ({ version, ...one })),
);
const MODERN = '2026-07-28';
/** A busy machine may reconnect 0.2 s later than requested. */
const LATE = /^client-sse-retry-timing: Client reconnected slightly late/;

const applies = ({ scenario }: (typeof SCENARIOS)[number]): boolean => !(scenario in NOT_FOR_UPSTREAMS);

const isOfBothEras = ({ revisions }: (typeof SCENARIOS)[number]): boolean =>
  revisions.includes(MODERN) && revisions.length > 1;

function expectPassed({ exitCode, passed, failed, warned, output }: ClientResult): void {
  expect(failed, output).toEqual([]);
  expect(warned.filter((one) => !LATE.test(one))).toEqual([]);
  expect(exitCode, output).toBe(0);
  expect(passed).toBeGreaterThan(0);
}

describe('the client scenarios of the official suites, against our connections to servers', () => {
  it.each(SCENARIOS.filter(applies))('$version: $scenario', async ({ version, scenario }) => {
    expectPassed(await runClientScenario(version, scenario));
  });

  // The test above runs a scenario of both eras in the older one.
  it.each(SCENARIOS.filter(applies).filter(isOfBothEras))(
    `$version: $scenario in ${MODERN}`,
    async ({ version, scenario }) => {
      expectPassed(await runClientScenario(version, scenario, MODERN));
    },
  );

  it('are all run or listed with a reason', () => {
    const count = (wanted: SuiteVersion) => SCENARIOS.filter((one) => one.version === wanted && applies(one)).length;
    expect([count('0.1.16'), count('0.2.0-alpha.12')]).toEqual([23, 38]);
    expect(SCENARIOS.filter(applies).filter(isOfBothEras)).toHaveLength(16);
    const names = SCENARIOS.map(({ scenario }) => scenario);
    expect(Object.keys(NOT_FOR_UPSTREAMS).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('detect a wrong connection', async () => {
    const { failed } = await runClientScenario('0.1.16', 'auth/client-credentials-basic');
    expect(failed.map((one) => one.split(':')[0])).toContain('client-credentials-grant-type');
  });
});
