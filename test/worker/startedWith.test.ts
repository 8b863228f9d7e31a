import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { startedWith } from '../../src/worker/gateway/gatewayServers.ts';

const reference = (name: string): string => `$\{${name}}`;
const INPUTS = [{ id: 'key', type: 'promptString', description: '', default: 'a' }];
const ENTRY = { command: 'run', args: ['a', 'b'], env: { A: '1', B: reference('input:key') }, cwd: '/tmp' };

function markOf(entry: object, inputs: object[] = INPUTS, origin: 'user' | 'workspace' = 'user'): string {
  const text = JSON.stringify({ inputs, servers: { one: entry } });
  const { servers, problems } = parseConfig(text, '/w/waygate.json', '/w', {}, origin);
  expect(problems).toEqual([]);
  const [server] = servers;
  if (!server) throw new Error('There is no server.');
  return startedWith(server);
}

describe('an edit of an entry', () => {
  it.each<[string, object]>([
    ['its position', { ...ENTRY }],
    ['the order of variables', { ...ENTRY, env: { B: reference('input:key'), A: '1' } }],
    ['a tool filter', { ...ENTRY, tools: { exclude: ['x'] } }],
    ['`required`', { ...ENTRY, required: false }],
    ['`keepAlive`', { ...ENTRY, keepAlive: true }],
    ['the time limit of a start', { ...ENTRY, startTimeoutSeconds: 90 }],
  ])('of %s restarts nothing', (_, entry) => {
    expect(markOf(entry)).toBe(markOf(ENTRY));
  });

  it.each<[string, object]>([
    ['the command', { ...ENTRY, command: 'walk' }],
    ['the order of arguments', { ...ENTRY, args: ['b', 'a'] }],
    ['a variable', { ...ENTRY, env: { ...ENTRY.env, A: '2' } }],
    ['a reference', { ...ENTRY, env: { ...ENTRY.env, B: reference('secret:key') } }],
    ['the folder', { ...ENTRY, cwd: '/' }],
    ['the transport', { url: 'https://example.com/mcp' }],
  ])('of %s restarts the server', (_, entry) => {
    expect(markOf(entry)).not.toBe(markOf(ENTRY));
  });

  it.each<[string, object[]]>([
    ['the words of an input', [{ ...INPUTS[0], description: 'Another question' }]],
    ['an input with a similar name', [...INPUTS, { id: 'ke', type: 'promptString', description: '', default: 'b' }]],
  ])('of %s restarts nothing', (_, inputs) => {
    expect(markOf(ENTRY, inputs)).toBe(markOf(ENTRY));
  });

  it('of an input restarts the servers that refer to it, and of the file the ones that move', () => {
    const other = { id: 'other', type: 'promptString', description: '', default: 'x' };
    expect(markOf(ENTRY, [...INPUTS, other])).toBe(markOf(ENTRY));
    expect(markOf(ENTRY, [{ ...INPUTS[0], default: 'b' }])).not.toBe(markOf(ENTRY));
    expect(markOf(ENTRY, INPUTS, 'workspace')).not.toBe(markOf(ENTRY));
  });
});
