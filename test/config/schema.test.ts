import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { readCallSettings } from '../../src/worker/configuration/callSettings.ts';

interface Schema {
  description?: string;
  markdownDescription?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

const schema = JSON.parse(readFileSync('media/waygate.schema.json', 'utf8')) as {
  properties: Record<string, Schema>;
  definitions: { server: Schema & { properties: Record<string, Schema> } };
};

const problemsOf = (config: object): string[] =>
  parseConfig(JSON.stringify(config), '/w/.vscode/waygate.json', '/w', { HOME: '/h' }).problems.map(
    (one) => one.message,
  );

/** A value that the loader takes for each key of the schema. */
const VALUES: Record<string, unknown> = {
  $schema: 'x',
  servers: {},
  inputs: [{ id: 'key', type: 'promptString' }],
  browse: {},
  type: 'stdio',
  command: 'node',
  args: ['${workspaceFolder}'],
  env: { A: 'b', B: 1, C: true },
  cwd: '/w',
  envFile: '/dev/null',
  url: 'https://example.com/mcp',
  headers: { A: 'b' },
  auth: { clientId: 'us', clientSecret: '${secret:ours}', scopes: ['read'], issuer: 'https://login.example.com' },
  disabled: false,
  keepAlive: true,
  required: false,
  tools: { include: ['read_*'], exclude: ['*secret*'] },
  idleMinutes: 5,
  startup: { mode: 'strict', timeoutSeconds: 5, minHealthyServers: 2, failOnEmptyCatalog: true },
  liveRefresh: { enabled: false, debounceSeconds: 1, maxRefreshesPerMinute: 6 },
  topK: 5,
  cacheStable: true,
  learning: false,
  artifacts: {},
  tolerantArgs: true,
  policyPreset: 'safe',
  policy: {},
  retry: {},
  rateLimits: {},
  cache: {},
  schemaLimits: {},
  timeouts: {},
  replay: {},
  mode: 'passthrough',
  passthrough: { firewall: true },
  shownChars: 500,
  maskSecrets: 'always',
  maskOnDisk: true,
  ttlSeconds: 60,
  maxBytes: 1000,
  maxArtifacts: 10,
};

const filled = (properties: object): Record<string, unknown> =>
  Object.fromEntries(Object.keys(properties).map((key) => [key, VALUES[key]]));

describe('the schema that the editor completes by and the loader', () => {
  it('know the same keys', () => {
    const server = filled(schema.definitions.server.properties);
    const browse = filled(schema.properties.browse?.properties ?? {});
    const artifacts = filled(schema.properties.artifacts?.properties ?? {});
    // A server is a program or at an address, never both.
    const without = (...names: string[]) =>
      Object.fromEntries(Object.entries(server).filter(([name]) => !names.includes(name)));
    const program = without('url', 'headers', 'auth');
    const address = { ...without('command', 'args', 'env', 'envFile', 'cwd'), type: 'http' };
    const config = { ...filled(schema.properties), servers: { one: program, two: address }, browse, artifacts };
    expect(Object.values({ ...config, ...server, ...browse, ...artifacts })).not.toContain(undefined);
    expect(problemsOf(config)).toEqual([]);
  });

  it('know no others', () => {
    const unknown = /Unknown key "nope"; known are (.*)\./;
    const known = (problems: string[]): string[] => (unknown.exec(problems[0] ?? '')?.[1] ?? '').split(', ').sort();
    expect(known(problemsOf({ nope: 1 }))).toEqual(Object.keys(schema.properties).sort());
    expect(known(problemsOf({ servers: { a: { nope: 1 } } }))).toEqual(
      Object.keys(schema.definitions.server.properties).sort(),
    );
    const blocks: [object, Schema | undefined][] = [
      [{ browse: { nope: 1 } }, schema.properties.browse],
      [{ artifacts: { nope: 1 } }, schema.properties.artifacts],
      [{ startup: { nope: 1 } }, schema.properties.startup],
      [{ liveRefresh: { nope: 1 } }, schema.properties.liveRefresh],
      [{ inputs: [{ nope: 1 }] }, schema.properties.inputs?.items],
      [{ servers: { a: { command: 'x', tools: { nope: 1 } } } }, schema.definitions.server.properties.tools],
    ];
    for (const [config, block] of blocks) {
      expect(known(problemsOf(config))).toEqual(Object.keys(block?.properties ?? {}).sort());
    }
  });

  const CALLS: [string, object, (blocks: Record<string, Schema>) => Schema | undefined][] = [
    ['policy', { policy: { zzzzzzzz: 1 } }, ({ policy }) => policy],
    [
      'a rule of a policy',
      { policy: { rules: [{ action: 'deny', zzzzzzzz: 1 }] } },
      ({ policy }) => policy?.properties?.rules?.items,
    ],
    ['retry', { retry: { zzzzzzzz: 1 } }, ({ retry }) => retry],
    ['rateLimits', { rateLimits: { zzzzzzzz: 1 } }, ({ rateLimits }) => rateLimits],
    [
      'a limit',
      { rateLimits: { perTool: { 'a:b': { zzzzzzzz: 1 } } } },
      ({ rateLimits }) => rateLimits?.properties?.perTool?.additionalProperties as Schema,
    ],
    ['cache', { cache: { zzzzzzzz: 1 } }, ({ cache }) => cache],
    ['schemaLimits', { schemaLimits: { zzzzzzzz: 1 } }, ({ schemaLimits }) => schemaLimits],
    ['timeouts', { timeouts: { zzzzzzzz: 1 } }, ({ timeouts }) => timeouts],
    ['replay', { replay: { zzzzzzzz: 1 } }, ({ replay }) => replay],
  ];
  it.each(CALLS)('know the same keys of %s, in the words of the file', (_, config, of) => {
    const { calls } = parseConfig(JSON.stringify(config), '/w/.vscode/waygate.json', '/w', {});
    const told = /it takes (.*)\.$/.exec(readCallSettings(calls).problem?.message ?? '')?.[1] ?? '';
    expect(told.split(', ').sort()).toEqual(Object.keys(of(schema.properties)?.properties ?? {}).sort());
  });

  it('say what every key is for, where a pointer rests on it', () => {
    const silent: string[] = [];
    const visit = (node: Schema, path: string): void => {
      for (const [key, inner] of Object.entries(node.properties ?? {})) {
        if (!inner.description && !inner.markdownDescription) silent.push(`${path}/${key}`);
        visit(inner, `${path}/${key}`);
      }
      if (node.items) visit(node.items, `${path}/[]`);
      if (typeof node.additionalProperties === 'object') visit(node.additionalProperties, `${path}/*`);
    };
    visit(schema, '');
    visit(schema.definitions.server, 'server');
    expect(silent).toEqual([]);
  });
});
