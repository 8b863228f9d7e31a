import { expect, it } from 'vitest';
import { failClosed } from '../../src/config/configLayers.ts';
import { keptText } from '../../src/config/keptText.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';

const FILE = '/ws/.vscode/waygate.json';
const read = (text: string) => parseConfig(text, FILE, '/ws', {});

it('the text for the next worker has the rules as written and no secret', () => {
  const secrets = [
    'Zq7-plain-4411',
    'behind-flag-1313',
    'in-a-url-9090',
    'typed-by-hand',
    'in-a-comment-77',
    'broken-5151',
  ];
  const loaded = read(`{
    // PASSWORD=in-a-comment-77
    "inputs": [{ "id": "a", "type": "promptString", "description": "a", "password": true, "default": "typed-by-hand" }],
    "servers": {
      "one": { "command": "x", "args": ["--password", "behind-flag-1313", "--zone", "eu"],
               "env": { "DB_PW": "Z\\u00717-plain-4411", "KEPT": "\${secret:db}" } },
      "two": { "url": "https://x.test/mcp?api_key=in-a-url-9090" },
      "broken": { "command": 7, "env": { "NOTE": "broken-5151" } }
    },
    "policy": { "default": "deny", "rules": [{ "action": "allow", "tool": "get_token" /* PASSWORD=in-a-comment-77 */ }] },
    "zzz": "in-a-comment-77",
  }`);
  const text = keptText(loaded);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  const kept = read(text);
  expect(kept.blocks.get('policy')).toEqual(loaded.blocks.get('policy'));
  expect(kept.servers.map(({ name }) => name)).toEqual(['one', 'two']);
  expect(kept.servers[0]).toMatchObject({ args: ['--password', '[REDACTED-SECRET]', '--zone', 'eu'] });
  expect(text).toContain('${secret:db}');
});

it.each([
  ['a wrong rule', '{ "policy": { "rules": "none" }, "servers": {} }'],
  ['a rule given twice', '{ "policy": { "default": "deny" }, "policy": { "default": "allow" }, "servers": {} }'],
  ['a misspelled key', '{ "polcy": { "default": "deny" }, "servers": {} }'],
  ['a misplaced key', '{ "artifacts": { "policy": { "default": "deny" } }, "servers": {} }'],
])('the text for the next worker keeps %s unreadable', (_what, text) => {
  const loaded = failClosed(read(text));
  expect(loaded.unreadable.size).toBeGreaterThan(0);
  const kept = failClosed(read(keptText(loaded)));
  expect([...kept.unreadable.keys()].sort()).toEqual([...loaded.unreadable.keys()].sort());
  const action = (of: typeof kept) => (of.blocks.get('policy')?.value as { default?: string } | undefined)?.default;
  expect(action(kept)).toBe(action(loaded));
});
