import type { ControlHandlers } from '../../control/channel.ts';
import type { ControlRequests, GatewaySnapshot } from '../../control/contract.ts';
import type { Gateway } from '../gateway/gateway.ts';

/** Requests of a watcher that concern the worker process rather than its gateway. */
export interface WorkerRequests extends Pick<ControlHandlers, 'watch' | 'rollout' | 'stop'> {
  snapshot(): GatewaySnapshot;
  refresh(): Promise<void>;
  /** Session of the watcher's own calls. */
  session: object;
}

/** Handlers of the control channel. Each is one step of the gateway, and most return a snapshot afterwards. */
export function controlRequests(gateway: Gateway, worker: WorkerRequests): ControlHandlers {
  const { snapshot, refresh, session, watch, rollout, stop } = worker;
  return {
    watch,
    rollout,
    stop,
    status: snapshot,
    children: ({ path }) => gateway.children(path),
    callTool: async ({ name, args }) => {
      const { signal } = new AbortController();
      const result = await gateway.modes.gateway.callTool(name, args, { signal, client: 'waygate', session });
      return result as ControlRequests['callTool']['result'];
    },
    explain: ({ query, topK }) => gateway.reports.explain(query, topK),
    catalog: () => gateway.reports.catalog(),
    scan: ({ server }) => gateway.scan.servers(server),
    learned: () => gateway.learned,
    forget: ({ toolId }) => {
      gateway.forget(toolId);
      return gateway.learned;
    },
    health: () => gateway.reports.health(),
    telemetry: () => gateway.reports.telemetry(),
    approve: ({ hashes }) => {
      gateway.servers.approve(hashes);
      return snapshot();
    },
    ...gateway.servers.signInRequests,
    recheck: () => {
      gateway.recheck();
      return snapshot();
    },
    trust: ({ server }) => gateway.trustReview(server),
    listing: () => gateway.listing(),
    decide: (decision) => gateway.decide(decision),
    refresh: async () => {
      await refresh();
      return snapshot();
    },
  };
}
