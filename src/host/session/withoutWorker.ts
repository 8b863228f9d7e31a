import { existsSync } from 'node:fs';
import type { HealthWithoutWorker, NoTelemetry } from '../../control/healthContract.ts';
import type { Fault } from '../../errors/fault.ts';
import { whatHappened } from '../../errors/faultError.ts';
import { type JsonRpcMessage, resultResponse } from '../../link/frames.ts';
import type { Mode } from '../../link/mode.ts';
import { GATEWAY_TOOLS } from '../../modes/shared/gatewayTools.ts';
import { type SystemResources, systemResources } from '../../modes/shared/systemResources.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import { exitReason, logLength } from '../attach/exitReason.ts';
import { forgetOutage, noteOutage } from '../attach/lastWorker.ts';
import { type GatewayTarget, workerLogFile } from '../attach/startWorker.ts';
import type { ClientCall } from './clientCall.ts';

export interface WithoutWorkerOptions extends Pick<GatewayTarget, 'workspace'> {
  /** Folder of the gateway in the state. */
  folder: string;
  mode: Mode;
  health: () => HealthSnapshot;
}

/**
 * Answers requests while no worker is available: health and, in gateway mode, the tools (O4.3, O7.4). In the other
 * modes the lists belong to the servers.
 */
export class WithoutWorker {
  readonly #options: WithoutWorkerOptions;
  readonly #resources: SystemResources;
  readonly #logFile: string;
  /** Length of the log when the last attempt to attach began. */
  #logged = 0;
  #fault: Fault | undefined;
  /** Last answer to the client's `tools/list`, as a frame. */
  #listed: Buffer | undefined;

  constructor(options: WithoutWorkerOptions) {
    this.#options = options;
    this.#logFile = workerLogFile(options.folder);
    this.#resources = systemResources({ health: () => this.#report(), telemetry: () => this.#noTelemetry() });
  }

  /** Reason why no worker is available; while set, requests get an answer at once. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Path of the worker's log, if the file exists. */
  get log(): string | undefined {
    return existsSync(this.#logFile) ? this.#logFile : undefined;
  }

  /** Notes where the log ends. A worker may crash while the host attaches, so the mark is set before. */
  beforeAttach(): void {
    this.#logged = logLength(this.#logFile);
  }

  /** Returns the reason that the lost worker wrote when it ended. */
  exitReason(): string | undefined {
    return exitReason(this.#logFile, this.#logged);
  }

  noteAnswer({ method }: ClientCall, frame: Buffer): void {
    if (method === 'tools/list' && this.#options.mode === 'gateway') this.#listed = frame;
  }

  /** Begins an outage. */
  begin(fault: Fault): void {
    this.#fault = fault;
    noteOutage(this.#options.folder, this.#report());
  }

  /** Ends an outage: a worker is attached. */
  end(): void {
    if (this.#fault) forgetOutage(this.#options.folder);
    this.#fault = undefined;
  }

  /**
   * Answers a request that needs no worker; returns `undefined` for any other. Calls `onListed` for a list of the
   * host's own, so that the next worker has the client list again.
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
