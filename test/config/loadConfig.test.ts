import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoadedConfig } from '../../src/config/fileReader.ts';
import { loadConfig, parseConfig } from '../../src/config/loadConfig.ts';
import { configFile } from '../../src/config/state/configPlaces.ts';
import { temporaryFolder, testWorkspace } from '../support/workspace.ts';

const FILE = '/home/ada/shop/.vscode/waygate.json';
const WORKSPACE = '/home/ada/shop';

const parse = (text: string, env: NodeJS.ProcessEnv = {}): LoadedConfig => parseConfig(text, FILE, WORKSPACE, env);
const server = (text: string, env: NodeJS.ProcessEnv = {}) => parse(`{"servers": {"one": ${text}}}`, env);
/** Returns problems as `line:column message`. */
const problems = (config: LoadedConfig): string[] =>
  config.problems.map(({ location, message }) => `${location.line}:${location.column} ${message}`);

describe('the configuration', () => {
  it('proposes a process per session for a server that is known to keep state', () => {
    const text = (more: object) =>
      JSON.stringify({ servers: { one: { command: 'npx', args: ['@playwright/mcp'], ...more } } });
    const messages = (more: object) =>
      parseConfig(text(more), '/w/waygate.json', '/w', {}).problems.map(({ message }) => message);
    expect(messages({})).toEqual([expect.stringContaining('write "sharing": "session" for a process per client')]);
    expect(messages({ sharing: 'session' })).toEqual([]);
    expect(messages({ sharing: 'workspace' })).toEqual([]);
    expect(messages({ disabled: true })).toEqual([]);
  });

  it('may contain comments, trailing commas and a byte order mark', () => {
    const config = parse('\ufeff// ours\r\n{\r\n  "servers": { "one": { "command": "x", /* no args */ }, },\r\n}');
    expect(config.usable).toBe(true);
    expect(config.problems).toEqual([]);
    expect(config.servers).toEqual([
      {
        name: 'one',
        type: 'stdio',
        command: 'x',
        args: [],
        env: {},
        cwd: WORKSPACE,
        declared: { command: 'x', args: [], env: {} },
        disabled: false,
        keepAlive: false,
        location: { file: FILE, line: 3, column: 16 },
        origin: 'workspace',
      },
    ]);
  });

  it.each([
    ['', '1:1 The file is empty; it needs {"servers": {}}.'],
    [' \n ', '1:1 The file is empty; it needs {"servers": {}}.'],
    ['// nothing yet', /1:\d+ (This is not JSON|The file must hold)/],
    ['null', '1:1 The file must hold an object: {"servers": {…}}.'],
    ['[]', '1:1 The file must hold an object: {"servers": {…}}.'],
    ['{\n  "servers": {\n    "one": {"command": "x"\n', /^\d+:\d+ This is not JSON: a close brace is expected here\.$/],
    ['{"servers": {}}\n{"servers": {}}', '2:1 This is not JSON: an end of file is expected here.'],
    [`{"servers": ${'['.repeat(100_000)}`, '1:112 This nests deeper than 100 levels.'],
    [`{"servers": ${'{"a":'.repeat(100_000)}`, /nests deeper/],
  ])('is reported as unusable with its place: %.40s', (text, problem) => {
    const config = parse(text);
    expect(config).toMatchObject({ usable: false, exists: true, servers: [] });
    expect(problems(config)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
  });

  it.each([
    ['null', '1:21 "servers.one" must be an object with a "command" or a "url".'],
    ['{}', '1:21 "servers.one" has no "command"; add it.'],
    ['{"comand": "x"}', '1:22 "servers.one.comand" is not a key; did you mean "command"?'],
    [
      '{"command": "x", "zzzzzzzzzz": 1}',
      '1:38 "servers.one.zzzzzzzzzz" is not a key; known keys are type, command, args, env, envFile, cwd, sandbox, url, headers, auth, tokens, keepAlive, disabled, required, startTimeoutSeconds, trust, sampling, sharing, roots, tools.',
    ],
    ['{"command": 5}', '1:33 "servers.one.command" must be a string.'],
    ['{"command": " "}', '1:33 "servers.one.command" must not be empty.'],
    ['{"command": "x\\u0000"}', /NUL character/],
    ['{"command": "x", "command": "y"}', '1:38 "servers.one.command" is written twice; remove one.'],
    ['{"command": "x", "args": "y"}', '1:46 "servers.one.args" must be a list.'],
    ['{"command": "x", "args": ["y", 1]}', '1:52 "servers.one.args[1]" must be a string.'],
    ['{"command": "x", "env": []}', '1:45 "servers.one.env" must be an object.'],
    ['{"command": "x", "env": {"A": null}}', '1:51 "servers.one.env.A" must be a string.'],
    ['{"command": "x", "env": {"A=B": "1"}}', '1:46 "servers.one.env["A=B"]" needs a name without "=".'],
    ['{"command": "x", "env": {"": "1"}}', '1:46 "servers.one.env[""]" needs a name without "=".'],
    ['{"command": "x", "cwd": 5}', '1:45 "servers.one.cwd" must be a string.'],
    ['{"command": "x", "envFile": {}}', '1:49 "servers.one.envFile" must be a string.'],
    [
      '{"command": "x", "envFile": "no.env"}',
      `1:49 "servers.one.envFile": ${join(WORKSPACE, 'no.env')} cannot be read (ENOENT).`,
    ],
    ['{"command": "x", "envFile": "/"}', '1:49 "servers.one.envFile": / cannot be read (EISDIR).'],
    ['{"command": "x", "disabled": "yes"}', '1:50 "servers.one.disabled" must be true or false.'],
    ['{"type": "ws", "url": "https://x"}', '1:30 "servers.one.type" must be "stdio", "http", "sse" or "records".'],
    ['{"type": "http"}', '1:21 "servers.one" has no "url"; add it.'],
    ['{"url": "https://x", "auth": "me"}', '1:50 "servers.one.auth" must be an object.'],
    [
      '{"url": "https://x", "auth": {"clientld": "a"}}',
      '1:51 "servers.one.auth.clientld" is not a key; did you mean "clientId"?',
    ],
    [
      '{"url": "https://x", "auth": {"clientSecret": "hunter22"}}',
      '1:67 "servers.one.auth.clientSecret" must be a reference like "${secret:NAME}".',
    ],
    ['{"url": "https://x", "auth": {"clientId": "${secret:a}"}}', /"\$\{secret:a\}" is not allowed here/],
    ['{"url": "https://x", "auth": {"scopes": "read"}}', '1:61 "servers.one.auth.scopes" must be a list.'],
    [
      '{"url": "https://x", "auth": {"issuer": "login.example"}}',
      '1:61 "servers.one.auth.issuer" must be an address like "https://login.example.com".',
    ],
    [
      '{"url": "https://x", "auth": {"issuer": "file:///etc"}}',
      '1:61 "servers.one.auth.issuer" must be an address like "https://login.example.com".',
    ],
    [
      '{"command": "x", "auth": {}}',
      '1:38 "servers.one.auth" belongs to a server with a "url", and this is a server with a "command"; remove it.',
    ],
    [
      '{"type": "records", "url": "https://x"}',
      /"servers\.one" has no "tokens"; add a list with the token of each grant/,
    ],
    [
      '{"type": "records", "tokens": ["${secret:a}"]}',
      '1:51 "servers.one" has "tokens" and no "url"; add the "url" of its provider, or remove "tokens" to read the records of this machine.',
    ],
    ['{"type": "records", "command": "x"}', /"servers\.one\.command" belongs to a server with a "command"/],
    [
      '{"type": "records", "url": "https://x", "tokens": ["hunter22"]}',
      '1:72 "servers.one.tokens[0]" must be a reference like "${secret:NAME}".',
    ],
    [
      '{"type": "records", "url": "https://x", "tokens": ["${secret:a}"], "headers": {}}',
      /"servers\.one\.headers" belongs to a server with a "url", and this is a server of the type "records"; remove it\./,
    ],
    [
      '{"url": "https://x", "tokens": ["${secret:a}"]}',
      /"servers\.one\.tokens" belongs to a server of the type "records", and this is a server with a "url"; remove it\./,
    ],
    ['{"type": "stdio", "url": "https://x"}', '1:21 "servers.one" has no "command"; add it.'],
    ['{"command": "x", "url": "https://x"}', '1:45 "servers.one" has both a "command" and a "url"; keep one of them.'],
    [
      '{"url": "https://x", "args": []}',
      '1:42 "servers.one.args" belongs to a server with a "command", and this is a server with a "url"; remove it.',
    ],
    [
      '{"command": "x", "headers": {}}',
      '1:38 "servers.one.headers" belongs to a server with a "url", and this is a server with a "command"; remove it.',
    ],
    [
      '{"url": "x"}',
      '1:29 "servers.one.url" must be an address like "https://host/mcp", with passwords in "headers" by reference.',
    ],
    [
      '{"url": "file:///etc"}',
      '1:29 "servers.one.url" must be an address like "https://host/mcp", with passwords in "headers" by reference.',
    ],
    [
      '{"url": "https://a:b@x"}',
      '1:29 "servers.one.url" must be an address like "https://host/mcp", with passwords in "headers" by reference.',
    ],
    [
      '{"url": "https://x", "headers": {"A B": "1"}}',
      '1:54 "servers.one.headers["A B"]" needs a name of letters, digits and "-".',
    ],
    ['{"url": "https://x", "headers": {"A": "1\\n2"}}', '1:59 "servers.one.headers.A" must be one line.'],
    [
      '{"command": "${env:TOKEN}"}',
      '1:33 "servers.one.command": The environment variable TOKEN of "${env:TOKEN}" is not set in the environment of the gateway; set it there and restart the gateway.',
    ],
    ['{"command": "x", "required": "maybe"}', '1:50 "servers.one.required" must be true or false.'],
    ['{"command": "x", "tools": []}', '1:47 "servers.one.tools" must be an object.'],
    [
      '{"command": "x", "tools": {"inclde": []}}',
      '1:48 "servers.one.tools.inclde" is not a key; did you mean "include"?',
    ],
    ['{"command": "x", "tools": {"include": "read_*"}}', '1:59 "servers.one.tools.include" must be a list.'],
    ['{"command": "x", "tools": {"exclude": ["a", ""]}}', '1:65 "servers.one.tools.exclude[1]" must not be empty.'],
    [
      '{"command": "x", "args": ["${nope:key}"]}',
      /"\$\{nope:key\}" is not a known variable; use \$\{workspaceFolder\}/,
    ],
    [
      '{"command": "x", "args": ["${input:key}"]}',
      '1:47 "servers.one.args[0]": "${input:key}" names no entry of "inputs"; add one.',
    ],
    [
      '{"command": "${secret:key}"}',
      '1:33 "servers.one.command": "${secret:key}" is not allowed here; use secrets in "env", "args", "headers", "url" or "auth.clientSecret".',
    ],
    ['{"command": "x", "args": ["${secret:a b}"]}', /needs a name of letters/],
  ])('reports the error of a server and its place: %s', (text, problem) => {
    const config = parse(`{"servers": {"one": ${text}, "two": {"command": "y"}}}`);
    expect(problems(config)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
    // Other servers keep working.
    expect(config.usable).toBe(true);
    expect(config.servers.map(({ name }) => name)).toEqual(['two']);
    expect(config.broken).toEqual([
      { name: 'one', reason: config.problems[0]?.message, location: config.problems[0]?.location },
    ]);
  });

  it.each([
    ['{"servers": []}', '1:13 "servers" must be an object of servers by name.'],
    ['{"sevrers": {}}', '1:2 "sevrers" is not a key; did you mean "servers"?'],
    ['{"servers": {"a": {"command": "x"}, "a": {"command": "y"}}}', '1:37 "servers.a" is written twice; remove one.'],
    [
      '{"servers": {"a": {"command": "x"}},\n"servers": {"b": {"command": "y"}}}',
      '2:1 "servers" is written twice; remove one.',
    ],
    ['{"idleMinutes": 0}', /1:17 "idleMinutes" must be a number above 0, at most 1440; .* "keepAlive"/],
    ['{"servers": {" ": {"command": "x"}}}', '1:14 "servers" has an entry without a name; name it.'],
    [
      '{"servers": {"a": {"command": "x", "env": {"K": "1", "K": "2"}}}}',
      '1:54 "servers.a.env.K" is written twice; remove one.',
    ],
    ['{"policy": {"default": "deny", "default": "allow"}}', '1:32 "policy.default" is written twice; remove one.'],
    ['{"startup": {"mode": "fast"}}', '1:22 "startup.mode" must be "degraded" or "strict".'],
    ['{"startup": {"timeoutSecond": 5}}', '1:14 "startup.timeoutSecond" is not a key; did you mean "timeoutSeconds"?'],
    [
      '{"startup": {"minHealthyServers": 1.5}}',
      '1:35 "startup.minHealthyServers" must be a whole number from 0 to 10000.',
    ],
    ['{"liveRefresh": []}', '1:17 "liveRefresh" must be an object.'],
    ['{"liveRefresh": {"enabled": "yes"}}', '1:29 "liveRefresh.enabled" must be true or false.'],
    ['{"liveRefresh": {"debounceSeconds": -1}}', '1:37 "liveRefresh.debounceSeconds" must be a number from 0 to 3600.'],
  ])('reports the error and uses the rest: %s', (text, problem) => {
    const config = parse(text);
    expect(problems(config)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
    expect(config.usable).toBe(true);
    for (const server of config.servers) expect(server).toMatchObject({ name: 'a', command: 'x' });
  });

  it('accepts names that a prototype has', () => {
    const text =
      '{"servers": {"__proto__": {"command": "x", "env": {"__proto__": "1"}}, "constructor": {"command": "y"}}}';
    const config = parseConfig(text, FILE, WORKSPACE, {}, 'user');
    expect(config.problems).toEqual([]);
    expect(config.servers).toMatchObject([
      { name: '__proto__', command: 'x' },
      { name: 'constructor', command: 'y' },
    ]);
  });

  it('replaces variables in every text', () => {
    const text =
      '{"command": "${env:BIN}/x", "args": ["${workspaceFolder}", "${workspaceFolderBasename}"], "env": {"H": "${userHome}", "N": 5, "B": true}, "cwd": "sub"}';
    expect(server(text, { BIN: '/opt' }).servers[0]).toMatchObject({
      command: '/opt/x',
      args: [WORKSPACE, 'shop'],
      env: { H: homedir(), N: '5', B: 'true' },
      cwd: join(WORKSPACE, 'sub'),
    });
    // A value is not resolved again: the environment's content is data.
    expect(server('{"command": "${env:A}"}', { A: '${env:B}' }).servers[0]).toMatchObject({ command: '${env:B}' });
    expect(server('{"command": "$HOME $ {}"}').problems).toEqual([]);
  });

  it('checks only the form of a disabled server', () => {
    const off = server('{"disabled": true, "command": "${env:TOKEN}", "envFile": "no.env", "args": ["${input:key}"]}');
    expect(off.problems).toEqual([]);
    expect(off.servers).toMatchObject([{ name: 'one', disabled: true }]);
    expect(problems(server('{"disabled": true, "command": 5}'))).toHaveLength(1);
  });

  it('prefers env to envFile', () => {
    const workspace = testWorkspace();
    workspace.write('.env', '\ufeffFIRST=file\n# a comment\nSECOND="two words"\n');
    workspace.configure({ one: { command: 'x', envFile: '${workspaceFolder}/.env', env: { FIRST: 'own' } } });
    const config = loadConfig(workspace.folder, {});
    expect(config.servers[0]).toMatchObject({ env: { FIRST: 'own', SECOND: 'two words' } });
  });

  it('is empty without a file', () => {
    const folder = temporaryFolder('waygate-test-');
    expect(loadConfig(folder, {})).toMatchObject({ exists: false, usable: true, servers: [], problems: [] });
  });

  it('is reported as unreadable if it is a folder', () => {
    const folder = temporaryFolder('waygate-test-');
    mkdirSync(configFile(folder), { recursive: true });
    const config = loadConfig(folder, {});
    expect(config.usable).toBe(false);
    expect(problems(config)).toEqual(['1:1 waygate.json cannot be read (EISDIR).']);
  });

  it('may have 256 servers, and not one more', () => {
    const many = (count: number): string => {
      const entries = Array.from(
        { length: count },
        (_, i) => `"s${i}": {"command": "x", "args": ["${'y'.repeat(200)}"]}`,
      );
      return `{"servers": {${entries.join(',\n')}}}`;
    };
    expect(parse(many(256)).servers).toHaveLength(256);
    const more = parse(many(257));
    expect(more.servers).toEqual([]);
    expect(problems(more)).toEqual(['1:13 "servers" has 257 servers, and 256 is the limit; remove some.']);
  });

  it('is not read beyond the number of keys and values that a configuration needs', () => {
    const texts = [
      `{"policy": {"default": "deny"}${', "x": 1'.repeat(201)}}`,
      `{"policy": {"rules": [${'{"action": "deny"}, '.repeat(10_000)}]}}`,
    ];
    for (const config of texts.map((text) => parse(text))) {
      expect(config).toMatchObject({ usable: false, ruleless: true });
      expect(problems(config)).toEqual([
        expect.stringMatching(/^1:\d+ The file has more keys and values than a configuration needs\.$/),
      ]);
    }
  });
});
