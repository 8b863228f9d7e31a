/**
 * Measures the recovery of a killed server: from SIGKILL to the answer of the next call through Waygate's connection.
 * The floor, measured in the same rounds, is the start of a bare child from its spawn to its first answer.
 * `node test/bench/recovery.ts [--kills N] [--json]`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '60' }, json: { type: 'boolean' } } });
const args = [resolve('test/fixtures/server.mjs')];
const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));

/** Measures the floor: spawn, initialize and one call. */
async function bareStart(): Promise<number> {
  const started = performance.now();
  const child = new BareChild();
  await child.initialized();
  await child.call();
  const took = performance.now() - started;
  await child.kill();
  return took;
}

class BareChild {
  readonly #child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  readonly #answers = new Map<number, () => void>();

  constructor() {
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#answers.get((JSON.parse(line) as { id: number }).id)?.();
    });
  }

  async initialized(): Promise<void> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
    await this.#ask(1, 'initialize', params);
    this.#send({ method: 'notifications/initialized' });
  }

  call(): Promise<void> {
    return this.#ask(2, 'tools/call', { name: 'echo', arguments: { text: 'a' } });
  }

  kill(): Promise<void> {
    const gone = new Promise<void>((done) => this.#child.once('exit', () => done()));
    this.#child.kill('SIGKILL');
    return gone;
  }

  #ask(id: number, method: string, params: object): Promise<void> {
    const answered = new Promise<void>((done) => this.#answers.set(id, done));
    this.#send({ id, method, params });
    return answered;
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

const journal = new ChildJournal(folder);
const config: StdioServerConfig = {
  name: 'one',
  type: 'stdio',
  command: process.execPath,
  args,
  env: {},
  cwd: process.cwd(),
  disabled: false,
  keepAlive: false,
  location: { file: '', line: 1, column: 1 },
};

/** Measures one recovery. Each kill uses a new connection, so that the crash loop limit does not apply. */
async function recovery(): Promise<number> {
  const connection = new ServerConnection(
    config,
    { openLink: async (written, events) => new StdioLink(written as StdioServerConfig, journal, events) },
    { onChange: () => undefined, log: () => undefined, scrubSecrets: (text) => text },
  );
  await connection.start();
  const killed = performance.now();
  process.kill(connection.pid as number, 'SIGKILL');
  for (;;) {
    const answered = await connection.call('echo', { text: 'a' }, { timeoutMs: 5_000 }).then(
      () => true,
      () => false,
    );
    if (answered && connection.health.restart_count > 0) break;
  }
  const took = performance.now() - killed;
  await connection.stop();
  return took;
}

const at = (list: number[], share: number): number =>
  list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))] as number;

const times = {
  floor: [] as number[],
  recovery: [] as number[],
};
for (let n = 0; n < Number(values.kills); n++) {
  times.floor.push(await bareStart());
  times.recovery.push(await recovery());
}
await journal.close();
rmSync(folder, { recursive: true, force: true });

const report = {
  floorP50Ms: at(times.floor, 0.5),
  floorP95Ms: at(times.floor, 0.95),
  recoveryP50Ms: at(times.recovery, 0.5),
  recoveryP95Ms: at(times.recovery, 0.95),
};
if (values.json) console.log(JSON.stringify(report));
else {
  const { floorP50Ms, floorP95Ms, recoveryP50Ms, recoveryP95Ms } = report;
  console.log(`bare start  p50 ${floorP50Ms.toFixed(0)} ms, p95 ${floorP95Ms.toFixed(0)} ms`);
  console.log(
    `recovery    p50 ${recoveryP50Ms.toFixed(0)} ms (${(recoveryP50Ms / floorP50Ms).toFixed(2)} x), ` +
      `p95 ${recoveryP95Ms.toFixed(0)} ms (+${(recoveryP95Ms - floorP95Ms).toFixed(0)} ms)`,
  );
}
