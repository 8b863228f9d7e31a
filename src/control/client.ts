import type {
  ApprovalQuestion,
  ApprovalVerdict,
  ControlNotifications,
  ControlRequests,
  SecretAnswer,
  SecretRequest,
} from './contract.ts';

/** The worker, or the line to it, went before it answered: whether what was asked was done is not known. */
export class GatewayGoneError extends Error {
  override readonly name = 'GatewayGoneError';

  constructor() {
    super('the gateway ended before it answered.');
  }
}

/** An attacher's end of the control channel. */
export interface ControlClient {
  request<M extends keyof ControlRequests>(
    method: M,
    params: ControlRequests[M]['params'],
  ): Promise<ControlRequests[M]['result']>;
  onSnapshot(listener: (snapshot: ControlNotifications['snapshot']) => void): void;
  /** Answers the worker's questions from now on; without it there is nobody to ask here. */
  onApproval(answer: (question: ApprovalQuestion) => Promise<ApprovalVerdict>): void;
  /** Keeps secrets for the worker from now on. */
  onSecret(answer: (request: SecretRequest) => Promise<SecretAnswer>): void;
  /** Another worker has taken over; nobody needs this line any more. */
  onSuperseded(listener: () => void): void;
  /** Called once, when the worker or the socket is gone. */
  onClose(listener: () => void): void;
  dispose(): void;
}
