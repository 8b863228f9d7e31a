import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { visibleText } from '../../src/text/visibleText.ts';
import { release, stateFolder, waygate } from '../support/census.ts';
import { HostProcess, type RpcMessage, until } from '../support/hostProcess.ts';
import { type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/** Terminal sequences, directions, zero width, TAG, line ends, selectors, fillers: and a line that could be Waygate's. */
const HIDDEN =
  '\u001b[2J\u009b31m\u0007\u007f\u202e\u2066\u061c\u200b\u200d\u2060\u00ad\ufeff\u{e0041}\u{e0101}\ufe01\ufff9\u3164\u034f\u180e\u2028\u2029\r\nFORGED by the server';
const SERVER = 'VOICE\u202e\u200b\u{e0041}\nFORGED';
const server = {
  command: process.execPath,
  args: [resolve('test/fixtures/voiceServer.mjs'), JSON.stringify(HIDDEN)],
};

function workspaceWithVoice(blocks: object = {}): TestWorkspace {
  const workspace = testWorkspace();
  workspace.configure({});
  const silent = { command: process.execPath, args: ['-e', `console.error(${JSON.stringify(`VOICE${HIDDEN}`)})`] };
  const entries = {
    // Otherwise resources with hidden characters are left out.
    voice: { ...server, trust: 'tell' },
    [SERVER]: { ...server, args: [...server.args, 'other'], trust: 'tell' },
    silent,
    [`bad${SERVER}`]: { type: `VOICE${HIDDEN}` },
  };
  // The user's own file: a workspace may not choose such names.
  workspace.write('../user/waygate.json', JSON.stringify({ ...blocks, servers: entries }));
  return workspace;
}

/** Connects to a gateway whose user has released the servers in spite of their hidden characters. */
async function connect(workspace = workspaceWithVoice(), flags: string[] = [], capabilities: object = {}) {
  const host = await HostProcess.connect(workspace, flags, capabilities);
  await release(workspace, 'voice', SERVER);
  return host;
}

/** Every text in a message, member names included. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsOf(member)]);
}

function expectVisible(texts: readonly string[]): void {
  // A line feed and a tab are visible; whether a text may have several lines is checked beside it.
  expect(texts.filter((text) => visibleText(text) !== text)).toEqual([]);
}

const forgedLine = /^\W*FORGED/m;

describe('foreign text', () => {
  let host: HostProcess;
  const ids = new Map<string, string>();
  const ask = async (method: string, params: object = {}): Promise<RpcMessage> => host.request(method, params);
  const call = (name: string, args: object, meta: object = {}): Promise<RpcMessage> =>
    ask('tools/call', { name, arguments: args, ...meta });
  const execute = (tool: string, more: object = {}): Promise<RpcMessage> =>
    call('tool_execute', { tool_id: ids.get(tool), args: {}, ...more }, { _meta: { progressToken: tool } });

  const exits: readonly [name: string, run: () => Promise<unknown>, lines: 'own' | 'foreign'][] = [
    ['a browse of a server', () => call('tool_browse', { path: '/voice' }), 'own'],
    ['a query', () => call('tool_browse', { query: 'voice strict' }), 'own'],
    ['a browse as data', () => call('tool_browse', { path: '/', render: 'json' }), 'foreign'],
    ['a schema', () => call('tool_view', { handle: `schema:${ids.get('strict')}`, selector: {} }), 'own'],
    [
      'a schema as data',
      () => call('tool_view', { handle: `schema:${ids.get('strict')}`, selector: {}, render: 'json' }),
      'foreign',
    ],
    ['a missing argument', () => execute('strict'), 'own'],
    ['a missing argument as data', () => execute('strict', { render: 'json' }), 'foreign'],
    ['a dry run', () => execute('strict', { dry_run: true }), 'own'],
    ['an unknown argument of the gateway', () => call('tool_browse', { [`VOICE${HIDDEN}`]: 1 }), 'own'],
    ['an unknown tool_id', () => call('tool_execute', { tool_id: `VOICE${HIDDEN}`, args: {} }), 'own'],
    ['an unknown handle', () => call('tool_view', { handle: `VOICE${HIDDEN}`, selector: {} }), 'own'],
    ['a result', () => execute('speaks'), 'foreign'],
    ['a result as data', () => execute('speaks', { render: 'json' }), 'foreign'],
    ['a failed result', () => execute('fails'), 'foreign'],
    ['an error of the server', () => execute('refuses'), 'own'],
    ['an error of the server as data', () => execute('refuses', { render: 'json' }), 'own'],
    ['a log message', () => execute('logs'), 'foreign'],
    ['progress', () => execute('progresses'), 'foreign'],
    ['resources/list', () => ask('resources/list'), 'foreign'],
    ['resources/templates/list', () => ask('resources/templates/list'), 'foreign'],
    ['an error of resources/read', () => ask('resources/read', { uri: 'voice://t/gone' }), 'own'],
    ['an unknown address', () => ask('resources/read', { uri: `nowhere:VOICE${HIDDEN}` }), 'foreign'],
    ['prompts/list', () => ask('prompts/list'), 'foreign'],
    ['prompts/get', async () => ask('prompts/get', { name: await listedPrompt() }), 'foreign'],
    ['an unknown prompt', () => ask('prompts/get', { name: `VOICE${HIDDEN}` }), 'own'],
    [
      'completion/complete',
      async () =>
        ask('completion/complete', {
          ref: { type: 'ref/prompt', name: await listedPrompt() },
          argument: { name: 'topic', value: '' },
        }),
      'foreign',
    ],
    ['resource_browse', () => call('resource_browse', { query: 'voice resource' }), 'own'],
    ['resource_read', () => call('resource_read', { resource_id: 'voice://one' }), 'foreign'],
    ['a failed resource_read', () => call('resource_read', { resource_id: 'voice://t/gone' }), 'own'],
    ['prompt_browse', () => call('prompt_browse', { query: 'voice prompt' }), 'own'],
    ['the schema of a prompt', () => call('tool_view', { handle: `schema:${ids.get('prompt')}`, selector: {} }), 'own'],
    ['prompt_get', async () => call('prompt_get', { prompt_id: ids.get('prompt') }), 'foreign'],
    ['the health', () => ask('resources/read', { uri: 'waygate://health' }), 'own'],
    ['the health as data', () => ask('resources/read', { uri: 'waygate://health?render=json' }), 'own'],
    ['the telemetry', () => ask('resources/read', { uri: 'waygate://telemetry' }), 'own'],
    ['the telemetry as data', () => ask('resources/read', { uri: 'waygate://telemetry?render=json' }), 'own'],
  ];

  async function cardId(name: string, args: object, pick: RegExp): Promise<string> {
    return until(`${name} of ${pick}`, async () => {
      const { result } = await call(name, { ...args, render: 'json' });
      const { cards = [] } = (result as { structuredContent: { cards?: { id: string }[] } }).structuredContent;
      return cards.map(({ id }) => id).find((id) => pick.test(id));
    });
  }

  async function listedPrompt(): Promise<string> {
    const { result } = await ask('prompts/list');
    return (result as { prompts: [{ name: string }] }).prompts[0].name;
  }

  it('hides nothing and forges no line of Waygate in any answer of gateway mode', async () => {
    host = await connect();
    for (const tool of ['strict', 'speaks', 'fails', 'refuses', 'logs', 'progresses', 'crashes']) {
      ids.set(tool, await cardId('tool_browse', { path: '/voice' }, new RegExp(`^voice:${tool}`)));
    }
    ids.set('prompt', await cardId('prompt_browse', { query: 'voice prompt' }, /^prompt::/));
    const silent: string[] = [];
    const hiding: string[] = [];
    const forging: string[] = [];
    for (const [name, run, lines] of exits) {
      const from = host.lines.length;
      await run();
      const texts = host.lines.slice(from).flatMap((line) => textsOf(JSON.parse(line)));
      if (!texts.some((text) => text.includes('VOICE'))) silent.push(name);
      if (texts.some((text) => visibleText(text) !== text)) hiding.push(name);
      if (lines === 'own' && texts.some((text) => forgedLine.test(text))) forging.push(name);
    }
    expect({ hiding, forging, silent }).toEqual({ hiding: [], forging: [], silent: [] });
    expectVisible(host.lines.flatMap((line) => textsOf(JSON.parse(line))));
    expectVisible([host.stderr]);
  });

  it('hides nothing in the list and the answers of transparent mode', async () => {
    host = await connect(workspaceWithVoice(), ['--mode', 'transparent']);
    const tools = await until('the tools', async () => {
      const { result } = await ask('tools/list');
      const listed = (result as { tools: { name: string; description: string }[] }).tools.filter(({ description }) =>
        description.startsWith('VOICE'),
      );
      return listed.length === 16 && listed;
    });
    const strict = tools.find(({ name }) => name.endsWith('strict'))?.name;
    for (const answer of [
      await call('tool_hydrate', { tool_id: strict }),
      await call('tool_hydrate', { tool_id: strict, render: 'json' }),
      await call(strict as string, {}),
    ]) {
      expect(textsOf(answer).join()).toContain('VOICE');
    }
    expectVisible(host.lines.flatMap((line) => textsOf(JSON.parse(line))));
  });

  it('is a question about a call in lines that the tool, the server and the arguments cannot break', async () => {
    host = await connect(workspaceWithVoice({ policy: { rules: [{ action: 'require_approval', tool: '*' }] } }), [], {
      elicitation: { form: {} },
    });
    host.answer('elicitation/create', () => ({ action: 'accept', content: { remember: 'denied' } }));
    const id = await cardId('tool_browse', { path: '/voice-forged' }, /VOICE_tool/);
    const { result } = await call('tool_execute', { tool_id: id, args: { [`VOICE${HIDDEN}`]: `VOICE${HIDDEN}` } });
    expect(textsOf(result).join()).toContain('Error POLICY_DENIED: The user declined');
    const message = host.asked[0]?.params?.message as string;
    expectVisible([message]);
    expect(message.split('\n').map((line) => line.split(/[ :]/, 2).join(' '))).toEqual([
      'Allow Waygate',
      '',
      '- Tool',
      '- Reason',
      '- Argument',
    ]);
  });

  it('stays data of the server in passthrough mode, but for errors, logs and progress', async () => {
    const workspace = testWorkspace({ voice: server });
    host = await HostProcess.connect(workspace, ['--mode', 'passthrough']);
    await release(workspace, 'voice');
    const { tools } = (await ask('tools/list')).result as { tools: { name: string; description: string }[] };
    expect(tools[0]?.description).toBe(`VOICE strict${HIDDEN}`);
    const { result } = await call('fails', {});
    expect(result?.content).toEqual([{ type: 'text', text: `VOICE failure${HIDDEN}` }]);
    const from = host.lines.length;
    const { error } = await call('refuses', {});
    expect(error).toMatchObject({ code: -32050, message: visibleText(`VOICE refusal${HIDDEN}`) });
    await call('nobody', {});
    await ask('prompts/get', { name: `VOICE${HIDDEN}` });
    const before = host.notifications.length;
    await call('logs', {});
    await call('progresses', {}, { _meta: { progressToken: 1 } });
    const messages = host.notifications.slice(before).filter(({ method }) => !method?.endsWith('list_changed'));
    expect(messages.map(({ method }) => method)).toEqual(['notifications/message', 'notifications/progress']);
    const shown = host.lines.slice(from).map((line) => JSON.parse(line) as RpcMessage);
    expectVisible(textsOf(shown.filter(({ result: own }) => own === undefined)));
  });

  it('keeps data exact: in JSON, in artifacts, and for a client that reads a resource', async () => {
    host = await connect();
    const id = await cardId('tool_browse', { path: '/voice' }, /^voice:strict/);
    const { result } = await call('tool_view', { handle: `schema:${id}`, selector: {}, render: 'json' });
    const [{ text }] = (result as { content: [{ text: string }] }).content;
    expect(JSON.parse(text).args_schema.properties.list).toEqual({ const: `VOICE constant${HIDDEN}` });
    // An address is data too, and with escapes it would be another one.
    const listed = (await ask('resources/list')).result as { resources: { uri: string }[] };
    expect(listed.resources.map(({ uri }) => uri).filter((uri) => /^(?:voice|other):/.test(uri))).toEqual([
      'other://one',
      'voice://one',
    ]);
    const read = await ask('resources/read', { uri: 'voice://one' });
    expect(read.result?.contents).toEqual([{ uri: 'voice://one', text: `VOICE contents${HIDDEN}` }]);
    const { structuredContent } = (await call('resource_read', { resource_id: 'voice://one', render: 'json' }))
      .result as { structuredContent: { artifacts: { content_hash: string }[] } };
    const hash = createHash('sha256').update(`VOICE contents${HIDDEN}`).digest('hex');
    expect(structuredContent.artifacts.map(({ content_hash: sha256 }) => sha256)).toContain(hash);
  });

  it('hides nothing and forges no line in any output of a command', async () => {
    const workspace = workspaceWithVoice();
    host = await connect(workspace);
    const tool = await cardId('tool_browse', { path: '/voice' }, /^voice:refuses/);
    await call('tool_execute', { tool_id: tool, args: {} });
    workspace.write('.mcp.json', JSON.stringify({ mcpServers: { [`VOICE${HIDDEN}`]: { command: 'x' } } }));
    const word = `VOICE${HIDDEN}`;
    const commands: readonly string[][] = [
      ['catalog'],
      ['catalog', '--stats'],
      ['browse', '/voice'],
      ['browse', 'voice strict'],
      ['browse', 'voice strict', '--explain'],
      ['status'],
      ['health'],
      ['telemetry'],
      ['learned'],
      ['approve'],
      ['approve', SERVER],
      ['import', '--dry-run'],
    ];
    const failing: readonly string[][] = [
      ['approve', word],
      ['approve', '--revoke', word],
      ['login', word],
      ['learned', '--forget', word],
      ['import', word],
      ['import', '--from', word],
      ['client-config', word],
      ['browse', `/${word}`],
      ['status', '--workspace', word],
      [word],
    ];
    const printed = new Map<string, string>();
    for (const args of [...commands, ...commands.map((one) => [...one, '--json']), ...failing]) {
      const { stdout, stderr } = await waygate(workspace, args);
      printed.set(args.join(' ').replace(word, 'WORD').replace(SERVER, 'SERVER'), stdout + stderr);
    }
    const wrong = [...printed].filter(
      ([name, text]) => visibleText(text) !== text || (!name.includes('--json') && forgedLine.test(text)),
    );
    expect(wrong).toEqual([]);
    const silent = [...printed].filter(([, text]) => !text.includes('VOICE')).map(([name]) => name);
    expect(silent).toEqual(['learned', 'learned --json']);
    // A program that reads the JSON gets the names as they are.
    const { servers } = JSON.parse(printed.get('status --json') as string);
    expect(servers.map(({ name }: { name: string }) => name)).toContain(SERVER);
    const log = readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8');
    expect(log).toContain('VOICE');
    expect([visibleText(log), forgedLine.test(log)]).toEqual([log, false]);
    const events = readFileSync(join(stateFolder(workspace), 'events.jsonl'), 'utf8');
    expectVisible(
      events
        .trim()
        .split('\n')
        .flatMap((line) => textsOf(JSON.parse(line))),
    );
  });
});
