import type { CatalogStatus, GatewaySnapshot, ServerStatus } from '../../control/contract.ts';
import type { PageButton, ServerRow, ServersPart } from '../../control/dashboardMessages.ts';
import { serverState } from '../../control/serverStates.ts';
import { duration, groupDigits, latency } from '../../text/porcelain.ts';
import { timeOfDay } from '../../text/timeOfDay.ts';
import { plural, t, translated } from '../l10n.ts';
import { odditiesOf } from '../plainText.ts';
import { isTroubled, needsPerson } from '../status/remedies.ts';
import { serverCounts, usableWords } from '../status/serverCounts.ts';
import { heldWords } from '../trust/heldRows.ts';
import { age, until } from './words.ts';

/** Newest lines of a server's stderr that its details show. */
const MAX_STDERR = 20;
const NONE = '–';

/** Builds the table of servers: those that need the user first, then failed ones, then by calls and name. */
export function serversPart(snapshot: GatewaySnapshot, now: number): ServersPart {
  const { servers, catalog } = snapshot;
  const at = { catalog, now };
  const rank = (server: ServerStatus): number =>
    needsPerson(server) && server.state !== 'failed' ? 0 : server.state === 'failed' ? 1 : 2;
  const sorted = [...servers].sort(
    (a, b) => rank(a) - rank(b) || (b.calls ?? 0) - (a.calls ?? 0) || (a.name < b.name ? -1 : 1),
  );
  return {
    summary: servers.length === 0 ? '' : usableWords(serverCounts(servers)),
    rows: sorted.map((server) => serverRow(server, at)),
  };
}

function serverRow(server: ServerStatus, at: { catalog: CatalogStatus; now: number }): ServerRow {
  const { name, location, toolCount, definitionTokens, calls, errors = 0, p95Ms, lastUsedAt, supervised } = server;
  return {
    name,
    ...(location && { place: { action: 'openServer', subject: name, label: name } }),
    glyph:
      serverState(server.state).glyph === 'check' && needsPerson(server) ? 'warning' : serverState(server.state).glyph,
    state: stateWords(server, at.now),
    tools: toolCount === 0 && server.unlisted ? NONE : groupDigits(toolCount),
    tokens: definitionTokens === undefined ? NONE : groupDigits(definitionTokens),
    calls: calls === undefined ? NONE : `${groupDigits(calls)} / ${groupDigits(errors)}`,
    p95: p95Ms === undefined || !calls ? NONE : latency(p95Ms),
    restarts: supervised ? groupDigits(supervised.restart_count) : NONE,
    lastUsed: lastUsedAt === undefined ? NONE : age(at.now - lastUsedAt),
    buttons: serverButtons(server),
    details: details(server, at),
    stderr: server.stderr?.slice(-MAX_STDERR) ?? [],
  };
}

function stateWords({ state, held = [], nextTryAt = 0 }: ServerStatus, now: number): string {
  const next = nextTryAt > now ? t`next try in ${until(nextTryAt - now)}` : '';
  return [translated(serverState(state).words), heldWords(held), next].filter(Boolean).join(', ');
}

/** Makes a button on a server. A screen reader reads the server's name too. */
export function serverButton(server: string, action: PageButton['action'], label: string): PageButton {
  return { action, subject: server, label, name: `${label} ${server}` };
}

function serverButtons({ name, state, supervised, signedIn, location }: ServerStatus): PageButton[] {
  const button = (action: PageButton['action'], label: string): PageButton => serverButton(name, action, label);
  const sleeps = state === 'not_started' || state === 'stopped';
  const canRun = supervised !== undefined && state !== 'disabled' && state !== 'needs_approval';
  return [
    ...(canRun ? [sleeps ? button('startServer', t`Start`) : button('restartServer', t`Restart`)] : []),
    ...(supervised ? [button('serverLog', t`Log`)] : []),
    ...(state === 'needs_sign_in' || signedIn === false ? [button('signIn', t`Sign In`)] : []),
    ...(signedIn && state !== 'needs_sign_in' ? [button('signOut', t`Sign Out`)] : []),
    ...(location ? [state === 'disabled' ? button('switchOn', t`Switch On`) : button('switchOff', t`Switch Off`)] : []),
  ];
}

function details(
  server: ServerStatus,
  { catalog, now }: { catalog: CatalogStatus; now: number },
): ServerRow['details'] {
  const { state, reason, supervised, pid, since, walls, protocol, oddities, location, held = [] } = server;
  const fault = supervised?.last_fault;
  const skipped = catalog.skipped.filter((tool) => tool.server === server.name);
  const rows: [term: string, text: string | undefined][] = [
    [t`Reason`, reason],
    [t`Last fault`, fault && [`${fault.class}/${fault.code}`, fault.detail].filter(Boolean).join(': ')],
    [
      t`In a row`,
      supervised && supervised.consecutive_failures > 0
        ? plural(
            supervised.consecutive_failures,
            t`1 failed start`,
            t`${groupDigits(supervised.consecutive_failures)} failed starts`,
          )
        : undefined,
    ],
    [t`Since`, since > 0 ? `${timeOfDay(since)} (${duration(now - since)})` : undefined],
    [t`Process`, pid === undefined ? undefined : `${pid}${walls === undefined ? '' : `, ${walls}`}`],
    [t`Protocol`, protocol && t`MCP ${protocol.version}, found ${duration(Math.max(0, now - protocol.at))} ago`],
    [t`To review`, held.length > 0 ? heldWords(held) : undefined],
    [t`Mended`, oddities?.length ? odditiesOf(oddities) : undefined],
    [t`Left out`, skipped.length === 0 ? undefined : skipped.map(({ tool, reason }) => `${tool}: ${reason}`).join(' ')],
    [t`Configured in`, location && t`${location.file}, line ${location.line}`],
    [t`State`, !reason && isTroubled(server) ? translated(serverState(state).words) : undefined],
  ];
  return rows.flatMap(([term, text]) => (text ? [{ term, text }] : []));
}
