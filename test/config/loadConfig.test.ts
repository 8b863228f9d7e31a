import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFile, type LoadedConfig, loadConfig, parseConfig } from '../../src/config/loadConfig.ts';
import { temporaryFolder, testWorkspace } from '../support/workspace.ts';

const FILE = '/home/ada/shop/.vscode/waygate.json';
const WORKSPACE = '/home/ada/shop';

const parse = (text: string, env: NodeJS.ProcessEnv = {}): LoadedConfig => parseConfig(text, FILE, WORKSPACE, env);
const server = (text: string, env: NodeJS.ProcessEnv = {}) => parse(`{"servers": {"one": ${text}}}`, env);
/** `line:column message`, as a person reads it. */
const problems = (config: LoadedConfig): string[] =>
  config.problems.map(({ location, message }) => `${location.line}:${location.column} ${message}`);

describe('the configuration', () => {
  it('is read with comments, trailing commas and a byte order mark', () => {
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
    ['{"servers": []}', '1:13 "servers" must be an object of servers by name.'],
    ['{\n  "servers": {\n    "one": {"command": "x"\n', /^\d+:\d+ This is not JSON: a close brace is expected here\.$/],
    ['{"servers": {}}\n{"servers": {}}', '2:1 This is not JSON: an end of file is expected here.'],
    [`{"servers": ${'['.repeat(100_000)}`, '1:112 This nests deeper than 100 levels.'],
    [`{"servers": ${'{"a":'.repeat(100_000)}`, /nests deeper/],
  ])('is told as unusable with its place: %.40s', (text, problem) => {
    const config = parse(text);
    expect(config).toMatchObject({ usable: false, exists: true, servers: [] });
    expect(problems(config)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
  });

  it.each([
    ['null', '1:21 Server "one": it must be an object with a "command" or a "url".'],
    ['{}', '1:21 Server "one": it has no "command".'],
    ['{"comand": "x"}', '1:22 Server "one": Unknown key "comand"; did you mean "command"?'],
    ['{"command": "x", "zzzzzzzzzz": 1}', /Unknown key "zzzzzzzzzz"; known are type, command, args/],
    ['{"command": 5}', '1:33 Server "one": "command" must be a string.'],
    ['{"command": " "}', '1:33 Server "one": "command" must not be empty.'],
    ['{"command": "x\\u0000"}', /NUL character/],
    ['{"command": "x", "command": "y"}', '1:38 Server "one": "command" stands here twice.'],
    ['{"command": "x", "args": "y"}', '1:46 Server "one": "args" must be a list of strings.'],
    ['{"command": "x", "args": ["y", 1]}', '1:52 Server "one": each of "args" must be a string.'],
    ['{"command": "x", "env": []}', '1:45 Server "one": "env" must be an object of strings.'],
    ['{"command": "x", "env": {"A": null}}', '1:51 Server "one": "env.A" must be a string.'],
    ['{"command": "x", "env": {"A=B": "1"}}', '1:46 Server "one": "A=B" is no name for a variable.'],
    ['{"command": "x", "env": {"": "1"}}', /is no name for a variable/],
    ['{"command": "x", "cwd": 5}', '1:45 Server "one": "cwd" must be a string.'],
    ['{"command": "x", "envFile": {}}', '1:49 Server "one": "envFile" must be a string.'],
    [
      '{"command": "x", "envFile": "no.env"}',
      `1:49 Server "one": its envFile ${join(WORKSPACE, 'no.env')} cannot be read (ENOENT).`,
    ],
    ['{"command": "x", "envFile": "/"}', /its envFile \/ cannot be read \(EISDIR\)/],
    ['{"command": "x", "disabled": "yes"}', '1:50 Server "one": "disabled" must be true or false.'],
    ['{"type": "ws", "url": "https://x"}', '1:30 Server "one": "type" must be "stdio", "http" or "sse".'],
    ['{"type": "http"}', '1:21 Server "one": it has no "url".'],
    ['{"url": "https://x", "auth": "me"}', '1:50 Server "one": "auth" must be an object.'],
    ['{"url": "https://x", "auth": {"clientld": "a"}}', /Unknown key "clientld"; did you mean "clientId"\?/],
    ['{"url": "https://x", "auth": {"clientSecret": "hunter22"}}', /"auth\.clientSecret" must be a reference/],
    ['{"url": "https://x", "auth": {"clientId": "${secret:a}"}}', /"\$\{secret:a\}" has no place here/],
    ['{"url": "https://x", "auth": {"scopes": "read"}}', /"auth\.scopes" must be a list of strings/],
    ['{"url": "https://x", "auth": {"issuer": "login.example"}}', /"auth\.issuer" is no address/],
    ['{"url": "https://x", "auth": {"issuer": "file:///etc"}}', /"auth\.issuer" is no address/],
    ['{"command": "x", "auth": {}}', /"auth" belongs to a server at a URL, and this one is not/],
    ['{"type": "stdio", "url": "https://x"}', '1:21 Server "one": it has no "command".'],
    [
      '{"command": "x", "url": "https://x"}',
      '1:45 Server "one": it has both a "command" and a "url"; keep one of them.',
    ],
    [
      '{"url": "https://x", "args": []}',
      '1:42 Server "one": "args" belongs to a server with a "command", and this one is not.',
    ],
    [
      '{"command": "x", "headers": {}}',
      '1:38 Server "one": "headers" belongs to a server at a URL, and this one is not.',
    ],
    ['{"url": "x"}', '1:29 Server "one": "url" is no address; it looks like "https://host/mcp".'],
    ['{"url": "file:///etc"}', '1:29 Server "one": "url" must begin with https:// or http://.'],
    ['{"url": "https://a:b@x"}', /"url" must hold no password; put it into "headers", by reference\./],
    ['{"url": "https://x", "headers": {"A B": "1"}}', '1:54 Server "one": "A B" is no name for a header.'],
    ['{"url": "https://x", "headers": {"A": "1\\n2"}}', '1:59 Server "one": "headers.A" must be one line.'],
    [
      '{"command": "${env:TOKEN}"}',
      '1:33 Server "one": The environment variable TOKEN of "${env:TOKEN}" was not set where the gateway was started; set it there, and stop the gateway so that it starts anew.',
    ],
    ['{"command": "x", "keepAlive": "yes"}', '1:51 Server "one": "keepAlive" must be true or false.'],
    [
      '{"url": "https://x", "cwd": "/w"}',
      '1:42 Server "one": "cwd" belongs to a server with a "command", and this one is not.',
    ],
    ['{"command": "x", "required": "maybe"}', '1:50 Server "one": "required" must be true or false.'],
    ['{"command": "x", "tools": []}', '1:47 Server "one": "tools" must be an object with "include" and "exclude".'],
    ['{"command": "x", "tools": {"inclde": []}}', '1:48 Server "one": Unknown key "inclde"; did you mean "include"?'],
    [
      '{"command": "x", "tools": {"include": "read_*"}}',
      '1:59 Server "one": "tools.include" must be a list of names or patterns such as "read_*".',
    ],
    [
      '{"command": "x", "tools": {"exclude": ["a", ""]}}',
      '1:65 Server "one": each of "tools.exclude" must be a name or a pattern.',
    ],
    ['{"command": "x", "args": ["${nope:key}"]}', /"\$\{nope:key\}" is not known here; use \$\{workspaceFolder\}/],
    [
      '{"command": "x", "args": ["${input:key}"]}',
      '1:47 Server "one": The input of "${input:key}" stands nowhere in "inputs"; add it there.',
    ],
    [
      '{"command": "${secret:key}"}',
      '1:33 Server "one": "${secret:key}" has no place here; secrets belong into "env", "args", "headers", "url" or "auth.clientSecret".',
    ],
    ['{"command": "x", "args": ["${secret:a b}"]}', /needs a name of letters/],
  ])('tells what is wrong with a server, and where: %s', (text, problem) => {
    const config = parse(`{"servers": {"one": ${text}, "two": {"command": "y"}}}`);
    expect(problems(config)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
    // The others work.
    expect(config.usable).toBe(true);
    expect(config.servers.map(({ name }) => name)).toEqual(['two']);
    expect(config.broken).toEqual([
      { name: 'one', reason: config.problems[0]?.message, location: config.problems[0]?.location },
    ]);
  });

  it.each([
    ['{"sevrers": {}}', '1:2 Unknown key "sevrers"; did you mean "servers"?'],
    [
      '{"servers": {"a": {"command": "x"}, "a": {"command": "y"}}}',
      '1:37 The server "a" stands here twice; the first one counts.',
    ],
    [
      '{"servers": {"a": {"command": "x"}},\n"servers": {"b": {"command": "y"}}}',
      '2:1 "servers" stands here twice; the first one counts.',
    ],
    ['{"idleMinutes": 0}', /1:17 "idleMinutes" must be a number above 0, at most 1440; .* "keepAlive"/],
    ['{"servers": {" ": {"command": "x"}}}', '1:14 A server needs a name.'],
    [
      '{"servers": {"a": {"command": "x", "env": {"K": "1", "K": "2"}}}}',
      '1:54 "K" stands here twice; the last one counts.',
    ],
    ['{"policy": {"default": "deny", "default": "allow"}}', '1:32 "default" stands here twice; the last one counts.'],
    ['{"startup": {"mode": "fast"}}', '1:22 "startup": "mode" must be "degraded" or "strict".'],
    [
      '{"startup": {"timeoutSecond": 5}}',
      '1:14 "startup": Unknown key "timeoutSecond"; did you mean "timeoutSeconds"?',
    ],
    ['{"startup": {"minHealthyServers": 1.5}}', /"minHealthyServers" must be a whole number from 0 to 10000\./],
    ['{"liveRefresh": []}', '1:17 "liveRefresh": it must be an object.'],
    ['{"liveRefresh": {"enabled": "yes"}}', '1:29 "liveRefresh": "enabled" must be true or false.'],
    ['{"liveRefresh": {"debounceSeconds": -1}}', /"debounceSeconds" must be a number from 0 to 3600\./],
  ])('tells of it and uses the rest: %s', (text, problem) => {
    const config = parse(text);
    expect(problems(config)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
    expect(config.usable).toBe(true);
    for (const server of config.servers) expect(server).toMatchObject({ name: 'a', command: 'x' });
  });

  it('knows names that a prototype has', () => {
    const config = parse(
      '{"servers": {"__proto__": {"command": "x", "env": {"__proto__": "1"}}, "constructor": {"command": "y"}}}',
    );
    expect(config.problems).toEqual([]);
    expect(config.servers).toMatchObject([
      { name: '__proto__', command: 'x' },
      { name: 'constructor', command: 'y' },
    ]);
  });

  it('replaces variables wherever a text stands', () => {
    const text =
      '{"command": "${env:BIN}/x", "args": ["${workspaceFolder}", "${workspaceFolderBasename}"], "env": {"H": "${userHome}", "N": 5, "B": true}, "cwd": "sub"}';
    expect(server(text, { BIN: '/opt' }).servers[0]).toMatchObject({
      command: '/opt/x',
      args: [WORKSPACE, 'shop'],
      env: { H: homedir(), N: '5', B: 'true' },
      cwd: join(WORKSPACE, 'sub'),
    });
    // A value is not searched again: what the environment holds is data.
    expect(server('{"command": "${env:A}"}', { A: '${env:B}' }).servers[0]).toMatchObject({ command: '${env:B}' });
    expect(server('{"command": "$HOME $ {}"}').problems).toEqual([]);
  });

  it('asks nothing of a server that is switched off but its form', () => {
    const off = server('{"disabled": true, "command": "${env:TOKEN}", "envFile": "no.env", "args": ["${input:key}"]}');
    expect(off.problems).toEqual([]);
    expect(off.servers).toMatchObject([{ name: 'one', disabled: true }]);
    expect(problems(server('{"disabled": true, "command": 5}'))).toHaveLength(1);
  });

  it('has what env says before what envFile says', () => {
    const workspace = testWorkspace();
    workspace.write('.env', '\ufeffFIRST=file\n# a comment\nSECOND="two words"\n');
    workspace.configure({ one: { command: 'x', envFile: '${workspaceFolder}/.env', env: { FIRST: 'own' } } });
    const config = loadConfig(workspace.folder, {});
    expect(config.servers[0]).toMatchObject({ env: { FIRST: 'own', SECOND: 'two words' } });
  });

  it('is an empty one where there is no file', () => {
    const folder = temporaryFolder('waygate-test-');
    expect(loadConfig(folder, {})).toMatchObject({ exists: false, usable: true, servers: [], problems: [] });
  });

  it('is told as unreadable where it is a folder', () => {
    const folder = temporaryFolder('waygate-test-');
    mkdirSync(configFile(folder), { recursive: true });
    const config = loadConfig(folder, {});
    expect(config.usable).toBe(false);
    expect(problems(config)).toEqual(['1:1 waygate.json cannot be read (EISDIR).']);
  });

  it('may be huge', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `"s${i}": {"command": "x", "args": ["${'y'.repeat(200)}"]}`);
    expect(parse(`{"servers": {${many.join(',\n')}}}`).servers).toHaveLength(5_000);
  });
});
