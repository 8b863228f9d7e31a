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

/** Client end of the control channel. */
export interface ControlClient {
  request<M extends keyof ControlRequests>(
    method: M,
    params: ControlRequests[M]['params'],
  ): Promise<ControlRequests[M]['result']>;
  onSnapshot(listener: (snapshot: ControlNotifications['snapshot']) => void): void;
  /** Answers questions of the worker. Without a listener, the worker finds nobody to ask here. */
  onApproval(answer: (question: ApprovalQuestion) => Promise<ApprovalVerdict>): void;
  /** Keeps secrets for the worker. */
  onSecret(answer: (request: SecretRequest) => Promise<SecretAnswer>): void;
  /** Calls back when another worker has taken over; this connection is of no further use. */
  onSuperseded(listener: () => void): void;
  /** Calls back once, when the worker or the socket has ended. */
  onClose(listener: () => void): void;
  dispose(): void;
}
