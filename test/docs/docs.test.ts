import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { configurationKeys, faultTable, ruleTable, withGenerated } from '../../scripts/lib/generatedDocs.mjs';
import { REPAIR_RULES } from '../../src/calls/validation/argRepairs.ts';
import { parseCommandLine } from '../../src/cli/commandLine.ts';
import { overview } from '../../src/cli/help.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { FAULT_CODES } from '../../src/errors/faultCodes.ts';
import { COMMANDS, EXTENSION_TITLE } from '../../src/extension/contributions.ts';
import { ALL_TOOLS, gatewayTool } from '../../src/modes/shared/gatewayTools.ts';
import type { ReplayContract } from '../../src/replay/replay.ts';
import { BREAKER_LIMITS } from '../../src/supervision/circuitBreaker.ts';
import { RESTART_LIMITS } from '../../src/supervision/restartPolicy.ts';
import { NORMALISATION_RULES } from '../../src/text/normalise.ts';

const DOCUMENTS = ['README.md', ...globSync('docs/**/*.md').sort()];
const read = (file: string): string => readFileSync(file, 'utf8');
const codeOf = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code as string);
const schema = JSON.parse(read('media/waygate.schema.json'));
const configuration = read('docs/configuration.md');
const reliability = read('docs/reliability.md');

/** Returns the commands that the error for a missing command lists. */
function commandsOf(): Set<string> {
  try {
    parseCommandLine(['?']);
  } catch (error) {
    const [, list = ''] = /there are (.+)\.$/.exec((error as Error).message) ?? [];
    return new Set(list.split(', ').filter((name) => !name.startsWith('--')));
  }
  return new Set();
}

describe('documents', () => {
  it.each(DOCUMENTS)('%s links only to files that exist', (file) => {
    const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => !existsSync(join(dirname(file), link)))).toEqual([]);
    const paths = codeOf(read(file)).filter((code) =>
      /^(?:src|test|docs|media|scripts|skills|webview)\/[\w./-]+$/.test(code),
    );
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each(DOCUMENTS)('%s names only scripts and editor commands that exist', (file) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...read(file).matchAll(/\bnpm run ([\w-]+(?::[\w-]+)*)/g)].map(([, name]) => name as string);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    const titles = Object.values(COMMANDS).map(({ title }) => `${EXTENSION_TITLE}: ${title}`);
    const commands = [...read(file).matchAll(/\*(Waygate: [^*]+)\*/g)].map(([, title]) => title as string);
    expect(commands.filter((title) => !titles.includes(title))).toEqual([]);
  });

  it('name every command of the command line, and no other', () => {
    const known = commandsOf();
    const [, table = ''] = read('README.md').split('\n## Commands\n');
    const listed = new Set([...table.matchAll(/`waygate ([a-z][\w-]*)/g)].map(([, name]) => name as string));
    expect(known.size).toBeGreaterThan(10);
    expect(listed).toEqual(known);
    for (const name of known) expect(overview()).toMatch(new RegExp(`waygate ${name}\\b`));
    for (const file of DOCUMENTS) {
      const used = codeOf(read(file)).flatMap((code) => /^waygate ([a-z][\w-]*)/.exec(code)?.[1] ?? []);
      expect(
        used.filter((name) => !known.has(name)),
        file,
      ).toEqual([]);
    }
  });

  it('have examples of waygate.json that the schema and the loader accept', () => {
    const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true });
    ajv.addVocabulary(['markdownDescription', 'defaultSnippets']);
    const valid = ajv.compile(schema as object);
    const examples = DOCUMENTS.flatMap((file) =>
      [...read(file).matchAll(/^```jsonc\n([\s\S]*?)^```$/gm)].map(([, text]) => text as string),
    );
    expect(examples.length).toBeGreaterThan(2);
    for (const text of examples) {
      expect(valid(parse(text)), JSON.stringify(valid.errors)).toBe(true);
      // The file of variables does not exist here.
      const { problems } = parseConfig(text.replace(/, "envFile": "[^"]*"/, ''), '/w/.vscode/waygate.json', '/w', {
        HOME: '/h',
        LOG_LEVEL: 'info',
      });
      expect(problems).toEqual([]);
    }
  });
});

describe('docs/configuration.md', () => {
  it('is generated from the schema (npm run docs writes it)', () => {
    expect(configuration).toBe(withGenerated(configuration, configurationKeys(schema)));
  });

  it('describes every key of the schema', () => {
    const names = (node: unknown): string[] => {
      if (typeof node !== 'object' || node === null) return [];
      const own = 'properties' in node && typeof node.properties === 'object' ? Object.keys(node.properties ?? {}) : [];
      return [
        ...own,
        ...Object.entries(node).flatMap(([key, value]) => (key === 'defaultSnippets' ? [] : names(value))),
      ];
    };
    const rows = [...configuration.matchAll(/^\| `([^`]+)` \| [^|]+ \|[^|]*\| (.+) \|$/gm)];
    const listed = new Set(rows.flatMap(([, key]) => (key as string).split('.').map((part) => part.replace('[]', ''))));
    const known = [...new Set(names(schema))].filter((name) => !(name in schema.properties));
    expect(known.length).toBeGreaterThan(50);
    expect(known.filter((name) => !listed.has(name))).toEqual([]);
    const headings = new Set([...configuration.matchAll(/^### `(.+)`$/gm)].map(([, name]) => name));
    const blocks = Object.keys(schema.properties);
    expect(blocks.filter((name) => !headings.has(name) && !listed.has(name))).toEqual([]);
  });

  it('differs if a key is new, removed, or described differently', () => {
    const changed = structuredClone(schema);
    changed.properties.idleMinutes.default = 11;
    expect(configurationKeys(changed)).not.toBe(configurationKeys(schema));
    changed.properties = { ...schema.properties, mood: { enum: ['a|b'], markdownDescription: 'x | y' } };
    expect(configurationKeys(changed)).toContain('| `mood` | `"a|b"` |  | x \\| y |');
    expect(() => withGenerated('no marks', 'x')).toThrow('lacks its marks');
  });
});

describe('docs/answers.md', () => {
  const answers = read('docs/answers.md');

  it('has every correction rule (npm run docs writes it)', () => {
    expect(answers).toBe(withGenerated(answers, ruleTable(NORMALISATION_RULES, REPAIR_RULES)));
  });

  it('has only rules that a test names', () => {
    const tests = globSync('test/{cli,calls,text,modes}/**/*.test.ts').map(read).join('\n');
    const rules = Object.keys({ ...NORMALISATION_RULES, ...REPAIR_RULES });
    expect(rules.filter((rule) => !tests.includes(rule))).toEqual([]);
  });
});

describe('docs/reliability.md', () => {
  it('has every fault of the table in the code (npm run docs writes it)', () => {
    expect(reliability).toBe(withGenerated(reliability, faultTable(FAULT_CODES)));
    for (const [code, { class: name, error }] of Object.entries(FAULT_CODES)) {
      expect(reliability).toMatch(new RegExp(`^\\| \`${name}/${code}\` \\| .+ \\| \`${error}\` \\| (yes|no) \\|`, 'm'));
    }
  });

  it('lists Waygate’s own reads that may be repeated', () => {
    const [, list] = /^- `convergent`: .* are: lists, (.+)\.$/m.exec(reliability) ?? [];
    const convergent = ALL_TOOLS.map(({ name }) => name).filter((name) => gatewayTool(name)?.contract === 'convergent');
    expect(codeOf(list ?? '').sort()).toEqual(convergent.sort());
    const contracts = { convergent: 0, probe_required: 0, never_replay: 0 } satisfies Record<ReplayContract, 0>;
    for (const contract of Object.keys(contracts)) expect(reliability).toContain(`- \`${contract}\`: `);
  });

  it('has the figures of the code', () => {
    expect(RESTART_LIMITS).toEqual({
      baseDelayMs: 100,
      maxDelayMs: 30_000,
      crashes: 5,
      windowMs: 180_000,
      probeIntervalMs: 60_000,
      stableMs: 60_000,
    });
    expect(reliability).toContain(
      'wait up to 100, 200, 400 … ms with full jitter, at most 30 s. Five ends within three minutes are a crash loop: from then on one start a minute, until one has run for a minute.',
    );
    expect(BREAKER_LIMITS).toEqual({ failures: 5, openMs: 30_000, maxOpenMs: 300_000 });
    expect(reliability).toContain('five calls in a row a pause of 30 s, then twice as long each time, at most 5 min');
    const figures: readonly [room: string, code: string | RegExp, words: string][] = [
      ['src/host', 'const SILENCE_MS = 5_000;', 'nothing came for 5 s'],
      ['src/host', 'const PING_MS = 10_000;', 'waits 10 s for it'],
      ['src/host', 'const RETRY_AFTER_MS = 10 * 60_000;', 'it is tried again after 10 min'],
      ['src/host', 'const WORKER_WAIT_MS = 25_000;', 'after at most 25 s'],
      ['src/host', /\bmax_?replays(?: =|:) 2\b/i, 'repeats a read at most twice'],
      ['src/worker', 'const DRAIN_MS = 10_000;', 'takes longer than 10 s'],
      ['src/config', 'default: 120, doc:', '120 s unless set'],
      ['src/calls', 'LONGEST_CALL_MS = 600_000;', 'to 10 min at most'],
      ['src/mcp', 'const MAX_PAGES = 64;', '64 pages'],
      ['src/mcp', 'const MAX_ITEMS = 10_000;', '10,000 items'],
      ['src/link', 'MAX_FRAME_BYTES = 16 * 1024 * 1024;', 'lines above 16 MiB'],
      ['src/upstream', 'const START_TIMEOUT_MS = 60_000;', 'A first start has 60 s'],
      ['src/config', "default: 60,\n    doc: 'Time limit of the first start", 'A first start has 60 s'],
      ['src/upstream', 'const AGAIN_MS = 15_000;', 'a later one 15 s'],
      ['src/upstream', 'const TIMES_ITS_SLOWEST = 4;', 'four times as long as the slowest start'],
      ['src/upstream', 'const EOF_GRACE_MS = 500;', 'TERM after half a second'],
      ['src/upstream', 'const TERM_GRACE_MS = 1_500;', 'KILL after a second and a half more'],
      ['src/telemetry', 'const MAX_FILES = 4;', 'four files of 2 MiB'],
    ];
    for (const [room, code, words] of figures) {
      const known = globSync(`${room}/**/*.ts`).some((file) =>
        typeof code === 'string' ? read(file).includes(code) : code.test(read(file)),
      );
      expect(known, `${room} has no "${code}" any more: see "${words}" in docs/reliability.md`).toBe(true);
      expect(reliability).toContain(words);
    }
  });

  it('proves each of the twelve points by existing tests', () => {
    const [, section = ''] = reliability.split('\n## Proof\n');
    const rows = [...section.matchAll(/^\| (\d+) \| (.+?) \| (.+) \|$/gm)].map(([, n, , tests]) => [n, tests] as const);
    expect(rows.map(([n]) => n)).toEqual(Array.from({ length: 12 }, (_, i) => `${i + 1}`));
    for (const [n, tests = ''] of rows) {
      const parts = [...tests.matchAll(/`(test\/[\w/.]+)`: (.+?)(?=; `|$)/g)];
      expect(parts.length, n).toBeGreaterThan(0);
      for (const [, file = '', names = ''] of parts) {
        for (const [, name = ''] of names.matchAll(/\*(.+?)\*/g)) expect(read(file), `${n}: ${file}`).toContain(name);
      }
    }
  });
});

it.each(['README.md', 'docs/security.md', 'docs/editor/activity.md'])(
  '%s says that arguments and answers of calls are in no file',
  (file) => expect(read(file)).toMatch(/[Aa]rguments[^#]*answers[^#]* in no file/),
);
