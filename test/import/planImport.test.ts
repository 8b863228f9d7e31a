// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the configuration's own syntax
import { describe, expect, it } from 'vitest';
import {
  exposedTwice,
  type ImportPlan,
  ImportRefused,
  type ImportRequest,
  planImport,
  type ReadSource,
  shownPath,
} from '../../src/import/planImport.ts';
import { clientSource } from '../../src/import/sources/all.ts';

const env = { HOME: '/h' };
const FILE = '/w/.vscode/waygate.json';

function source(file: string, servers: object, inputs?: unknown[]): ReadSource {
  const client = inputs ? 'vscode' : 'cursor';
  const text = JSON.stringify(inputs ? { servers, inputs } : { mcpServers: servers });
  const parsed = clientSource(client).parse(text, { workspace: '/w', env, platform: 'linux' });
  return { client, title: file, file: `/h/${file}`, scope: 'user', parsed };
}

function plan(sources: ReadSource[], more: Partial<ImportRequest> = {}): ImportPlan {
  return planImport({ file: FILE, current: undefined, workspace: '/w', env, sources, ...more });
}

const outcomes = ({ servers }: ImportPlan): string[] =>
  servers.map(({ name, outcome, target }) => `${name} ${outcome} ${target}`);
const result = ({ after }: ImportPlan): Record<string, unknown> => JSON.parse(after) as Record<string, unknown>;

const SECRET = `ghp_${'f1'.repeat(18)}`;
const github = { command: 'github', env: { GITHUB_TOKEN: SECRET } };

describe('limits', () => {
  const codex = (text: string): ReadSource => {
    const parsed = clientSource('codex').parse(text, { workspace: '/w', env, platform: 'linux' });
    return { client: 'codex', title: 'Codex', file: '/h/config.toml', scope: 'user', parsed };
  };

  it('are written where the gateway reads them', () => {
    const text =
      '[mcp_servers.one]\nurl = "https://one.test"\nenabled_tools = ["a"]\ntool_timeout_sec = 90\nscopes = ["s"]\n[mcp_servers.one.oauth]\nclient_id = "i"\nclient_secret = "not-so-secret"';
    const planned = plan([codex(text)]);
    expect(result(planned)).toEqual({
      servers: {
        one: {
          url: 'https://one.test',
          tools: { include: ['a'] },
          auth: { clientId: 'i', clientSecret: '${input:one-client-secret}', scopes: ['s'] },
        },
      },
      timeouts: { servers: { one: 90 } },
      inputs: [expect.objectContaining({ id: 'one-client-secret', password: true })],
    });
    expect(planned.servers).toMatchObject([{ cannotStart: undefined, disabled: false }]);
    expect(outcomes(plan([codex(text)], { current: planned.after }))).toEqual(['one present one']);
  });

  it('that are lost leave the server to its client', () => {
    const planned = plan([codex('[mcp_servers.one]\ncommand = "c"\ndefault_tools_approval_mode = "prompt"')]);
    expect(result(planned)).toEqual({ servers: { one: { command: 'c', disabled: true } } });
    expect(exposedTwice(planned).size).toBe(0);
  });

  it('do not hinder inputs of VS Code, whose names and types the gateway does not have', () => {
    const inputs = [
      { id: 'my key', type: 'command', command: 'x' },
      { id: 'pick', type: 'pickString', options: [{ label: 'A', value: 'a' }] },
    ];
    const planned = plan([source('v', { one: { command: 'c', args: ['${input:my key}', '${input:pick}'] } }, inputs)]);
    expect(planned.servers).toMatchObject([{ cannotStart: undefined, outcome: 'added' }]);
    expect(result(planned)).toMatchObject({
      servers: { one: { args: ['${input:my-key}', '${input:pick}'] } },
      inputs: [
        { id: 'my-key', type: 'promptString' },
        { id: 'pick', options: ['a'] },
      ],
    });
  });
});

describe('a new file', () => {
  it('contains the servers in the order of their sources, then the inputs', () => {
    const { after, changed, before } = plan([source('a', { github, files: { command: 'files', args: ['.'] } })]);
    expect([changed, before]).toEqual([true, undefined]);
    expect(after).toMatchInlineSnapshot(`
      "{
        "servers": {
          "github": {
            "command": "github",
            "env": {
              "GITHUB_TOKEN": "\${input:github-token}"
            }
          },
          "files": {
            "command": "files",
            "args": ["."]
          }
        },
        "inputs": [
          {
            "type": "promptString",
            "id": "github-token",
            "description": "GITHUB_TOKEN of the MCP server github",
            "password": true
          }
        ]
      }
      "
    `);
  });

  it('replaces a blank file', () => {
    expect(result(plan([source('a', { x: { command: 'x' } })], { current: ' \n' }))).toEqual({
      servers: { x: { command: 'x' } },
    });
  });
});

describe('names', () => {
  it('finds the same server under the same name', () => {
    const current = '{"servers": {"x": {"command": "x", "args": ["a"], "disabled": true}}}';
    const planned = plan([source('a', { x: { args: ['a'], command: 'x', env: {} } })], { current });
    expect(outcomes(planned)).toEqual(['x present x']);
    expect([planned.changed, planned.after]).toEqual([false, current]);
  });

  it('finds the same server under another name, and reports the name', () => {
    const current = '{"servers": {"mine": {"command": "x"}}}';
    expect(outcomes(plan([source('a', { x: { command: 'x' } })], { current }))).toEqual(['x present mine']);
  });

  it('numbers another server of the same name, with a note', () => {
    const current = '{"servers": {"x": {"command": "x"}, "x-2": {"command": "z"}}}';
    const planned = plan([source('a', { x: { command: 'y' } })], { current });
    expect(outcomes(planned)).toEqual(['x renamed x-3']);
    expect(planned.servers[0]?.notes).toEqual(['another server has the name "x"']);
  });

  it('gives a server a name that a workspace may use', () => {
    const planned = plan([source('a', { 'io.github.owner/server': { command: 'y' } })]);
    expect(outcomes(planned)).toEqual(['io.github.owner/server added io.github.owner-server']);
    expect(planned.servers[0]?.cannotStart).toBeUndefined();
  });

  it('uses no number that another imported server has', () => {
    const planned = plan([
      source('a', { x: { command: '1' } }),
      source('b', { x: { command: '2' }, 'x-2': { command: '3' } }),
    ]);
    expect(outcomes(planned)).toEqual(['x added x', 'x renamed x-3', 'x-2 added x-2']);
    expect(Object.keys(result(planned).servers as object)).toEqual(['x', 'x-3', 'x-2']);
  });

  it('replaces the existing server on request', () => {
    const current = '{"servers": {"x": {"command": "x"}}}';
    const planned = plan([source('a', { x: { command: 'y' } })], { current, replace: new Set(['/h/a#mcpServers/x']) });
    expect(outcomes(planned)).toEqual(['x replaced x']);
    expect(result(planned)).toEqual({ servers: { x: { command: 'y' } } });
  });

  it('merges the same server from two sources', () => {
    const sources = [source('a', { x: github }), source('b', { x: github, other: github })];
    expect(outcomes(plan(sources))).toEqual(['x added x', 'x duplicate x', 'other duplicate x']);
  });

  it('treats two tokens as two servers', () => {
    const other = { ...github, env: { GITHUB_TOKEN: SECRET.replaceAll('f1', 'e2') } };
    const planned = plan([source('a', { x: github }), source('b', { x: other })]);
    expect(outcomes(planned)).toEqual(['x added x', 'x renamed x-2']);
    expect(planned.after).toContain('${input:x-2-github-token}');
  });

  it('treats a token in clear text and a variable with its value as one server', () => {
    const byName = { command: 'github', env: { GITHUB_TOKEN: '${env:GITHUB_TOKEN}' } };
    const planned = plan([source('a', { x: github }), source('b', { x: byName })], {
      env: { ...env, GITHUB_TOKEN: SECRET },
    });
    expect(outcomes(planned)).toEqual(['x added x', 'x duplicate x']);
  });

  it('skips Waygate itself', () => {
    const entries = {
      a: { command: 'npx', args: ['-y', 'waygate', 'serve', '--workspace', '/w'] },
      b: { command: '/usr/bin/node', args: ['/opt/waygate/dist/waygate.cjs', 'serve'] },
      c: { command: 'npx', args: ['-y', 'waygate@0.1.0', 'serve'] },
      waygate: { command: 'something-else', args: ['serve'] },
    };
    expect(outcomes(plan([source('a', entries)]))).toEqual(['a own a', 'b own b', 'c own c', 'waygate added waygate']);
  });

  it('imports only the chosen servers', () => {
    const planned = plan([source('a', { x: { command: 'x' }, y: { command: 'y' } })], {
      accept: (_, name) => name === 'y',
    });
    expect(outcomes(planned)).toEqual(['y added y']);
  });
});

describe('importing twice', () => {
  it('changes nothing the second time, although the secrets have become references', () => {
    const sources = [
      source('a', { github, db: { command: 'db', args: ['pg://u:fixture-1@h'] } }),
      source('v', { web: { url: 'https://w', headers: { Authorization: 'Bearer ${input:t}' } } }, [{ id: 't' }]),
    ];
    const first = plan(sources);
    const second = plan(sources, { current: first.after });
    expect(outcomes(second)).toEqual(['github present github', 'db present db', 'web present web']);
    expect(second.changed).toBe(false);
    // A shell that has the token now, and a shell that no longer has it.
    const withVariable = { ...env, GITHUB_TOKEN: SECRET };
    expect(plan(sources, { current: first.after, env: withVariable }).changed).toBe(false);
    expect(plan(sources, { current: plan(sources, { env: withVariable }).after }).changed).toBe(false);
  });
});

describe('inputs', () => {
  const asking = (id: string) => ({ command: 'c', args: [`\${input:${id}}`] });

  it('are imported completely with the servers that refer to them', () => {
    const pick = { type: 'pickString', id: 'region', options: ['eu', 'us'], default: 'eu' };
    const planned = plan([source('v', { x: asking('region') }, [pick, { id: 'unused' }])]);
    expect(result(planned).inputs).toEqual([pick]);
  });

  it('become two if one id has two meanings', () => {
    const one = { type: 'promptString', id: 't', description: 'one' };
    const two = { type: 'promptString', id: 't', description: 'two' };
    const planned = plan([
      source('v', { x: asking('t') }, [one]),
      source('w', { y: { ...asking('t'), cwd: '/' } }, [two]),
    ]);
    expect(result(planned)).toMatchObject({
      servers: { x: { args: ['${input:t}'] }, y: { args: ['${input:t-2}'] } },
      inputs: [one, { ...two, id: 't-2' }],
    });
  });

  it('are not added again if the file has them', () => {
    const known = { type: 'promptString', id: 't' };
    const current = JSON.stringify({ servers: {}, inputs: [known] });
    expect(result(plan([source('v', { x: asking('t') }, [known])], { current })).inputs).toEqual([known]);
  });

  it('without a definition are asked for as secrets, with a note', () => {
    const planned = plan([source('v', { x: asking('t') }, [])]);
    expect(result(planned).inputs).toEqual([expect.objectContaining({ id: 't', password: true })]);
    expect(planned.servers[0]?.notes).toEqual([expect.stringContaining('"t"')]);
  });

  it('for a secret never answer another question', () => {
    const mine = { type: 'promptString', id: 'x-token', description: 'mine' };
    const planned = plan([
      source('v', { y: asking('x-token') }, [mine]),
      source('a', { x: { command: 'x', env: { TOKEN: 'fixture-1' } } }),
    ]);
    expect(result(planned)).toMatchObject({ servers: { x: { env: { TOKEN: '${input:x-token-2}' } } } });
    expect(planned.servers[1]?.references).toMatchObject([{ where: 'env.TOKEN', reference: '${input:x-token-2}' }]);
  });
});

describe('report of an import', () => {
  it('gives the loader’s reason why Waygate cannot start a server', () => {
    const planned = plan([
      source('a', {
        ok: { command: 'x' },
        unset: { command: '${env:NOT_SET}' },
        fileless: { command: 'x', envFile: '/none/.env' },
      }),
    ]);
    expect(planned.servers.map(({ cannotStart }) => cannotStart)).toEqual([
      undefined,
      expect.stringContaining('NOT_SET'),
      expect.stringContaining('/none/.env'),
    ]);
  });

  it('has no note on URLs and inputs that the loader accepts', () => {
    const { servers } = plan([source('a', { web: { url: 'https://w' }, github })]);
    expect(servers.map(({ cannotStart }) => cannotStart)).toEqual([undefined, undefined]);
  });

  it('contains no secret, neither imported nor existing', () => {
    const current = JSON.stringify({ servers: { old: { command: 'o', env: { TOKEN: 'fixture-standing' } } } });
    const planned = plan([source('a', { github })], { current });
    const { redact, before: _, after, ...reported } = planned;
    expect(JSON.stringify(reported.servers.map(({ source: __, ...rest }) => rest))).not.toContain(SECRET);
    expect(after).not.toContain(SECRET);
    expect(redact(`${after} ${SECRET}`)).not.toMatch(/fixture-standing|ghp_/);
  });

  it('lists servers that are reachable twice, and the entry to remove', () => {
    const planned = plan([source('a', { x: { command: 'x' }, off: { command: 'o', disabled: true } })]);
    const exposed = [...exposedTwice(planned)].map(([{ file }, servers]) => [file, servers.map(({ name }) => name)]);
    expect(exposed).toEqual([['/h/a', ['x']]]);
    expect(shownPath('/h/a', ['mcpServers', 'x'])).toBe('"mcpServers" → "x"');
    expect(shownPath('/h/a.toml', ['mcp_servers', 'a b'])).toBe('[mcp_servers."a b"]');
  });
});

describe('an existing file', () => {
  it('keeps its comments, its order and its byte order mark', () => {
    const current =
      '\ufeff{\n  // mine\n  "browse": { "topK": 5 }, // five\n  "servers": {\n    "a": { "command": "a" } // a\n  }\n}\n';
    const { after } = plan([source('a', { b: { command: 'b' } })], { current });
    expect(after).toBe(
      '\ufeff{\n  // mine\n  "browse": { "topK": 5 }, // five\n  "servers": {\n    "a": { "command": "a" }, // a\n    "b": {\n      "command": "b"\n    }\n  }\n}\n',
    );
  });

  it.each<[string, string, RegExp]>([
    ['no JSON', '{\n  "servers": {,\n', /^\/w\/\.vscode\/waygate\.json:2:15: .*nothing was written\.$/],
    ['no object', '[]', /waygate\.json:1:1: /],
    ['servers that are a list', '{"servers": []}', /waygate\.json:1:13: /],
    ['inputs that are no list', '{"inputs": {}}', /"inputs" must be a list/],
  ])('is refused if it is broken: %s', (_, current, message) => {
    const attempt = () => plan([source('a', { b: { command: 'b' } })], { current });
    expect(attempt).toThrow(ImportRefused);
    expect(attempt).toThrow(message);
  });

  it('is accepted with an unusable server', () => {
    const current = '{"servers": {"bad": {}}}';
    expect(result(plan([source('a', { b: { command: 'b' } })], { current }))).toEqual({
      servers: { bad: {}, b: { command: 'b' } },
    });
  });
});
