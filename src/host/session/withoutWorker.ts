import { existsSync } from 'node:fs';
import type { HealthWithoutWorker, NoTelemetry } from '../../control/healthContract.ts';
import type { Fault } from '../../errors/fault.ts';
import { whatHappened } from '../../errors/faultError.ts';
import { type JsonRpcMessage, resultResponse } from '../../link/frames.ts';
import type { Mode } from '../../link/mode.ts';
import { GATEWAY_TOOLS } from '../../modes/shared/gatewayTools.ts';
import { type SystemResources, systemResources } from '../../modes/shared/systemResources.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import { lastWords, logLength } from '../attach/lastWords.ts';
import { forgetOutage, noteOutage } from '../attach/lastWorker.ts';
import { type GatewayTarget, workerLogFile } from '../attach/startWorker.ts';
import type { ClientCall } from './clientCall.ts';

export interface WithoutWorkerOptions extends Pick<GatewayTarget, 'workspace'> {
  /** The gateway's folder in the state. */
  folder: string;
  mode: Mode;
  health: () => HealthSnapshot;
}

/**
 * Answers of a host while no worker can be had: its health and the tools of gateway mode (O4.3, O7.4). In the other
 * modes the lists belong to the servers.
 */
export class WithoutWorker {
  readonly #options: WithoutWorkerOptions;
  readonly #resources: SystemResources;
  readonly #logFile: string;
  /** How much of the log there was when the last worker began to serve. */
  #logged = 0;
  #fault: Fault | undefined;
  /** The client's last list of tools, in the frame that brought it. */
  #listed: Buffer | undefined;

  constructor(options: WithoutWorkerOptions) {
    this.#options = options;
    this.#logFile = workerLogFile(options.folder);
    this.#resources = systemResources({ health: () => this.#report(), telemetry: () => this.#noTelemetry() });
  }

  /** Why no worker can be had; what is asked meanwhile is not kept waiting. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** The worker's log, where there is one. */
  get log(): string | undefined {
    return existsSync(this.#logFile) ? this.#logFile : undefined;
  }

  /** What the worker that was lost has said of its end. */
  lastWords(): string | undefined {
    return lastWords(this.#logFile, this.#logged);
  }

  noteAnswer({ method }: ClientCall, frame: Buffer): void {
    if (method === 'tools/list' && this.#options.mode === 'gateway') this.#listed = frame;
  }

  /** No worker can be had. */
  begin(fault: Fault): void {
    this.#fault = fault;
    noteOutage(this.#options.folder, this.#report());
  }

  /** There is one. */
  end(): void {
    this.#logged = logLength(this.#logFile);
    if (this.#fault) forgetOutage(this.#options.folder);
    this.#fault = undefined;
  }

  /**
   * The answer to a request that needs no worker; undefined for any other. `onListed` hears of a list that no worker
   * has answered with: the next worker has the client list again.
   */
  answer({ id, method, uri }: ClientCall, onListed: (method: string) => void): string | undefined {
    if (this.#fault === undefined || this.#options.mode !== 'gateway') return undefined;
    if (method === 'tools/list') {
      if (!this.#listed) onListed(method);
      return resultResponse(id, { tools: this.#tools });
    }
    if (method === 'resources/list') {
      onListed(method);
      return resultResponse(id, { resources: this.#resources.list() });
    }
    const contents = method === 'resources/read' && uri !== undefined ? this.#resources.read(uri) : undefined;
    return contents && resultResponse(id, { contents });
  }

  get #tools(): readonly object[] {
    if (!this.#listed) return GATEWAY_TOOLS;
    const { result } = JSON.parse(this.#listed.toString('utf8')) as JsonRpcMessage & { result: { tools: object[] } };
    return result.tools;
  }

  #report(): HealthWithoutWorker {
    const { log } = this;
    const { workspace, health } = this.#options;
    return {
      workspace,
      ...health(),
      condition: 'down',
      problems: this.#fault ? [whatHappened(this.#fault, { subject: undefined })] : [],
      servers: [],
      ...(log === undefined ? {} : { worker_log: log }),
      host_pid: process.pid,
    };
  }

  #noTelemetry(): NoTelemetry {
    const { workspace, state } = this.#report();
    return { workspace, state, totals: null };
  }
}
