// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the configuration's own syntax
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROBLEM_CODES } from '../../src/config/gatewayConfig.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { mergeConfigs } from '../../src/config/mergeConfigs.ts';
import type { ServerStatus } from '../../src/control/contract.ts';
import { readText } from '../../src/extension/configuration/language/configurationText.ts';
import { editorProblems } from '../../src/extension/configuration/language/problems.ts';
import {
  limitHover,
  remedyButton,
  secretHover,
  serverHover,
  serverLenses,
  statusOf,
} from '../../src/extension/configuration/language/serverWords.ts';
import { server } from './fixtures.ts';

const FILE = '/w/.vscode/waygate.json';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

/** Each line with a mistake ends in a comment with its code and the marked text. */
const MISTAKES = `{
  "servrs": {}, // unknown_key «"servrs"» -> servers
  /* "comand": 1 */ "servers": {
    "a b.c": { "command": "x", "agrs": ["-y"] }, // unknown_key «"agrs"» -> args
    "größe": { "command": "x", "disabled": "да" }, // wrong_value «"да"»
    "l": { "command": "x", "tools": { // missing «»
      "include": "x" } }, // wrong_value «"x"»
    "none": {}, // missing «{}»
    "two": { "comand": "x", /* unknown_key «"comand"» -> command */ "url": 5 }, // wrong_value «5»
    "three": { "url": "https://h", "urll": 1, "roots": [ // unknown_key «"urll"» -> url
      {} ] }, // wrong_value «{}»
    "both": { "command": "x", "headers": {} }, // misplaced_key «"headers"»
    "env": { "command": "x", "env": { "A": "\${nothing}" } }, // reference «"\${nothing}"»
    "key": { "command": "x", "env": { "API_TOKEN": "${TOKEN}" } }, // clear_secret «"${TOKEN}"»
    "twice": { "command": "x" },
    "twice": { "command": "y" } // duplicate «"twice"»
  },
  "policy": { "rules": [
    { "action": "alow" }, // wrong_value «"alow"» -> allow
    { "action": "deny", "server": "fils" }, // unknown_server «"fils"»
    { "action": "deny", "server": "twise" } // unknown_server «"twise"» -> twice
  ] },
  "retry": { "maxAttempts": 0 } // wrong_value «0»
}`;

interface Expected {
  line: number;
  code: string;
  marked: string;
  instead: string | undefined;
}

const expected: Expected[] = MISTAKES.split('\n').flatMap((line, index) => {
  const comments = line.matchAll(/\/[/*] (\w+) «(.+?)»(?: -> (\w+))?/g);
  return [...comments].map(([, code = '', marked = '', instead]) => ({ line: index + 1, code, marked, instead }));
});

describe.each([
  ['line feeds', MISTAKES],
  ['CRLF', MISTAKES.replaceAll('\n', '\r\n')],
])('the problems of a file with %s', (_, text) => {
  it('are as many as its mistakes, each with the range of the wrong word, its code and what was meant', () => {
    const { problems } = mergeConfigs([parseConfig(text, FILE, '/w', {})]);
    const lines = text.split(/\r?\n/);
    const found = problems.map(({ location: { line, column }, endColumn = 0, code, meant }) => ({
      line,
      code,
      marked: lines[line - 1]?.slice(column - 1, endColumn - 1) ?? '',
      instead: meant?.instead,
    }));
    const sorted = found.toSorted((a, b) => a.line - b.line);
    expect(sorted).toEqual(expected);
    expect(sorted.length).toBe(17);
  });
});

describe('the problems of the editor', () => {
  const location = { file: FILE, line: 3, column: 5 };
  const at = (over: Partial<ServerStatus>): ServerStatus => server('a', { location, ...over });
  const problemsOf = (
    servers: readonly ServerStatus[],
    problems: Parameters<typeof editorProblems>[0]['configuration']['problems'] = [],
  ) => editorProblems({ configuration: { file: FILE, exists: true, problems }, servers }, []);

  it('has one error for a failed server, with its reason and its last lines', () => {
    const stderr = ['1', '2', '3', '4'];
    expect(problemsOf([at({ state: 'failed', reason: 'It ended with exit code 3', stderr })])).toMatchObject([
      {
        severity: 'error',
        code: 'failed_server',
        message: 'The server "a" failed: It ended with exit code 3.',
        location,
        server: { stderr: ['2', '3', '4'] },
      },
    ]);
  });

  it('has information for a server that waits, without a command line, and nothing for one that is well', () => {
    const secret = { key: 'k', name: 'k', description: '', password: true, options: [] };
    const waiting = problemsOf([
      at({ state: 'needs_approval', reason: 'run waygate approve a' }),
      at({ state: 'needs_sign_in' }),
      at({ state: 'needs_secret', secret }),
      ...(['ready', 'starting', 'not_started', 'disabled', 'stopped'] as const).map((state) => at({ state })),
      server('elsewhere', { state: 'failed' }),
    ]);
    expect(waiting.map(({ severity, message }) => [severity, message])).toEqual([
      ['information', 'The server "a" waits for your approval. Nothing of it runs until then.'],
      ['information', 'The server "a" needs you to sign in.'],
      ['information', 'The server "a" needs the secret "k", which is not set.'],
    ]);
  });

  it('has no second problem for a server that a mistake broke', () => {
    const text = `{"servers": {"a": {"command": 1}, "t": {"command": "x"}, "t": {"command": "y"}}}`;
    const { problems, broken } = mergeConfigs([parseConfig(text, FILE, '/w', {})]);
    const failed = broken.map(({ name, reason, location: place }) =>
      server(name, { state: 'failed', reason, location: place }),
    );
    expect(failed.length).toBe(2);
    expect(problemsOf(failed, problems)).toEqual(problems);
  });
});

describe('docs/editor/problems.md', () => {
  const page = readFileSync('docs/editor/problems.md', 'utf8');

  it('needs no file beside it, because the packed extension has none of them', () => {
    expect(page.match(/\]\((?!#)[^)]*\)/g)).toBeNull();
    expect(readFileSync('.vscodeignore', 'utf8')).toContain('\n!docs/editor/problems.md\n');
  });

  it('has a section on each kind of problem, and no other', () => {
    const sections = [...page.matchAll(/^## (\w+)$/gm)].map(([, code]) => code);
    expect(sections).toEqual([
      ...PROBLEM_CODES.filter((code) => code !== 'suspicious_text'),
      'suspicious_text',
      'failed_server',
      'waiting_server',
    ]);
  });
});

describe('the lines above servers', () => {
  const text = readText('{"servers": {"a": {}, "b.\\"c\\"": {}, "\\u200bx": {}}}');
  const titles = (servers: readonly ServerStatus[], isDirty = false): string[][] =>
    text.servers.map((one) =>
      serverLenses({ ...text, servers: [one] }, servers, isDirty).map(
        ({ title, command = '' }) => `${title} ${command}`,
      ),
    );

  it('show the state, tools and tokens, with the buttons that apply', () => {
    const servers = [
      server('a', { kind: 'stdio', toolCount: 400, definitionTokens: 47_699 }),
      server('b."c"', { kind: 'http', state: 'needs_sign_in', toolCount: 0, remedy: { kind: 'sign_in' } }),
      server('\\u200bx', { state: 'failed', kind: 'stdio', toolCount: 0, remedy: { kind: 'restart' } }),
    ];
    expect(titles(servers)).toEqual([
      [
        '$(pass)\u00a0ready · 400 tools · 47.7k tokens waygate.revealServer',
        'Restart waygate.restartServer',
        'Log waygate.openServerLog',
      ],
      ['$(warning)\u00a0needs sign-in waygate.revealServer', 'Sign In waygate.signIn'],
      ['$(error)\u00a0failed waygate.revealServer', 'Restart waygate.restartServer', 'Log waygate.openServerLog'],
    ]);
  });

  it('stand at the name, and say so when the gateway has not read it', () => {
    expect(
      serverLenses(text, [], true).map(({ offset, length, title }) => [
        text.text.slice(offset, offset + length),
        title,
      ]),
    ).toEqual([
      ['"a"', 'not read yet: save'],
      ['"b.\\"c\\""', 'not read yet: save'],
      ['"\\u200bx"', 'not read yet: save'],
    ]);
    expect(titles([])[0]).toEqual(['not read yet ']);
  });

  it('take a server by its exact name', () => {
    const servers = [server('a.b'), server('a')];
    expect(statusOf(servers, 'a')).toBe(servers[1]);
    expect(statusOf(servers, '.*')).toBeUndefined();
  });

  it('have a button for every step that a command takes', () => {
    const kinds = ['approve', 'review', 'secret', 'sign_in', 'restart', 'wait', 'edit'];
    const buttons = kinds.map(
      (kind) => remedyButton(server('a', { remedy: { kind } as NonNullable<ServerStatus['remedy']> }))?.title,
    );
    expect(buttons).toEqual(['Approve…', 'Review Changes…', 'Set Secret…', 'Sign In', undefined, undefined, undefined]);
  });
});

describe('the words under the pointer', () => {
  const NOW = 1_000_000;

  it('describe a server with everything that is known of it, without foreign markup', () => {
    const status = server('[x](command:y)', {
      state: 'failed',
      since: NOW - 300_000,
      reason: 'It ended',
      calls: 12,
      errors: 1,
      p95Ms: 118,
      stderr: ['1', '2', '3', '4', '5', 'six'],
      nextTryAt: NOW + 24_000,
      supervised: {
        ...({} as NonNullable<ServerStatus['supervised']>),
        restart_count: 22,
        last_fault: { code: 'process_exited', detail: 'exit code 3' } as never,
      },
    });
    const call = {
      toolId: 'x:y',
      subject: '',
      at: NOW - 60_000,
      durationMs: 118,
      phase: 'done',
      outcome: 'error',
      errorCode: 'UPSTREAM_ERROR',
    };
    const { lines, code } = serverHover(status, call as never, NOW);
    expect(lines.map((line) => line.replaceAll('\\', ''))).toEqual([
      '**[x](command:y)**: failed · 3 tools · 22 restarts',
      'It ended.',
      'In this state for 5 min.',
      '22 restarts, next try in 24 s.',
      'Last fault: exit code 3.',
      '12 calls, 1 error, 95 of 100 within 118 ms.',
      'Last call: x:y failed with UPSTREAM_ERROR after 118 ms, 60 s ago.',
      'Its last lines on stderr:',
    ]);
    expect(lines[0]).not.toContain('[x](');
    expect(code).toBe('2\n3\n4\n5\nsix');
  });

  it('say what is left of a limit, by client', () => {
    const windows = [
      { scope: 'tool_execute/minute', limit: 40, left: 33, freesInMs: 12_000 },
      { scope: 'tool_execute/session', limit: 1_000, left: 7, client: 'claude-code' },
      { scope: 'tool_view/minute', limit: 1, left: 1 },
    ];
    const words = (scopes: string[]) => limitHover(windows, scopes).map((line) => line.replaceAll('\\', ''));
    expect(words(['tool_execute/minute', 'tool_execute/session'])).toEqual([
      '33 of 40 calls left in this minute; more in 12 s.',
      '7 of 1,000 calls left in this session (claude-code).',
    ]);
    expect(words(['tool:a/minute'])).toEqual(['No call has counted against this limit yet.']);
  });

  it('say whether a secret is set', () => {
    expect([secretHover('a', true), secretHover('a', false)]).toEqual([
      'The secret **a** is set.',
      'The secret **a** is not set, so a server that needs it does not start.',
    ]);
  });
});
