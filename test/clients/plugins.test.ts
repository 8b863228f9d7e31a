import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { waygate } from '../support/census.ts';
import { atEnd } from '../support/lifetime.ts';
import { ScriptedModel } from '../support/model/scriptedModel.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';
import { ended } from './agentProgram.ts';
import { codexModel } from './agents.ts';
import { MODULES } from './install.ts';

/** `npm run test:clients`: the Agent Plugin in the clients themselves, installed as a user does it. */

const system = `${process.platform}-${process.arch}`;

const CLIENTS = [
  {
    client: 'copilot-cli',
    program: join(MODULES, `@github/copilot-${system}/copilot`),
    command: 'copilot',
    /** Prompt of one turn, and the model on this machine. */
    args: (prompt: string) => ['-p', prompt, '--allow-all-tools', '--disable-builtin-mcps'],
    env: (home: string, model: string) => ({
      COPILOT_HOME: join(home, '.copilot'),
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'scripted',
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
    }),
    config: undefined,
    passesFolder: true,
  },
  {
    client: 'codex',
    program: join(MODULES, '@openai/codex/bin/codex.js'),
    command: 'codex',
    args: (prompt: string) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: (home: string) => ({ CODEX_HOME: join(home, '.codex') }),
    config: (model: string) => codexModel(model).join('\n'),
    // Codex starts the servers of plugins without PWD and without the folders of the test.
    passesFolder: false,
  },
] as const;

it.each(CLIENTS)('the plugin brings $client the three tools and the skill', async (one) => {
  const model = await ScriptedModel.start();
  const home = temporaryFolder('waygate-plugin-');
  const bin = join(home, 'bin');
  mkdirSync(bin);
  symlinkSync(one.program, join(bin, one.command));
  if (one.config) {
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), one.config(model.origin));
  }
  const workspace = testWorkspace(one.passesFolder ? { one: servers.fixture() } : {});
  const own = { ...one.env(home, model.origin), HOME: home, USERPROFILE: home };
  const PATH = [bin, join(process.cwd(), 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const there = { ...workspace, env: { ...workspace.env, ...own, PATH } } as TestWorkspace;
  expect(await waygate(there, ['plugin', 'install', one.client])).toMatchObject({ code: 0 });
  const listed = execFileSync(join(bin, one.command), ['plugin', 'list'], { env: there.env, encoding: 'utf8' });
  expect(listed).toMatch(/waygate@waygate.*(enabled)/s);
  if (!one.passesFolder) await approveOwnServer(home);
  const { turn, mark } = model.expect([
    ({ tools }) => ({ tool: toolOf(tools, 'tool_browse'), args: { path: '/one' } }),
    ({ tools }) => ({
      tool: toolOf(tools, 'tool_execute'),
      args: { tool_id: 'one:echo', args: { text: 'through the plugin' } },
    }),
    () => [],
  ]);
  try {
    // The client starts the gateway in its own environment, which has no folders of the test but these.
    const { WAYGATE_STATE_DIR = '', WAYGATE_CONFIG_DIR = '' } = workspace.env;
    // As a shell does.
    const PWD = workspace.folder;
    const env = { ...own, PATH, PWD, WAYGATE_STATE_DIR, WAYGATE_CONFIG_DIR, WAYGATE_WALLS: 'off' };
    const output = await ended(
      { program: join(bin, one.command), args: [...one.args(`Please do it. ${mark}`)], env },
      home,
      workspace.folder,
    );
    if (turn.failure !== undefined) throw turn.failure;
    expect(turn.readings.length, output.slice(-2_000)).toBe(3);
  } finally {
    model.close();
  }
  const [first, browsed, called] = turn.readings;
  const names = (first?.tools ?? []).map(({ name }) => name).filter((name) => /waygate/.test(name));
  for (const tool of ['tool_browse', 'tool_execute', 'tool_view']) {
    expect(
      names.filter((name) => name.endsWith(tool)),
      names.join(' '),
    ).toHaveLength(1);
  }
  expect(JSON.stringify(first)).toContain('mcp-bootstrap');
  expect(browsed?.results.join('')).toContain('one:echo');
  expect(called?.results.join('')).toContain('through the plugin');
});

/** Writes a server of the user's own and approves it, with nothing but a home folder. */
async function approveOwnServer(home: string): Promise<void> {
  const { HOME: _, ...clean } = process.env;
  const env = Object.fromEntries(Object.entries(clean).filter(([name]) => !/^(WAYGATE|XDG)_/.test(name)));
  const stateDir = join(home, '.local/state/waygate');
  const there: TestWorkspace = { ...testWorkspace(), folder: home, stateDir, env: { ...env, HOME: home } };
  mkdirSync(join(home, '.config/waygate'), { recursive: true });
  writeFileSync(join(home, '.config/waygate/waygate.json'), JSON.stringify({ servers: { one: servers.fixture() } }));
  const [{ hash }] = JSON.parse((await waygate(there, ['approve', '--json'])).stdout).servers;
  expect(await waygate(there, ['approve', 'one', '--hash', hash])).toMatchObject({ code: 0 });
  atEnd(() => waygate(there, ['stop']).then(() => undefined));
}

function toolOf(tools: readonly { name: string }[], end: string): string {
  const found = tools.find(({ name }) => name.endsWith(end))?.name;
  if (!found) throw new Error(`The client does not offer ${end}: ${tools.map(({ name }) => name).join(' ')}`);
  return found;
}
