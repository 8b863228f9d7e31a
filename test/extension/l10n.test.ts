import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { bundleTexts, rawTexts, TEXT_SOURCES, translatedTexts } from '../../scripts/contributes/sourceTexts.ts';
import type { ServerStatus } from '../../src/control/contract.ts';
import { SERVER_STATES, type ServerState } from '../../src/control/serverStates.ts';
import type { Fault } from '../../src/errors/fault.ts';
import type { GatewayView } from '../../src/extension/status/health.ts';
import { ODDITIES } from '../../src/mcp/wire/oddities.ts';
import { filled } from '../../src/text/messages.ts';
import { SCAN_RULES } from '../../src/trust/scan/finding.ts';
import { attached, server, snapshot, supervised } from './fixtures.ts';

const BUNDLE = JSON.parse(readFileSync('l10n/bundle.l10n.json', 'utf8')) as Record<string, string>;

/** Sources whose strings nobody reads in the user's language, as a whole or but for some. */
const UNTRANSLATED: Readonly<Record<string, 'all' | readonly string[]>> = {
  // Their titles are in the bundle as a table, and in package.nls.json.
  'src/extension/contributions.ts': 'all',
  // The file that *Create Configuration* writes, with comments in the language of its keys.
  'src/extension/configuration/configurationFile.ts': 'all',
  // Lines of the log, like all lines that `log.…` writes.
  'src/extension/status/journal.ts': 'all',
  'src/extension/import/importFlow.ts': ["the editor's store of secrets"],
  // Calls for an agent, in the clipboard.
  'src/extension/activity/activityCommands.ts': ['tool_execute …'],
  'src/extension/documents/resultText.ts': ['Markdown', 'tool_view …'],
  'src/extension/tree/readyCall.ts': ['tool_execute …'],
  'src/extension/try/tryTool.ts': ['tool_execute …'],
  // The name of the product, behind an icon.
  'src/extension/status/statusBarModel.ts': [
    '$(question) Waygate: …',
    '$(loading~spin) Waygate',
    '$(debug-disconnect) Waygate',
    '$(shield) Waygate',
    '$(circle-slash) Waygate',
    '$(sync~spin) Waygate',
    '$(pass) Waygate',
    '… Waygate: …',
    '… Waygate',
  ],
  // A name, by which VS Code keeps the server's definition.
  'src/extension/gateway/recordsDefinition.ts': ['Waygate Records'],
  // Units, and words of JSON.
  'src/extension/dashboard/words.ts': ['… min'],
  'webview/try/controls.ts': ['null'],
  'webview/try/rows.ts': ['{"name": value}', 'JSON'],
  // Names that only programs compare.
  'src/extension/activity/activityView.ts': ['Expanded', 'Collapsed', 'None', 'None'],
  'src/extension/activity/resultsView.ts': ['Collapsed', 'None'],
  'src/extension/records/recordsView.ts': ['None', 'Collapsed', 'None'],
  'src/extension/tree/toolsTree.ts': ['Collapsed', 'None'],
  'src/extension/dashboard/serverRows.ts': [
    ...['startServer', 'restartServer', 'serverLog', 'signIn', 'signOut', 'switchOn', 'switchOff'],
  ],
  'src/extension/gateway/gatewayLink.ts': ['checking', 'checking'],
  'src/extension/import/importServers.ts': ['keep both', 'leave out'],
  'src/extension/dashboard/dashboardPage.ts': ['…\n<div id="page"><p class="loading">…</p></div>'],
  'src/extension/webviewPage.ts': [
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src …; script-src 'nonce-…'",
  ],
  // Defects of a page, which its console shows.
  'webview/dashboard/main.ts': ['The dashboard page has no element "…".'],
  'webview/table/main.ts': ['The page of the table has no element "…".'],
  'webview/try/elements.ts': ['The page has no element "…".'],
};

describe('the texts of the extension and its pages', () => {
  it('are all in the bundle for translators (npm run contributes writes it)', () => {
    expect(BUNDLE).toEqual(bundleTexts());
    expect(Object.keys(BUNDLE)).toContain('Signed in to {0}.');
    const packageJson = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
    expect(packageJson.l10n).toBe('./l10n');
  });

  it('number their values from 0 on, and begin and end with a word or a mark', () => {
    const wrong = Object.keys(BUNDLE).filter((text) => {
      const places = [...text.matchAll(/\{(\d+)\}/g)].map(([, index]) => Number(index));
      return places.some((index, at) => index !== at) || (text !== text.trim() && text !== ' or ');
    });
    expect(wrong).toEqual([]);
  });

  it.each(TEXT_SOURCES)('pass through a translation: %s', (file) => {
    const allowed = UNTRANSLATED[file] ?? [];
    const raw = rawTexts(readFileSync(file, 'utf8'));
    if (allowed !== 'all') expect(raw.map(({ text }) => text)).toEqual(allowed);
    else expect(raw.length).toBeGreaterThan(0);
  });

  it('name no file that is gone as untranslated', () => {
    expect(Object.keys(UNTRANSLATED).filter((file) => !TEXT_SOURCES.includes(file))).toEqual([]);
  });
});

describe('the search for untranslated texts', () => {
  it.each([
    ["void notify('info', 'Signed out of the server.' as NotificationText);", 'Signed out of the server.'],
    ["const choice = { label: 'refresh', run };", 'refresh'],
    ["item.tooltip = 'Opens the log';", 'Opens the log'],
    ["const lens = { title: isOn ? 'off' : t`on` };", 'off'],
    ["throw new Error('gone');", 'gone'],
    ['const line = `${amount} tokens`;', '… tokens'],
    ["const markdown = '## Findings';", '## Findings'],
    ['const html = `<h2 id="a">Limits</h2>`;', '<h2 id="a">Limits</h2>'],
    ['const html = `<button aria-label="Close ${name}"></button>`;', '<button aria-label="Close …"></button>'],
    ["parent.append(el('p', { class: 'quiet' }, 'empty'));", 'empty'],
    ["parent.append(button('more', press));", 'more'],
    ["export const WORDS = { a: 'Ready' };", 'Ready'],
  ])('finds that of %s', (source, text) => {
    expect(rawTexts(source).map((raw) => raw.text)).toEqual([text]);
  });

  it.each([
    'const message = notificationText`Signed in to ${server}.`;',
    "import { a } from './some words.ts'; type Words = 'some words' | 'other words';",
    "log.error('The page was not drawn.', error);",
    "const isReady = state !== 'Not ready yet';",
    "panel.append(el('p', { class: 'outcome failed' }, text));",
    'const html = `<p class="a b">${e(t`Limits`)}</p>`;',
    "const icon = { id: 'sync~spin', contextValue: 'a b' };",
  ])('accepts %s', (source) => {
    expect(rawTexts(source)).toEqual([]);
  });

  it('reads the message of each tag as it is looked up', () => {
    const source = 'f(t`${a} of ${b}`, notificationText`Save ${c}.`, markdownText`**${t`Now`}**`, other`Not this`);';
    expect(translatedTexts(source)).toEqual(['{0} of {1}', 'Save {0}.', 'Now']);
  });
});

it('shows a time of day alike in every view', () => {
  const own = TEXT_SOURCES.filter((file) =>
    /toLocale(?:Time|Date)?String\((?!'en-US')|getHours/.test(readFileSync(file, 'utf8')),
  );
  expect(own).toEqual([]);
});

describe('another language', () => {
  /** Every text of the bundle in brackets. A text that is not in the bundle is left out, and shows as a gap. */
  const speakPseudo = async (): Promise<void> => {
    vi.resetModules();
    const { speak } = await import('../../src/extension/l10n.ts');
    const translate = (message: string, values: readonly (string | number)[]): string =>
      BUNDLE[message] === undefined ? `MISSING ${message}` : `[${filled(BUNDLE[message], values)}]`;
    speak({ name: 'qps-ploc', translate, texts: {} });
  };
  afterAll(() => vi.resetModules());

  /** Names and reasons without letters, so that every letter of a view is one of its own. */
  const everyState = (Object.keys(SERVER_STATES) as ServerState[]).map(
    (state, index): ServerStatus =>
      server(`${index}`, {
        state,
        kind: 'http',
        reason: '1',
        secret: { key: '1', name: '2', description: '', password: true, options: [] },
        calls: 3,
        errors: 1,
        p95Ms: 12,
        lastUsedAt: 1,
        nextTryAt: 2,
        implementation: '5',
        protocol: { era: 'modern', version: '6', at: 1 },
        location: { file: '7', line: 8, column: 9 },
        supervised: supervised({ restart_count: 2, last_fault: { code: '4', detail: '4' } as Fault }),
        held: [{ toolId: '', part: 'prompts', name: '3', why: 'changed' }],
        oddities: Object.entries(ODDITIES).map(([kind, words]) => ({ kind, count: 4, words })),
        remedy: { kind: 'restart' },
      }),
  );
  const view: GatewayView = {
    ...{ link: attached({ servers: everyState, health: 'degraded' }), policy: undefined },
    ...{ questions: ['7'], direct: ['1', '2'] },
  };

  /** Returns the letters outside of translated texts. Units, icons and the product's name are the same in all languages. */
  const untranslated = (shown: unknown): string[] => {
    const texts = JSON.stringify(shown, (key, value: unknown) =>
      /^(?:id|icon|iconPath|command|context[Vv]alue|style|server|folder|action|glyph|location|links|verdict|level|toolId|handle|workspace|minutes|rows?Key)$/.test(
        key,
      )
        ? undefined
        : value,
    );
    let rest = texts.replace(/"\w+":/g, '');
    for (let before = ''; before !== rest; ) {
      before = rest;
      rest = rest.replace(/\[[^[\]]*\]/g, '');
    }
    return [
      ...rest
        .replace(/\$\([\w~-]+\)|\bWaygate\b|\b(?:ms|s|min|h|KB|null|true|false)\b/g, '')
        .matchAll(/\p{L}{2,}[^"]*/gu),
    ].map(([found]) => found);
  };

  it('reaches every row, badge, message and tooltip of the tree', async () => {
    await speakPseudo();
    const { folderRow, toolRow, tooltipOf, treeBadge, treeMessage } = await import(
      '../../src/extension/tree/toolRows.ts'
    );
    const rows = everyState.map((one) => toolRow({ kind: 'server', server: one }));
    expect(rows[5]?.description).toMatch(
      /^\[needs sign-in\] · \[2 restarts\] · \[next try at [\d:]+\], \[1 changed\]$/,
    );
    expect(untranslated(rows)).toEqual([]);
    expect(untranslated(everyState.map((one) => tooltipOf({ kind: 'server', server: one })))).toEqual([]);
    expect(
      untranslated([folderRow({ kind: 'folder', folder: '1', title: '2' }, view), treeMessage(view, true)]),
    ).toEqual([]);
    expect(treeBadge([view])?.tooltip).toBe('[[1 question] and [9 servers] need you]');
  });

  it('reaches every kind of misbehaviour of a server, and every rule and tier of the scan', async () => {
    await speakPseudo();
    const { odditiesOf } = await import('../../src/extension/plainText.ts');
    const all = Object.entries(ODDITIES).map(([kind, words]) => ({ kind, count: 4, words }));
    expect(untranslated(all.map((one) => odditiesOf([one])))).toEqual([]);
    const { describeFinding } = await import('../../src/extension/trust/findings.ts');
    const rules = Object.keys(SCAN_RULES) as (keyof typeof SCAN_RULES)[];
    const found = rules.flatMap((rule) =>
      (['hard', 'soft'] as const).map((tier) => describeFinding({ rule, tier, where: '/1', quote: '2' })),
    );
    expect(untranslated(found)).toEqual([]);
  });

  it('reaches the status bar with its tooltip', async () => {
    await speakPseudo();
    const { statusBarModel } = await import('../../src/extension/status/statusBarModel.ts');
    const model = statusBarModel([{ name: '1', title: '2', view }]);
    expect(model.text).toBe('$(question) Waygate: [1 question]');
    expect(model.needs.length).toBeGreaterThan(3);
    expect(untranslated(model)).toEqual([]);
  });

  it('reaches the list of answers, buttons of commands, and a document', async () => {
    await speakPseudo();
    const { answerChoices, reviewTitle } = await import('../../src/extension/questions/questionText.ts');
    const question = { toolId: '1:2#3', server: '4', reason: '5', arguments: {}, deadline: 6 };
    const choices = answerChoices(question as never, () => '12');
    expect(choices.map(({ label }) => label)).toEqual([
      '[Deny]',
      '[Allow Once]',
      '[Allow in This Session]',
      '[Always Allow Here]',
    ]);
    expect(untranslated([choices, reviewTitle(question as never, 1, 2)])).toEqual([]);
    const { commandTitle } = await import('../../src/extension/plainText.ts');
    expect(commandTitle('waygate.showLog')).toBe('[Show Log]');
    const { faultDocument } = await import('../../src/extension/documents/faultText.ts');
    const { AT, details, record } = await import('./activity/calls.ts');
    const failed = record(1, { outcome: 'error', errorCode: '1', toolId: '1:2#3', server: '4', client: '5', at: AT });
    const { text, actions } = faultDocument({
      details: details({ record: failed }),
      server: everyState[0] as ServerStatus,
    });
    expect(text.split('\n').filter((line) => line.startsWith('## '))).toEqual([
      ...['## [What happened]', '## [What is known of the effect]', '## [What the gateway did]'],
      ...['## [What you can do]', '## [Output of the server at that moment]'],
    ]);
    expect(untranslated([text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, ''), actions])).toEqual([]);
  });

  it('reaches the dashboard', async () => {
    await speakPseudo();
    const { dashboardState } = await import('../../src/extension/dashboard/dashboardModel.ts');
    const state = dashboardState({
      now: Date.now(),
      view,
      snapshot: snapshot({ servers: everyState, health: 'degraded', workspace: '' }),
      limits: { report: { windows: [{ scope: 'tool_execute/minute', limit: 3, left: 1, freesInMs: 1_000 }] }, age: 0 },
      quarantined: [],
    });
    expect(state.now.words).toBe('[Degraded]');
    expect(untranslated(state)).toEqual([]);
  });
});
