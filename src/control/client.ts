import type { ControlNotifications, ControlRequests } from './contract.ts';

/** An attacher's end of the control channel. */
export interface ControlClient {
  request<M extends keyof ControlRequests>(
    method: M,
    params: ControlRequests[M]['params'],
  ): Promise<ControlRequests[M]['result']>;
  onSnapshot(listener: (snapshot: ControlNotifications['snapshot']) => void): void;
  /** Called once, when the worker or the socket is gone. */
  onClose(listener: () => void): void;
  dispose(): void;
}
