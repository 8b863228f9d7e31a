import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FileSecrets } from '../../src/config/state/fileSecrets.ts';
import { PLANTED } from '../secrets/planted.ts';
import { bundled } from '../support/bundledFixtures.ts';
import { stateFolder, waygate } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/**
 * 50 canaries × all ways out: planted in the environment and the arguments of a program, and in the headers and the
 * address of a server over HTTP, by reference and in clear.
 */

const PROGRAM = bundled('canaryServer.mjs');
const CANARIES = PLANTED.map(({ secret }, i) => `${i}-${secret.replace(/[^\x21-\x7e]|[&#%]/g, '')}`);
/** Time limit: each test runs some 60 calls and commands on a machine that may be busy. */
const LIMIT_MS = 180_000;
const WAYS = ['fails', 'fails_long', 'refuses', 'requires', 'progresses', 'logs', 'elicits', 'elicits_url', 'samples'];
const MODES = [[], ['--mode', 'transparent'], ['--mode', 'passthrough']] as const;

/** Returns the canaries that a text contains, in any of the forms that the server uses. */
function leaked(text: string): string[] {
  return CANARIES.filter((one) =>
    [
      one,
      encodeURIComponent(one),
      JSON.stringify(one).slice(1, -1),
      Buffer.from(one).toString('base64').slice(0, -4),
    ].some((form) => text.includes(form)),
  );
}

const read = (file: string) => readFileSync(file, 'latin1');

/** Returns the texts of all files below a folder. */
function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true }) as string[];
  const plain = files.filter((file) => statSync(join(folder, file)).isFile());
  return Object.fromEntries(plain.map((file) => [file, read(join(folder, file))]));
}

async function planted(byReference: boolean, artifacts: object | undefined): Promise<TestWorkspace> {
  const workspace = testWorkspace();
  const kept = new FileSecrets(workspace.stateDir, workspace.folder);
  const given = CANARIES.map((one, i) => {
    if (byReference) kept.set(`c${i}`, one);
    return byReference ? `\${secret:c${i}}` : one;
  });
  const [first, second] = [given.slice(0, 25), given.slice(25)];
  const url = await new HttpProcess([PROGRAM, '--http'], process.env).url();
  const query = second.map((value, i) => `token_${i}=${byReference ? value : encodeURIComponent(value)}`).join('&');
  const entries = {
    program: {
      command: process.execPath,
      args: [PROGRAM, ...second.flatMap((value, i) => [`--token-${i}`, value])],
      env: Object.fromEntries(first.map((value, i) => [`C${i}_TOKEN`, value])),
      sampling: true,
    },
    web: {
      type: 'http',
      url: `${url}?${query}`,
      headers: Object.fromEntries(first.map((value, i) => [`X-Token-${i}`, value])),
      sampling: true,
    },
  };
  workspace.write('.vscode/waygate.json', JSON.stringify({ ...(artifacts && { artifacts }), servers: entries }));
  for (const args of [['approve'], ['approve', 'program'], ['approve', 'web']]) {
    const { stdout, stderr } = await waygate(workspace, args);
    expect(stdout + stderr).toContain(args[1] ?? 'program');
    expect(leaked(stdout + stderr)).toEqual([]);
  }
  workspace.approve();
  return workspace;
}

/** Uses every way out in every mode, and returns everything that came out, by place. */
async function walked(workspace: TestWorkspace, ways: readonly string[]): Promise<Record<string, string>> {
  const out: Record<string, string> = {};
  for (const mode of MODES) {
    const host = new HostProcess(workspace, mode);
    const collected = (place: string): void => {
      out[`${place} ${mode.join(' ')}`] = host.lines.splice(0).join('\n');
    };
    await host.initialize({ capabilities: { elicitation: { form: {}, url: {} }, sampling: {} } });
    host.answer('elicitation/create', () => ({ action: 'decline' }));
    host.answer('sampling/createMessage', () => ({
      role: 'assistant',
      content: { type: 'text', text: 'x' },
      model: 'm',
    }));
    const browsing = mode.length === 0 ? host : await HostProcess.connect(workspace);
    for (const server of ['program', 'web']) {
      for (const way of ways) {
        const id = await browsing.toolId(`/${server}/${way}`);
        const request =
          mode.length === 0
            ? { name: 'tool_execute', arguments: { tool_id: id, args: {} } }
            : { name: mode[1] === 'transparent' ? id : `${server}__${way}`, arguments: {} };
        await host.request('tools/call', { ...request, _meta: { progressToken: `${server} ${way}` } });
        collected(`${server} ${way}`);
      }
    }
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
      const { result } = await host.request(method);
      collected(method);
      for (const { uri } of (result?.resources ?? []) as { uri: string }[]) {
        if (mode.length === 0 && uri.startsWith('note://x/0')) await host.request('resources/read', { uri });
      }
      collected(`${method}, read`);
    }
    for (const name of ['ask', 'program.ask', 'program__ask']) await host.request('prompts/get', { name });
    await host.request('resources/read', { uri: 'note://x/unknown' });
    collected('failed reads');
    if (mode.length > 0) continue;
    const handles =
      Object.values(out)
        .join('\n')
        .match(/[a-z_]+:(?:program|web):[a-z_#0-9~@.]+:[0-9a-f]{16}/g) ?? [];
    expect(handles.length).toBeGreaterThan(0);
    for (const handle of new Set(handles))
      await host.call('tool_view', { handle, selector: { type: 'head', chars: 6_000 } });
    collected('tool_view');
    for (const path of ['/', '/program', '/web']) await host.call('tool_browse', { path });
    for (const name of ['resource_browse', 'prompt_browse']) await host.call(name, { path: '/program' });
    for (const uri of ['waygate://health', 'waygate://telemetry?render=json'])
      await host.request('resources/read', { uri });
    collected('reports');
    out['stderr of the host'] = host.stderr;
  }
  for (const command of ['status', 'health', 'telemetry', 'catalog']) {
    const { stdout, stderr } = await waygate(workspace, [command, '--json']);
    out[`waygate ${command}`] = stdout + stderr;
  }
  return out;
}

function leaksOf(out: Record<string, string>): string[] {
  return Object.entries(out).flatMap(([place, words]) => {
    const found = leaked(words);
    return found.length === 0 ? [] : [`${place}: ${found.length}, such as ${found[0]}`];
  });
}

it.each([
  ['by reference', true],
  ['in clear', false],
])(
  '50 canaries × all ways %s: none with the defaults, but in successful results',
  async (_how, byReference) => {
    const workspace = await planted(byReference, undefined);
    const out = await walked(workspace, [...WAYS, 'links', 'updates', 'crashes']);
    expect(leaksOf(out)).toEqual([]);
    // The walk has seen something: each way shows masks.
    const shown = Object.entries(out).filter(([, words]) => words.includes('[REDACTED-SECRET]'));
    for (const way of [
      'fails',
      'progresses',
      'elicits',
      'samples',
      'links',
      'tool_view',
      'tools/list',
      'resources/list',
    ]) {
      expect(shown.some(([place]) => place.includes(way)) || way).toBe(true);
    }
    await waygate(workspace, ['stop']);
    expect(leaksOf(filesIn(stateFolder(workspace)))).toEqual([]);
    // A successful result has all of them, so the search finds what is there.
    const host = await HostProcess.connect(workspace, ['--mode', 'passthrough']);
    expect(leaked(JSON.stringify(await host.call('program__succeeds', {})))).toHaveLength(50);
  },
  LIMIT_MS,
);

it.each([
  ['by reference', true],
  ['in clear', false],
])(
  '50 canaries × all ways %s: none anywhere with maskSecrets "always" and maskOnDisk',
  async (_how, byReference) => {
    const workspace = await planted(byReference, { maskSecrets: 'always', maskOnDisk: true });
    const out = await walked(workspace, [...WAYS, 'links', 'succeeds']);
    expect(leaksOf(out)).toEqual([]);
    await until('the artifacts', () => readdirSync(join(stateFolder(workspace), 'artifacts')).length > 0);
    await waygate(workspace, ['stop']);
    expect(leaksOf(filesIn(stateFolder(workspace)))).toEqual([]);
  },
  LIMIT_MS,
);
