import type { Readable, Writable } from 'node:stream';
import type { RequestId } from '../../link/frames.ts';
import type { Mode } from '../../link/mode.ts';
import type { StateSeal } from '../../mcp/modern/requestState.ts';

/** Host of a legacy session (`SessionHost`), of which this bundle has no code. */
export interface LegacyHost {
  /** Serves until its input ends. */
  run(): Promise<number>;
  /** Returns whether the request with this id may run elsewhere: it has not begun, or its contract allows it. */
  mayRepeat(id: RequestId): boolean;
}

/** Answer to `initialize` (`SessionBeginning`). */
export interface Introduction {
  capabilities: Readonly<Record<string, unknown>>;
  serverInfo: object;
  instructions?: string | undefined;
}

/** Store of an introduction that a worker made, for a host that has no worker yet. */
export interface KeptIntroduction {
  read(): Pick<Introduction, 'capabilities' | 'instructions'> | undefined;
  write(introduction: Pick<Introduction, 'capabilities' | 'instructions'>): void;
}

export interface ModernOptions {
  mode: Mode;
  /** Absent in passthrough mode, where the worker makes it. */
  introduction: Introduction | undefined;
  /** Present in passthrough mode. */
  kept?: KeptIntroduction | undefined;
  serverInfo: object;
  /** Opens the legacy session that serves the client. Frames from it name their related request. */
  openHost(streams: { input: Readable; output: Writable }, mode: Mode): LegacyHost;
  /** Makes the legacy answer to a request that may have run, and whose answer is lost. */
  outcomeUnknown(method: string): string;
  seal: StateSeal;
  /** Marks a round as answered. Returns false if it was before, also in another process. */
  use(nonce: string): boolean;
  /** The transport is HTTP, where a client would repeat parameters in headers. */
  isHttp: boolean;
}
