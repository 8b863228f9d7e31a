import type { Refreshed } from '../../control/activityContract.ts';
import type { ControlHandlers } from '../../control/channel.ts';
import type { ControlRequests, GatewaySnapshot } from '../../control/contract.ts';
import { YOU } from '../../mcp/session/sessionMode.ts';
import { quoted } from '../../text/porcelain.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { Gateway } from '../gateway/gateway.ts';

/** Requests of a watcher that concern the worker process rather than its gateway. */
export interface WorkerRequests extends Pick<ControlHandlers, 'watch' | 'rollout' | 'stop'> {
  snapshot(): GatewaySnapshot;
  /** Sends the end of a server's refresh. */
  refreshed(news: Refreshed): void;
  /** Session of the watcher's own calls. */
  session: object;
}

/** Handlers of the control channel. Each is one step of the gateway, and most return a snapshot afterwards. */
export function controlRequests(gateway: Gateway, worker: WorkerRequests): ControlHandlers {
  const { snapshot, refreshed, session, watch, rollout, stop } = worker;
  const { activity } = gateway.account;
  return {
    watch,
    rollout,
    stop,
    status: snapshot,
    children: ({ path }) => gateway.children(path),
    callTool: async ({ name, args, as }, signal) => {
      const caller =
        as === 'you' ? { client: YOU, sessionId: YOU, session: gateway.you } : { client: 'waygate', session };
      const result = await gateway.modes.gateway.callTool(name, args, { signal, ...caller });
      return result as ControlRequests['callTool']['result'];
    },
    calls: (page) => activity.page(page),
    call: ({ id }) => activity.details(id),
    cancelCall: ({ id }) => ({ cancelled: activity.cancel(id) }),
    clearCalls: () => ({ cleared: activity.clear() }),
    forgetCalls: ({ ids }) => ({ forgotten: activity.forget(ids) }),
    limits: () => gateway.limits(),
    artifacts: ({ before, limit }) => gateway.results.page(before, limit),
    readArtifact: ({ handle, offset, length }) => gateway.results.read(handle, offset, length),
    selectArtifact: ({ handle, selector }) => gateway.results.select(handle, selector),
    deleteArtifacts: async ({ handles }) => ({ deleted: await gateway.results.remove(handles) }),
    tool: ({ toolId }) => gateway.tools.tool(toolId),
    paths: (_, signal) => gateway.tools.paths(signal),
    ...serverRequests(gateway),
    explain: ({ query, topK }) => gateway.reports.explain(query, topK),
    catalog: () => gateway.reports.catalog(),
    scan: ({ server }) => gateway.scan.servers(server),
    learned: () => gateway.learned,
    forget: ({ toolId }) => {
      gateway.forget(toolId);
      return gateway.learned;
    },
    records: () => gateway.records.sources(),
    recordStreams: ({ subject }) => gateway.records.streams(subject),
    grantRecords: (grant) => gateway.records.grant(grant),
    revokeRecords: ({ connection }) => gateway.records.revoke(connection),
    session: ({ file, question }) => gateway.records.session(file, question),
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
    refresh: ({ server }) => {
      const { began } = gateway.refresh(server, refreshed);
      return { ...snapshot(), began };
    },
  };
}

type ServerRequests = Pick<ControlHandlers, 'startServer' | 'stopServer' | 'restartServer' | 'serverLog'>;

function serverRequests({ servers: { pool } }: Gateway): ServerRequests {
  /** Runs a step and returns why the server does not serve after it. */
  const stepOf = async (
    server: string,
    step: (connection: ServerConnection) => Promise<void>,
  ): Promise<{ reason?: string }> => {
    const connection = pool.get(server);
    if (!connection) return { reason: `There is no server ${quoted(server)}, or it is switched off.` };
    await step(connection);
    return {};
  };
  const started = async (connection: ServerConnection): Promise<void> => connection.start();
  const outcome = (server: string, answer: { reason?: string }): { reason?: string } => {
    const { state, reason } = pool.get(server) ?? {};
    if (answer.reason !== undefined || state === 'ready' || state === undefined) return answer;
    return { reason: reason ?? `It is ${state.replaceAll('_', ' ')}.` };
  };
  return {
    startServer: async ({ server }) => outcome(server, await stepOf(server, started)),
    stopServer: ({ server }) => stepOf(server, (connection) => connection.pause()),
    restartServer: async ({ server }) =>
      outcome(
        server,
        await stepOf(server, async (connection) => {
          await connection.pause();
          await connection.start();
        }),
      ),
    serverLog: ({ server, lines }) => {
      const output = pool.get(server)?.output;
      // Without lines it is asked whether there are new ones, which costs nothing.
      return { lines: lines > 0 ? (output?.lines.slice(-lines) ?? []) : [], next: output?.count ?? 0 };
    },
  };
}
