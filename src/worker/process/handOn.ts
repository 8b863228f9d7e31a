import { setTimeout as sleep } from 'node:timers/promises';
import { connectControl } from '../../control/channel.ts';
import type { KeptCounts } from '../../control/healthContract.ts';
import { tryAttach } from '../../host/attach/attach.ts';
import type { WorkAccount } from '../reports/workAccount.ts';

/** A successor that hangs must not keep the one that leaves. */
const TIMEOUT_MS = 1_000;

/** What the worker that leaves has counted, on its way to the one that serves now. */
export class HandingOn {
  readonly #folder: string;
  readonly #account: WorkAccount;
  /** Sent, and nobody knows whether it was taken. */
  #unanswered: readonly KeptCounts[] = [];

  constructor(folder: string, account: WorkAccount) {
    this.#folder = folder;
    this.#account = account;
  }

  /** Whoever looks at the figures does not see that another worker counts. */
  async handOn(): Promise<void> {
    // What was sent before goes once more as it was: by its id it is taken once, however late the answer was.
    const sent = [...this.#unanswered, this.#account.takeCounts()];
    const outcomes = await Promise.all(sent.map((counts) => this.#send(counts)));
    this.#unanswered = sent.filter((_, i) => outcomes[i] === 'unknown');
    for (const [i, counts] of sent.entries()) if (outcomes[i] === 'refused') this.#account.inherit(counts);
  }

  async #send(counts: KeptCounts): Promise<'taken' | 'refused' | 'unknown'> {
    const options = { kind: 'control', start: false, holds: false } as const;
    // One that speaks a newer link is not attached to, and has no use for what this one has counted.
    const found = await tryAttach(this.#folder, options, undefined).catch(() => undefined);
    if (!found?.socket) return 'refused';
    const control = connectControl(found.socket);
    try {
      const late = sleep(TIMEOUT_MS, undefined, { ref: false });
      const answer = await Promise.race([control.request('inherit', counts), late]);
      if (!answer) return 'unknown';
      return answer.inherited ? 'taken' : 'refused';
    } catch {
      return 'unknown';
    } finally {
      control.dispose();
    }
  }
}
