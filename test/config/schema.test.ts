import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/loadConfig.ts';

const schema = JSON.parse(readFileSync('media/waygate.schema.json', 'utf8')) as {
  properties: Record<string, { properties?: object }>;
  definitions: { server: { properties: object } };
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
  env: { A: 'b' },
  cwd: '/w',
  envFile: '/dev/null',
  url: 'https://example.com/mcp',
  headers: { A: 'b' },
  auth: { clientId: 'us', clientSecret: '${secret:ours}', scopes: ['read'], issuer: 'https://login.example.com' },
  disabled: false,
  keepAlive: true,
  idleMinutes: 5,
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
    expect(known(problemsOf({ browse: { nope: 1 } }))).toEqual(
      Object.keys(schema.properties.browse?.properties ?? {}).sort(),
    );
  });
});
