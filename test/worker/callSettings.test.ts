import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { readCallSettings } from '../../src/worker/configuration/callSettings.ts';

const read = (text: string) => readCallSettings(parseConfig(text, '/w/.vscode/waygate.json', '/w', {}).calls);

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  enum?: unknown[];
  type?: string | string[];
}

describe('the blocks about calls', () => {
  it('are read by the names of the file', () => {
    const { settings, problem } = read(`{
      "tolerantArgs": true,
      "retry": { "maxAttempts": 3 },
      "rateLimits": { "perTool": { "git:clone_all": { "maxCallsPerMinute": 2 } } },
      "timeouts": { "servers": { "slowServer": 600 }, "tools": { "readAll*": 5 } },
      "policy": { "rules": [{ "action": "deny", "metaTool": "tool_execute", "tool": "dropTable" }] }
    }`);
    expect(problem).toBeUndefined();
    expect(settings).toMatchObject({
      tolerantArgs: true,
      retry: { max_attempts: 3 },
      deadlines: { servers: { slowServer: 600_000 }, tools: [['readAll*', 5_000]] },
    });
    expect(JSON.stringify(settings?.rateLimits)).toContain('git:clone_all');
    expect(settings?.policy?.rules[0]).toMatchObject({ action: 'deny', tool: 'dropTable' });
  });

  it('that are wrong are told in the file’s own words, with their place', () => {
    expect(read('{\n  "retry": {\n    "maxAttempts": 0 } }').problem).toEqual({
      severity: 'error',
      message: expect.stringMatching(/^"retry\.maxAttempts" must be /),
      location: { file: '/w/.vscode/waygate.json', line: 3, column: expect.any(Number) },
    });
    expect(read('{ "retry": { "maxAtempts": 2 } }').problem?.message).toBe(
      '"retry" has no key "max_atempts"; did you mean "maxAttempts"?',
    );
    expect(read('{ "policyPreset": "wild" }').problem?.message).toContain('"policyPreset" must be');
  });

  it('take every key that the schema of the file knows', () => {
    const schema = JSON.parse(readFileSync('media/waygate.schema.json', 'utf8')) as Schema;
    const { servers: _s, browse: _b, artifacts: _a, $schema: _, ...blocks } = schema.properties ?? {};
    const config = Object.fromEntries(Object.entries(blocks).map(([name, block]) => [name, sample(block)]));
    expect(read(JSON.stringify(config)).problem).toBeUndefined();
  });
});

/** A value that a schema allows, with every key it knows. */
function sample(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.properties) return Object.fromEntries(Object.entries(schema.properties).map(([k, v]) => [k, sample(v)]));
  if (typeof schema.additionalProperties === 'object') return { 'a:b': sample(schema.additionalProperties) };
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'array') return schema.items?.type === 'string' ? [] : [sample(schema.items ?? {})];
  if (type === 'object') return {};
  return type === 'boolean' ? true : type === 'string' ? 'x' : 1;
}
