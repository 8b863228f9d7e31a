import type { CallRecord, Refreshed } from '../../control/activityContract.ts';
import type { ControlClient } from '../../control/client.ts';
import type { ControlRequests, GatewaySnapshot, TreeChildren } from '../../control/contract.ts';
import type { ServerScan, TrustDecision, TrustReview } from '../../control/trustContract.ts';
import type { OutdatedProgramError } from '../../host/attach/startWorker.ts';
import { t } from '../l10n.ts';
import { Observable } from '../observable.ts';
import { asSentence } from '../plainText.ts';
import {
  type LinkEffect,
  type LinkEvent,
  type LinkPhase,
  type LinkTarget,
  type OffReason,
  step,
  willAttach,
} from './linkMachine.ts';

/** Finds or starts the worker of a workspace and attaches to it. */
export type Attach = (workspace: string, signal: AbortSignal) => Promise<ControlClient | undefined>;

/**
 * State of the link as a view sees it. `attachment` distinguishes a worker from its successor, whose revisions restart.
 */
export type LinkState =
  | { kind: 'off'; reason: OffReason }
  | { kind: 'attaching' }
  | { kind: 'attached'; attachment: number; snapshot: GatewaySnapshot }
  | { kind: 'waiting'; attempt: number; reason: string; delayMs: number }
  | { kind: 'stopping' };

/** Requests that are not sent again to another worker: a call may have taken effect, and the worker has its own calls. */
const ONCE: ReadonlySet<keyof ControlRequests> = new Set<keyof ControlRequests>(['callTool', 'cancelCall']);

/** Control connection from the editor to the worker. Does not wait for a chat, and never uses `lm.invokeTool`. */
export class GatewayLink {
  readonly state = new Observable<LinkState>({ kind: 'off', reason: 'checking' }, sameState);

  /** Calls that began, changed their phase or ended. */
  readonly calls = new Observable<readonly CallRecord[]>([], () => false);
  /** Ends of refreshes. */
  readonly refreshed = new Observable<Refreshed | undefined>(undefined, () => false);

  readonly #attach: Attach;
  #phase: LinkPhase = { kind: 'off', reason: 'checking' };
  #client: ControlClient | undefined;
  #snapshot: GatewaySnapshot | undefined;
  /** Last shown state of the replaced worker. */
  #left: LinkState | undefined;
  #attachment = 0;
  #attachedAt = 0;
  #abort: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(attach: Attach) {
    this.#attach = attach;
  }

  setTarget(target: LinkTarget): void {
    this.#dispatch({ type: 'target', target });
  }

  /**
   * Lists the tools of every server again, or of one, and reconnects failed servers. Resolves when all have answered or
   * failed, or when the worker has ended. `onBegan` receives the servers that it began with.
   */
  async refresh(server?: string, onBegan?: (servers: readonly string[]) => void): Promise<readonly Refreshed[]> {
    const ended = new Map<string, Refreshed>();
    let settle = (): void => undefined;
    const news = this.refreshed.onChange((one) => {
      if (one) ended.set(one.server, one);
      settle();
    });
    const state = this.state.onChange(() => settle());
    try {
      const { began = [], ...snapshot } = await this.request('refresh', server === undefined ? {} : { server });
      onBegan?.(began);
      // A server that has nothing to list ends before the answer comes.
      for (const early of [...ended.values()]) if (began.includes(early.server)) this.refreshed.set(early);
      const attachment = this.#attachment;
      if (this.#client && this.#phase.kind === 'attached') this.#accept(this.#client, snapshot);
      await new Promise<void>((resolve) => {
        settle = () => {
          const isGone = this.#attachment !== attachment || this.#phase.kind !== 'attached';
          if (isGone || began.every((name) => ended.has(name))) resolve();
        };
        settle();
      });
      return began.flatMap((name) => ended.get(name) ?? []);
    } finally {
      news.dispose();
      state.dispose();
    }
  }

  /** Requests the current state, for decisions that must not depend on an older snapshot. */
  status(): Promise<GatewaySnapshot> {
    return this.request('status', {});
  }

  /** Approves servers by the hashes of the commands that the user has seen. */
  approve(hashes: readonly string[]): Promise<void> {
    return this.#step('approve', { hashes });
  }

  /**
   * Begins a sign-in. Resolves to the address for the browser and to a promise of the result: undefined, or the reason
   * of the failure.
   */
  async signIn(server: string): Promise<{ url: string; end: Promise<string | undefined> }> {
    const client = this.#attachedClient();
    const answer = await client.request('signIn', { server });
    if ('reason' in answer) throw new Error(answer.reason);
    return { url: answer.url, end: client.request('signInEnd', { server }).then(({ reason }) => reason) };
  }

  /** Signs out; resolves to whether the user was signed in. */
  async signOut(server: string): Promise<boolean> {
    const answer = await this.#attachedClient().request('signOut', { server });
    if ('reason' in answer) throw new Error(answer.reason);
    return answer.wasSignedIn;
  }

  /** Makes servers that wait for a secret check again whether it exists. */
  recheck(): Promise<void> {
    return this.#step('recheck', {});
  }

  children(path: string): Promise<TreeChildren> {
    return this.request('children', { path });
  }

  /** Compares what servers list with what the user approved; of one server, or of all. */
  trust(server?: string): Promise<readonly TrustReview[]> {
    return this.request('trust', server === undefined ? {} : { server });
  }

  scan(server: string): Promise<readonly ServerScan[]> {
    return this.request('scan', { server });
  }

  /** Records a decision of the user. Rejects with the reason if it has no effect. */
  async decide(decision: TrustDecision): Promise<void> {
    const { reason } = await this.request('decide', { ...decision, actor: 'person-editor' });
    if (reason !== undefined) throw new Error(reason);
  }

  /** Stops the attached worker, if any, and attaches to a new one. Settles with the first attachment or failure. */
  restart(): Promise<void> {
    this.#dispatch({ type: 'restart' });
    return this.#settled();
  }

  /**
   * Replaces the attached worker, which serves until the new one takes over, and attaches to the new one. Rejects with
   * the reason if that fails; then nothing has changed.
   */
  async reload(rollOut: (workspace: string) => Promise<unknown>): Promise<void> {
    if (this.#phase.kind !== 'attached') return this.restart();
    const before = this.#attachment;
    await rollOut(this.#phase.workspace);
    // The old worker may have announced its successor already, and the link may have moved.
    if (this.#attachment === before) this.#dispatch({ type: 'replaced' });
    await this.#settled();
  }

  /** Resolves with the next attachment, at once if there is one; rejects with the reason if attaching fails. */
  #settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (state: LinkState): boolean => {
        if (this.#phase.kind === 'moving') return false;
        if (state.kind === 'attached') resolve();
        else if (state.kind === 'waiting') reject(new Error(state.reason));
        else if (state.kind === 'off') reject(new Error(t`The gateway is off in this workspace.`));
        else return false;
        return true;
      };
      if (this.#phase.kind !== 'waiting' && settle(this.state.value)) return;
      const watching = this.state.onChange((state) => {
        if (settle(state)) watching.dispose();
      });
    });
  }

  dispose(): void {
    this.#dispatch({ type: 'dispose' });
  }

  /** Sends a request to the worker, once it has started. If that worker ends before it answers, asks the successor. */
  request<M extends keyof ControlRequests>(
    method: M,
    params: ControlRequests[M]['params'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[M]['result']> {
    if (willAttach(this.#phase)) return this.#settled().then(() => this.request(method, params, signal));
    return this.#attachedClient()
      .request(method, params, signal)
      .catch((error) => {
        if (!willAttach(this.#phase) || ONCE.has(method)) throw error;
        return this.request(method, params, signal);
      });
  }

  async #step<M extends 'approve' | 'recheck'>(method: M, params: ControlRequests[M]['params']): Promise<void> {
    const attachment = this.#attachment;
    const snapshot = await this.request(method, params);
    if (!this.#client || this.#phase.kind !== 'attached' || this.#attachment !== attachment) return;
    this.#accept(this.#client, snapshot);
  }

  #attachedClient(): ControlClient {
    if (this.#client === undefined || this.#phase.kind !== 'attached') {
      throw new Error(t`The gateway is not running yet; run the command Waygate: Restart Gateway.`);
    }
    return this.#client;
  }

  #dispatch(event: LinkEvent): void {
    const { phase, effects } = step(this.#phase, event);
    this.#phase = phase;
    for (const effect of effects) this.#perform(effect);
    this.#publish();
  }

  #perform(effect: LinkEffect): void {
    switch (effect.type) {
      case 'set_timer':
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#dispatch({ type: 'timer' }), effect.ms);
        return;
      case 'clear_timer':
        clearTimeout(this.#timer);
        return;
      case 'attach':
        void this.#open(effect.workspace);
        return;
      case 'stop_worker':
        // The answer and the end of the socket arrive in either order; only the end matters.
        this.#client?.request('stop', {}).catch(() => undefined);
        return;
      case 'hand_over':
        this.#left = this.state.value;
        this.#detach();
        return;
      case 'detach':
        this.#detach();
    }
  }

  #detach(): void {
    this.#abort?.abort();
    this.#client?.dispose();
    this.#abort = undefined;
    this.#client = undefined;
    this.#snapshot = undefined;
  }

  async #open(workspace: string): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const client = await this.#attach(workspace, abort.signal);
      if (abort.signal.aborted) {
        client?.dispose();
        return;
      }
      if (client === undefined) throw new Error(t`No gateway runs in this workspace and none could be started.`);
      this.#client = client;
      client.onClose(() => this.#closed(client));
      client.onSnapshot((snapshot) => this.#accept(client, snapshot));
      client.onCalls((calls) => client === this.#client && this.calls.set(calls));
      client.onRefreshed((news) => client === this.#client && this.refreshed.set(news));
      client.onSuperseded(() => client === this.#client && this.#dispatch({ type: 'replaced' }));
      const first = await client.request('watch', {});
      if (abort.signal.aborted) return;
      this.#attachment += 1;
      this.#attachedAt = performance.now();
      this.#snapshot ??= first;
      this.#dispatch({ type: 'attached' });
    } catch (error) {
      if (!abort.signal.aborted) this.#dispatch({ type: 'attach_failed', reason: reasonOf(error) });
    }
  }

  #closed(client: ControlClient): void {
    if (client !== this.#client) return;
    if (this.#phase.kind === 'attaching' || this.#phase.kind === 'moving') {
      this.#dispatch({ type: 'attach_failed', reason: t`The gateway exited while it was starting.` });
    } else {
      this.#dispatch({ type: 'closed', attachedForMs: performance.now() - this.#attachedAt });
    }
  }

  #accept(client: ControlClient, snapshot: GatewaySnapshot): void {
    if (client !== this.#client) return;
    this.#snapshot = snapshot;
    this.#publish();
  }

  #publish(): void {
    const state = this.#visible();
    if (state !== undefined) this.state.set(state);
  }

  #visible(): LinkState | undefined {
    switch (this.#phase.kind) {
      case 'off':
        return { kind: 'off', reason: this.#phase.reason };
      case 'waiting':
        return {
          kind: 'waiting',
          attempt: this.#phase.attempt,
          reason: this.#phase.reason,
          delayMs: this.#phase.delayMs,
        };
      case 'attached':
        return this.#snapshot && { kind: 'attached', attachment: this.#attachment, snapshot: this.#snapshot };
      case 'moving':
        return this.#left;
      case 'attaching':
      case 'stopping':
        return { kind: this.#phase.kind };
      case 'disposed':
        return undefined;
    }
  }
}

/** Compares states. Snapshots always count as changed, other states only if they differ. */
function sameState(a: LinkState, b: LinkState): boolean {
  return a.kind !== 'attached' && b.kind !== 'attached' && JSON.stringify(a) === JSON.stringify(b);
}

/** Returns the reason of an error as a sentence, for a document or a view. */
export function sentenceOf(error: unknown): string {
  return asSentence(reasonOf(error));
}

/** Words of the editor where its own build cannot serve. The message of the error asks a client to restart. */
const OUTDATED: Readonly<Record<OutdatedProgramError['outdated'], string>> = {
  removed: t`This build of the extension was removed, probably by an update: run the command Developer: Reload Window.`,
  older: t`A newer Waygate serves this workspace: update the extension, then run the command Developer: Reload Window.`,
};

function reasonOf(error: unknown): string {
  const { outdated } = error instanceof Error ? (error as Partial<OutdatedProgramError>) : {};
  if (outdated !== undefined) return OUTDATED[outdated];
  return error instanceof Error ? error.message : String(error);
}
