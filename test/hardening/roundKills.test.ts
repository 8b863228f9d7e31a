import { expect, it } from 'vitest';
import { HostProcess } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { answering, askedIn, ELICITS, ModernCaller, ModernHttp, ONCE, textOf } from '../support/modernClient.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';
import { RoundGateway } from '../support/roundGateway.ts';

/**
 * Kills workers, and over HTTP hosts, between the question of an approval and its answer. WAYGATE_ROUND_KILLS (20) and
 * WAYGATE_ROUND_SEED change the run.
 */
const KILLS = Number(process.env.WAYGATE_ROUND_KILLS ?? 20);
const SEED = Number(process.env.WAYGATE_ROUND_SEED ?? Date.now() % 2 ** 31);
/** Time limit of one kill on a busy machine. */
const KILL_MS = 15_000;

it(`every approved call runs once over ${KILLS} kills between its rounds`, { timeout: KILLS * KILL_MS }, async () => {
  console.log(`WAYGATE_ROUND_SEED=${SEED}`);
  const random = new PseudoRandom(SEED);
  const gateway = new RoundGateway();
  const stdio = ModernCaller.on(new HostProcess(gateway.workspace), ELICITS);
  const act = await stdio.toolId('/faulty/act');
  const call = (client: ModernCaller, nonce: string, more: object = {}) =>
    client.call('tool_execute', { tool_id: act, args: { nonce } }, more);
  let served = HttpProcess.waygate(gateway.workspace, ['--no-token']);
  let http = new ModernHttp(await served.url());
  let kills = 0;
  const restartHost = async (): Promise<void> => {
    served.child.kill('SIGKILL');
    await served.exited;
    served = HttpProcess.waygate(gateway.workspace, ['--no-token']);
    http = new ModernHttp(await served.url());
  };
  for (let i = 0; kills < KILLS; i++) {
    const nonce = `call-${i}`;
    const overHttp = random.below(10) === 0;
    const client = (): ModernCaller => (overHttp ? http.caller(ELICITS) : stdio);
    const asked = askedIn(await call(client(), nonce));
    expect(gateway.effectsOf(nonce), nonce).toBe(0);
    // A second kill hits the next worker, and the answer may come while none runs.
    for (let times = 1 + random.below(2); times > 0; times--, kills++) {
      if (overHttp && random.below(2) === 0) await restartHost();
      else await gateway.killWorker({ waits: random.below(2) === 0 });
    }
    const answer = await call(client(), nonce, answering(asked, ONCE));
    expect(textOf(answer), nonce).toContain(nonce);
    expect(gateway.effectsOf(nonce), nonce).toBe(1);
    // A host whose workers keep ending without an answer in between takes that for a crash loop.
    for (const one of [stdio, http.caller()]) await one.call('tool_browse', { path: '/' });
  }
});
