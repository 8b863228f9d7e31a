import { resolve } from 'node:path';
import { status } from './census.ts';
import { readEffects } from './historyChecker.ts';
import { isAlive, until } from './hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from './workspace.ts';

/** Workspace with a server whose tool `act` has an effect and needs approval, and with one that asks questions itself. */
export class RoundGateway {
  readonly workspace: TestWorkspace;
  readonly #effects: string;

  /** `more`: further blocks of the configuration. */
  constructor(more: object = {}) {
    this.workspace = testWorkspace();
    this.#effects = this.workspace.write('effects.jsonl', '');
    const faulty = {
      command: process.execPath,
      args: [resolve('test/fixtures/faultServer.mjs'), '--effects', this.#effects],
    };
    const asking = { ...servers.conformance, sampling: true };
    this.workspace.write(
      '.vscode/waygate.json',
      JSON.stringify({
        policy: { rules: [{ action: 'require_approval', tool: 'act' }] },
        ...more,
        servers: { faulty, asking },
      }),
    );
    this.workspace.approve();
  }

  effectsOf(nonce: string): number {
    return readEffects(this.#effects).filter((effect) => effect.nonce === nonce).length;
  }

  /** Kills the worker, as soon as one answers. `waits`: for the end of its process. */
  async killWorker({ waits = true } = {}): Promise<void> {
    const pid = await until('a worker', async () => (await status(this.workspace)).worker?.pid);
    process.kill(pid, 'SIGKILL');
    if (waits) await until('the end of the worker', () => !isAlive(pid));
  }
}
