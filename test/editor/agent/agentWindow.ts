import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { chromium, type Page } from 'playwright-core';
import { endGroup } from '../../../scripts/lib/processes.mjs';
import { ensureServerBuild, startServer } from '../../../scripts/lib/serverBuild.mjs';
import { serverEditor } from '../../../scripts/lib/serverEditor.mjs';
import { ensureBrowser } from '../../../scripts/lib/systemPackages.mjs';
import { packBuilt } from '../../../scripts/lib/vsix.mjs';
import { until } from '../../support/hostProcess.ts';
import { atEnd } from '../../support/lifetime.ts';
import { ScriptedModel, type Step, type Turn } from '../../support/model/scriptedModel.ts';
import { type TestWorkspace, temporaryFolder } from '../../support/workspace.ts';
import { CHROMIUM_FLAGS } from '../harness/launchArguments.ts';

const root = resolve('.');
const COPILOT = 'GitHub.copilot-chat';
const MODEL = { vendor: 'customendpoint', id: 'scripted' };

/** Limit for a window on a machine that runs other stages at the same time. */
const OPEN_MS = 240_000;
const TURN_MS = 120_000;
const CLICK_MS = 2_000;

const SETTINGS = {
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'workbench.startupEditor': 'none',
  'workbench.reduceMotion': 'on',
  'workbench.welcomePage.experimentalOnboarding': false,
  'git.enabled': false,
};

export interface TurnOptions {
  /** Returns the texts to click, in order, for a question in the chat panel. */
  answer?: (question: string) => readonly string[];
  /** Runs beside the turn. */
  during?: (turn: Turn) => Promise<void>;
}

const QUESTIONS = [
  ...['.chat-confirmation-widget-container', '.chat-confirmation-widget2', '.chat-tool-confirmation-carousel'],
  '.chat-question-carousel-container',
]
  .map((name) => `.interactive-session ${name}`)
  .join(', ');

/** Buttons of a question, unlike those of a hint. */
const ANSWERS = /^\s*(Allow|Skip|Continue|Respond|Submit|Cancel)/;

/**
 * Ordinary window with the packed extension, whose Copilot Chat works in agent mode for a scripted model. Neither an
 * account nor a network is needed.
 */
export class AgentWindow {
  readonly #page: Page;
  readonly #model: ScriptedModel;
  readonly #socket: string;

  private constructor(page: Page, model: ScriptedModel, socket: string) {
    this.#page = page;
    this.#model = model;
    this.#socket = socket;
  }

  /** `plugin`: settings with which the editor gets Waygate as an Agent Plugin, in place of the extension. */
  static async open(workspace: TestWorkspace, { plugin }: { plugin?: object } = {}): Promise<AgentWindow> {
    const model = await ScriptedModel.start();
    atEnd(() => model.close());
    const data = temporaryFolder('wga-');
    const user = join(data, 'data', 'User');
    mkdirSync(user, { recursive: true });
    const models = [
      {
        name: 'Scripted',
        vendor: MODEL.vendor,
        apiType: 'chat-completions',
        models: [
          {
            ...{
              id: MODEL.id,
              name: 'Scripted',
              url: `${model.origin}/v1/chat/completions`,
              toolCalling: true,
              vision: true,
            },
            ...{ maxInputTokens: 200_000, maxOutputTokens: 8_000, streaming: true },
          },
        ],
      },
    ];
    writeFileSync(join(user, 'chatLanguageModels.json'), JSON.stringify(models));
    writeFileSync(join(user, 'settings.json'), JSON.stringify(SETTINGS));
    // The setting for plugins is one of the machine, which is the server's here.
    mkdirSync(join(data, 'data', 'Machine'));
    writeFileSync(join(data, 'data', 'Machine', 'settings.json'), JSON.stringify(plugin ?? {}));
    const build = await ensureServerBuild(root);
    if (!plugin) await serverEditor(root, build, data, { port: 0, browse: false }).install(await packBuilt(root, data));
    addDriver(join(data, 'extensions'));
    const socket = join(data, 'driver');
    const { child, port } = await startServer(build, {
      dataFolder: data,
      extensionsFolder: join(data, 'extensions'),
      args: ['--without-connection-token', '--reconnection-grace-time', '1'],
      env: { ...workspace.env, HOME: data, WAYGATE_AGENT_DRIVER: socket },
    });
    atEnd(() => endGroup(child));
    const browser = await chromium.launch({ executablePath: await ensureBrowser(root), args: CHROMIUM_FLAGS });
    atEnd(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1500, height: 950 } });
    await page.goto(`http://127.0.0.1:${port}/?${new URLSearchParams({ folder: workspace.folder })}`, {
      timeout: OPEN_MS,
      waitUntil: 'commit',
    });
    const window = new AgentWindow(page, model, socket);
    await window.#enableCopilot();
    return window;
  }

  /** Plays one turn of a new chat and returns what the model read. */
  async turn(steps: readonly Step[], { answer, during }: TurnOptions = {}): Promise<Turn> {
    const { turn, mark } = this.#model.expect(steps);
    await this.command('workbench.action.chat.newChat');
    /** Set at the end of the turn, and at a question before it. */
    let outcome: { type?: string } | undefined;
    const opened = this.command('workbench.action.chat.open', {
      query: `Please do it. ${mark}`,
      mode: 'agent',
      modelSelector: MODEL,
      blockOnResponse: true,
    }).then((result) => {
      outcome = (result as { type?: string } | null) ?? {};
    });
    const played = until(
      'the end of the turn',
      async () => {
        if (turn.failure !== undefined) throw turn.failure;
        await this.#answerQuestion(turn, answer);
        const isOver = turn.isOver || (outcome !== undefined && outcome.type !== 'confirmation');
        return isOver && !(await this.#isBusy());
      },
      TURN_MS,
    );
    try {
      await Promise.all([played, during?.(turn), opened]);
    } catch (error) {
      const file = join(root, '.out', 'screenshots', `agent-${turn.id}.png`);
      await this.#page.screenshot({ path: file });
      throw new Error(`${error}\nPicture: ${file}\nThe model read: ${JSON.stringify(turn.readings.at(-1)?.results)}`);
    }
    return turn;
  }

  command(name: string, ...args: unknown[]): Promise<unknown> {
    return this.#ask('command', name, ...args);
  }

  /** Offers further MCP servers to the agent, beside Waygate. */
  async offer(servers: readonly { label: string; command: string; args: string[] }[]): Promise<void> {
    await this.#ask('offer', servers);
  }

  async #isBusy(): Promise<boolean> {
    return (await this.#page.locator('.interactive-session .chat-response-loading').count()) > 0;
  }

  async #answerQuestion(turn: Turn, answer: TurnOptions['answer']): Promise<void> {
    const boxes = this.#page.locator(QUESTIONS).filter({ visible: true });
    const box = boxes.filter({ has: this.#page.locator('.monaco-button', { hasText: ANSWERS }) }).first();
    try {
      if ((await box.count()) === 0) return;
      const question = await box.innerText({ timeout: CLICK_MS });
      if (!turn.questions.includes(question)) turn.questions.push(question);
      for (const text of answer?.(question) ?? ['Allow in this Session']) {
        await box.getByText(text, { exact: true }).first().click({ timeout: CLICK_MS });
      }
    } catch {
      // The editor drew the question again: the next look finds it, or finds it answered.
    }
  }

  /** A fresh profile has the built-in extension disabled. To enable it may restart the process that has the driver. */
  async #enableCopilot(): Promise<void> {
    const reached = async (what: string, ask: () => Promise<unknown>): Promise<void> => {
      await until(what, () => ask().catch(() => false) as Promise<boolean>, OPEN_MS);
    };
    await reached('the driver in the window', () => this.#ask('has', COPILOT).then(() => true));
    await reached('Copilot Chat', async () => {
      if (await this.#ask('has', COPILOT)) return true;
      await this.command('workbench.extensions.installExtension', COPILOT, { enable: true });
      return this.#ask('has', COPILOT);
    });
    await reached('its activation', () => this.#ask('activate', COPILOT).then(() => true));
    await reached('the scripted model', async () =>
      ((await this.#ask('models')) as { id: string }[]).some(({ id }) => id === MODEL.id),
    );
  }

  #ask(operation: string, ...args: unknown[]): Promise<unknown> {
    return new Promise((done, failed) => {
      const sent = request({ socketPath: this.#socket, method: 'POST' }, async (response) => {
        const { result, error } = (await json(response)) as { result?: unknown; error?: string };
        if (error === undefined) done(result);
        else failed(new Error(error));
      });
      sent.on('error', failed);
      sent.end(JSON.stringify({ operation, args }));
    });
  }
}

function addDriver(extensions: string): void {
  const file = join(extensions, 'extensions.json');
  const location = { $mid: 1, scheme: 'file', path: resolve('test/fixtures/agentDriver') };
  mkdirSync(extensions, { recursive: true });
  const installed = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const driver = { identifier: { id: 'waygate-test.agent-driver' }, version: '0.0.1', location, metadata: {} };
  writeFileSync(file, JSON.stringify([...installed, driver]));
}
