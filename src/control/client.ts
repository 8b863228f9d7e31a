import type { CallRecord, Refreshed } from './activityContract.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  ControlNotifications,
  ControlRequests,
  SecretAnswer,
  SecretRequest,
} from './contract.ts';

/** The worker or the connection ended before the answer, so the request may or may not have been carried out. */
export class GatewayGoneError extends Error {
  override readonly name = 'GatewayGoneError';

  constructor() {
    super('the gateway ended before it answered.');
  }
}

/** The worker is of an older build and does not know the request. */
export class OutdatedGatewayError extends Error {
  override readonly name = 'OutdatedGatewayError';

  constructor() {
    super('The gateway that runs is older than this extension. Reload the gateway to use this.');
  }
}

/** Client end of the control channel. */
export interface ControlClient {
  request<M extends keyof ControlRequests>(
    method: M,
    params: ControlRequests[M]['params'],
    /** Cancels the request at the worker. */
    signal?: AbortSignal,
  ): Promise<ControlRequests[M]['result']>;
  onSnapshot(listener: (snapshot: ControlNotifications['snapshot']) => void): void;
  onCalls(listener: (calls: readonly CallRecord[]) => void): void;
  onRefreshed(listener: (refreshed: Refreshed) => void): void;
  /**
   * Answers questions of the worker. Without a listener, the worker finds nobody to ask here. `gone` aborts when the
   * question needs no answer any more: the call was cancelled, another window answered, or its time is over.
   */
  onApproval(answer: (question: ApprovalQuestion, gone: AbortSignal) => Promise<ApprovalVerdict>): void;
  /** Keeps secrets for the worker. */
  onSecret(answer: (request: SecretRequest) => Promise<SecretAnswer>): void;
  /** Calls back when another worker has taken over; this connection is of no further use. */
  onSuperseded(listener: () => void): void;
  /** Calls back once, when the worker or the socket has ended. */
  onClose(listener: () => void): void;
  dispose(): void;
}
