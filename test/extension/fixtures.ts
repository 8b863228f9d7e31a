import type { Refreshed } from '../../src/control/activityContract.ts';
import type { ControlClient } from '../../src/control/client.ts';
import type {
  ControlRequests,
  GatewaySnapshot,
  ServerStatus,
  TreeChildren,
  TreeNode,
} from '../../src/control/contract.ts';
import type { LinkState } from '../../src/extension/gateway/gatewayLink.ts';
import { HealthRecord, type HealthSnapshot } from '../../src/supervision/health.ts';

export function server(name: string, over: Partial<ServerStatus> = {}): ServerStatus {
  return { name, namespace: name, state: 'ready', since: 1_000, toolCount: 3, ...over };
}

export function snapshot(over: Partial<GatewaySnapshot> = {}): GatewaySnapshot {
  return {
    workspace: '/work/project',
    health: 'ready',
    worker: { pid: 42, version: '0.1.0', build: '0.1.0+1', startedAt: Date.now(), uptimeMs: 10 },
    configuration: { file: '/work/project/.vscode/waygate.json', exists: true, problems: [] },
    servers: [server('files'), server('memory')],
    sessions: [],
    catalog: { revision: 1, toolCount: 6, namespaceCount: 2, skipped: [] },
    recentCalls: [],
    ...over,
  };
}

export function supervised(over: Partial<HealthSnapshot> = {}): HealthSnapshot {
  return { ...new HealthRecord(() => 0).snapshot(), ...over };
}

export function attached(over: Partial<GatewaySnapshot> = {}, attachment = 1): LinkState {
  return { kind: 'attached', attachment, snapshot: snapshot(over) };
}

export function node(path: string, over: Partial<TreeNode> = {}): TreeNode {
  return {
    path,
    label: path.slice(path.lastIndexOf('/') + 1),
    kind: 'namespace',
    toolCount: 2,
    hint: '',
    server: 'files',
    description: '',
    safety: '',
    ...over,
  };
}

/** Remote end of a link: a worker that the test controls. */
export class ScriptedWorker implements ControlClient {
  readonly asked: (keyof ControlRequests)[] = [];
  disposed = false;
  /** Reports the end of a server's refresh. */
  refreshed: (news: Refreshed) => void = () => undefined;
  answer: (method: keyof ControlRequests) => unknown = () => snapshot();
  #snapshot: (snapshot: GatewaySnapshot) => void = () => undefined;
  #close: () => void = () => undefined;
  #supersede: () => void = () => undefined;

  async request<M extends keyof ControlRequests>(method: M): Promise<ControlRequests[M]['result']> {
    this.asked.push(method);
    return (await this.answer(method)) as ControlRequests[M]['result'];
  }
  onSnapshot(listener: (snapshot: GatewaySnapshot) => void): void {
    this.#snapshot = listener;
  }
  onCalls(): void {}
  onRefreshed(listener: (news: Refreshed) => void): void {
    this.refreshed = listener;
  }
  /** No test of the link asks for an approval. */
  onApproval(): void {}
  onSecret(): void {}
  onSuperseded(listener: () => void): void {
    this.#supersede = listener;
  }
  onClose(listener: () => void): void {
    this.#close = listener;
  }
  dispose(): void {
    this.disposed = true;
  }

  send(next: GatewaySnapshot): void {
    this.#snapshot(next);
  }
  /** Announces its replacement and closes, as a replaced worker does. */
  giveWay(): void {
    this.#supersede();
    this.#close();
  }
  end(): void {
    this.#close();
  }
}

export const NO_CHILDREN: TreeChildren = { revision: 1, nodes: [] };
