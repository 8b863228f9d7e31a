import type { ConfigurationStatus, GatewaySnapshot, ServerStatus, SessionStatus } from '../../src/control/contract.ts';
import type { DashboardState, HealthLevel, HealthSummary } from '../../src/control/dashboardMessages.ts';
import { oddityWords } from '../../src/control/serverOddities.ts';
import { serverState } from '../../src/control/serverStates.ts';
import { age, duration, timestamp } from './format.ts';
import { glyph } from './glyphs.ts';
import { escapeHtml as e, plural } from './html.ts';

/**
 * Renders the page as text, from the state alone. Each part carries `data-part`, so that only changed parts are
 * replaced and the focus stays.
 */
export function render(state: DashboardState): string {
  const { snapshot } = state;
  return [
    header(state),
    problems(state.summary),
    quarantine(state.quarantined),
    '<main>',
    ...(snapshot ? sections(snapshot, state.now) : []),
    '</main>',
  ].join('\n');
}

function sections(snapshot: GatewaySnapshot, now: number): string[] {
  return [
    figures(snapshot, now),
    configuration(snapshot.configuration),
    servers(snapshot.servers, now),
    calls(snapshot, now),
    sessions(snapshot.sessions, now),
    skipped(snapshot),
  ].filter((section) => section !== '');
}

const LEVEL_WORDS: Record<HealthLevel, string> = {
  ready: 'Ready',
  starting: 'Starting',
  degraded: 'Degraded',
  stopping: 'Stopping',
  lost: 'Not running',
  off: 'Off',
};

function header({ summary, refreshing, live, snapshot }: DashboardState): string {
  const workspace = snapshot ? `<p class="workspace" title="Workspace">${e(snapshot.workspace)}</p>` : '';
  return `<header data-part="header"${live ? '' : ' class="stale"'}>
<div class="headline">
<h1>Waygate</h1>
<p class="health health-${summary.level}" data-health="${summary.level}">${glyph(LEVEL_GLYPHS[summary.level])}<strong>${LEVEL_WORDS[summary.level]}</strong> <span>${e(summary.headline)}</span></p>
${workspace}
</div>
<div class="actions" role="group" aria-label="Actions">
<button type="button" id="refresh" data-action="refresh"${refreshing || !live ? ' aria-disabled="true"' : ''}>${refreshing ? 'Refreshing…' : 'Refresh'}</button>
<button type="button" id="openConfiguration" class="secondary" data-action="openConfiguration">Open Configuration</button>
<button type="button" id="showLog" class="secondary" data-action="showLog">Show Log</button>
</div>
</header>`;
}

const LEVEL_GLYPHS: Record<HealthLevel, Parameters<typeof glyph>[0]> = {
  ready: 'check',
  starting: 'progress',
  degraded: 'warning',
  stopping: 'progress',
  lost: 'error',
  off: 'circle',
};

function problems({ problems }: HealthSummary): string {
  if (problems.length === 0) return '<aside data-part="problems" hidden></aside>';
  const items = problems.map((problem) => `<li>${e(problem)}</li>`).join('');
  return `<aside data-part="problems" class="problems" aria-label="Problems"><ul>${items}</ul></aside>`;
}

function quarantine(servers: DashboardState['quarantined']): string {
  if (servers.length === 0) return '<aside data-part="quarantine" hidden></aside>';
  const items = servers.map(({ server, reason, findings, more }) => {
    const quotes = findings.map(({ about, quote }) => `<li>${e(about)}: <q>${e(quote)}</q></li>`);
    const rest = more > 0 ? [`<li>${plural(more, 'more finding')}</li>`] : [];
    const list = quotes.length > 0 ? `<ul>${[...quotes, ...rest].join('')}</ul>` : '';
    return `<p>${glyph('warning')}<strong>${e(server)} is in quarantine.</strong> ${e(reason)}</p>${list}`;
  });
  return `<aside data-part="quarantine" class="problems" aria-label="Quarantine">${items.join('')}</aside>`;
}

function figures({ catalog, servers, sessions, worker }: GatewaySnapshot, now: number): string {
  const ready = servers.filter((server) => server.state === 'ready').length;
  const tile = (term: string, value: string, note: string) =>
    `<div><dt>${term}</dt><dd><span class="value">${value}</span> <span class="note">${note}</span></dd></div>`;
  return `<section data-part="figures" aria-label="Gateway">
<dl class="figures">
${tile('Tools', String(catalog.toolCount), `in ${plural(catalog.namespaceCount, 'namespace')}`)}
${tile('Servers ready', `${ready}`, `of ${servers.length}`)}
${tile('Sessions', String(sessions.length), sessions.length === 1 ? 'client attached' : 'clients attached')}
${tile('Up', e(duration(now - worker.startedAt)), `pid ${worker.pid}, version ${e(worker.version)}`)}
</dl>
</section>`;
}

function configuration({ file, exists, problems }: ConfigurationStatus): string {
  if (exists && problems.length === 0) return '';
  const rows = problems.map(
    ({ severity, message, location }, index) => `<tr>
<td class="state state-${severity}">${glyph(severity === 'error' ? 'error' : 'warning')}${severity}</td>
<td class="wide">${e(message)}</td>
<td><button type="button" class="link" id="problem-${index}" data-open-problem="${index}">line ${location.line}, column ${location.column}</button></td>
</tr>`,
  );
  const missing = exists ? '' : `<p class="empty">There is no ${e(file)} yet.</p>`;
  return table('configuration', 'Configuration problems', ['State', 'Problem', 'Place'], rows, missing);
}

function servers(servers: readonly ServerStatus[], now: number): string {
  const rows = servers.map((server) => {
    const state = serverState(server.state);
    const odd = server.oddities?.length ? `<p class="note">Odd: ${e(oddityWords(server.oddities))}</p>` : '';
    const name = server.location
      ? `<button type="button" class="link" id="server-${e(server.name)}" data-open-server="${e(server.name)}" title="Open its place in the configuration">${e(server.name)}</button>`
      : e(server.name);
    const stderr = server.stderr?.length
      ? `<details><summary>Last output</summary><pre>${e(server.stderr.join('\n'))}</pre></details>`
      : '';
    return `<tr data-server="${e(server.name)}">
<th scope="row">${name}</th>
<td class="state state-${state.glyph}">${glyph(state.glyph)}${state.words}</td>
<td class="number">${server.toolCount}</td>
<td class="number">${server.pid ?? ''}</td>
<td>${when(server.since, now)}</td>
<td class="wide">${server.reason ? e(server.reason) : ''}${odd}${stderr}</td>
</tr>`;
  });
  const empty = '<p class="empty">The configuration names no servers yet.</p>';
  return table('servers', 'Servers', ['Name', 'State', '#Tools', '#Pid', 'Since', 'Details'], rows, empty);
}

function calls({ recentCalls, worker }: GatewaySnapshot, now: number): string {
  const rows = recentCalls.map(
    (call) => `<tr>
<td>${when(call.at, now)}</td>
<td><code>${e(call.metaTool)}</code></td>
<td class="wide"><code>${e(call.subject)}</code></td>
<td class="state state-${call.outcome === 'ok' ? 'check' : 'error'}">${glyph(call.outcome === 'ok' ? 'check' : 'error')}${call.outcome === 'ok' ? 'ok' : e(call.errorCode ?? 'error')}</td>
<td class="number">${e(duration(call.durationMs))}</td>
<td>${e(call.client)}</td>
</tr>`,
  );
  const empty = '<p class="empty">No calls yet. They appear here as your agent uses the three tools.</p>';
  // Every worker begins this list anew.
  const caption = `Recent calls <span class="note">of the worker started ${when(worker.startedAt, now)}</span>`;
  return table('calls', caption, ['When', 'Tool', 'Asked for', 'Outcome', '#Took', 'Client'], rows, empty);
}

function sessions(sessions: readonly SessionStatus[], now: number): string {
  const rows = sessions.map(
    (session) => `<tr>
<th scope="row">${e(session.client)}</th>
<td>${e(session.clientVersion)}</td>
<td>${e(session.protocolVersion)}</td>
<td>${e(session.mode ?? '')}</td>
<td>${when(session.since, now)}</td>
</tr>`,
  );
  const empty = '<p class="empty">No client is attached. The editor attaches with the first message of a chat.</p>';
  return table('sessions', 'Sessions', ['Client', 'Version', 'Protocol', 'Mode', 'Since'], rows, empty);
}

function skipped({ catalog }: GatewaySnapshot): string {
  if (catalog.skipped.length === 0) return '';
  const rows = catalog.skipped.map(
    ({ server, tool, reason }) =>
      `<tr><th scope="row">${e(server)}</th><td><code>${e(tool)}</code></td><td class="wide">${e(reason)}</td></tr>`,
  );
  return table('skipped', 'Tools left out', ['Server', 'Tool', 'Reason'], rows, '');
}

/** A column whose heading begins with `#` holds numbers. */
function table(
  part: string,
  caption: string,
  columns: readonly string[],
  rows: readonly string[],
  empty: string,
): string {
  const headings = columns.map((column) =>
    column.startsWith('#')
      ? `<th scope="col" class="number">${column.slice(1)}</th>`
      : `<th scope="col">${column}</th>`,
  );
  const title = `<h2 id="${part}-title">${caption}${rows.length > 0 ? ` <span class="count">${rows.length}</span>` : ''}</h2>`;
  const body =
    rows.length > 0
      ? `<div class="scroll"><table>
<caption>${title}</caption>
<thead><tr>${headings.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div>`
      : `${title}\n${empty}`;
  return `<section data-part="${part}" aria-labelledby="${part}-title">
${body}
</section>`;
}

function when(at: number, now: number): string {
  return `<time datetime="${timestamp(at)}" title="${timestamp(at)}">${e(age(now - at))}</time>`;
}
