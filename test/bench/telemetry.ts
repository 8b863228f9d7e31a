/**
 * Measures the overhead of telemetry and event log per call in microseconds: a mode without processes, with and without
 * them, in alternating blocks of one run (both create the event). Work that is deferred after the call is measured
 * separately as CPU time. `node test/bench/telemetry.ts [--calls N] [--json]`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CallPipeline } from '../../src/calls/pipeline/callPipeline.ts';
import { gatewayMode } from '../../src/modes/gateway/gatewayMode.ts';
import { type AdmittedResult, Firewall } from '../../src/results/firewall.ts';
import { scrubSecrets } from '../../src/secrets/mask.ts';
import { Diagnostics } from '../../src/worker/reports/diagnostics.ts';
import { fixedContext } from '../support/fixedContext.ts';
import { percentile } from './measure.ts';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '20000' }, json: { type: 'boolean' } } });
const BLOCK = 200;
const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
const diagnostics = new Diagnostics({ workspace: folder, stateFolder: folder, scrubSecrets, sentTokens: () => 0 });
const ECHO = {
  name: 'echo',
  description: 'Says back the text it was given.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
const answer = { content: [{ type: 'text', text: 'a line of an answer, as servers give it\n'.repeat(20) }] };

function mode(onCallEnd: Parameters<typeof gatewayMode>[0]['onCallEnd']) {
  const context = fixedContext([{ server: 'fixture', tools: [ECHO] }]);
  const firewall = new Firewall({ store: context.artifacts });
  const calls = new CallPipeline<AdmittedResult>({
    upstream: () => ({ state: 'ready', call: async () => answer }),
    firewall: (result, { tool }) => firewall.admit(result, { toolId: tool.id, upstreamName: tool.upstreamName }),
    scrubSecrets,
  });
  const id = context.view().catalog.tools[0]?.id;
  const { callTool } = gatewayMode({ ...context, calls, onCallEnd });
  const session = {};
  const { signal } = new AbortController();
  const args = { tool_id: id, args: { text: 'hello' } };
  return () => callTool('tool_execute', args, { signal, client: 'bench', session });
}

const without = mode(() => undefined);
const withTelemetry = mode((call, event) => diagnostics.callEnded(call, event));

async function block(run: () => Promise<unknown>, times: number[]): Promise<void> {
  for (let n = 0; n < BLOCK; n++) {
    const started = performance.now();
    await run();
    times.push((performance.now() - started) * 1_000);
  }
}

/** Finishes the deferred work before the next block begins, and returns its CPU time in microseconds. */
async function settled(): Promise<number> {
  const before = process.cpuUsage();
  await diagnostics.flush();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const calls = Number(values.calls);
const plain: number[] = [];
const observed: number[] = [];
let later = 0;
for (const warm of [true, false]) {
  plain.length = 0;
  observed.length = 0;
  later = 0;
  for (let done = 0; done < (warm ? calls / 10 : calls); done += BLOCK) {
    await block(without, plain);
    await block(withTelemetry, observed);
    later += await settled();
  }
}
await diagnostics.close();
rmSync(folder, { recursive: true, force: true });

for (const list of [plain, observed]) list.sort((a, b) => a - b);
const p50 = [percentile(plain, 0.5), percentile(observed, 0.5)] as const;
const result = {
  withoutP50Us: p50[0],
  withP50Us: p50[1],
  addedP50Us: p50[1] - p50[0],
  ratioP50: p50[1] / p50[0],
  withoutP99Us: percentile(plain, 0.99),
  withP99Us: percentile(observed, 0.99),
  laterUsPerCall: later / observed.length,
  eventLog: diagnostics.health({ condition: 'ready', servers: [], problems: [] }).event_log,
};
if (values.json) console.log(JSON.stringify(result));
else {
  console.log(
    `a call      ${result.withoutP50Us.toFixed(1)} µs without, ${result.withP50Us.toFixed(1)} µs with: ` +
      `+${result.addedP50Us.toFixed(2)} µs, ${result.ratioP50.toFixed(3)} x (p99 ${result.withoutP99Us.toFixed(0)} / ${result.withP99Us.toFixed(0)})`,
  );
  console.log(`afterwards  ${result.laterUsPerCall.toFixed(1)} µs of processor a call, for events and tokens`);
}
