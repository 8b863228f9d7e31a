import { resolve } from 'node:path';
import { rendezvous } from './census.ts';
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

  get worker(): number {
    return rendezvous(this.workspace)?.pid as number;
  }

  /** Kills the worker, and waits until its process has ended. */
  async killWorker(): Promise<void> {
    const pid = this.worker;
    process.kill(pid, 'SIGKILL');
    await until('the end of the worker', () => !isAlive(pid));
  }
}
