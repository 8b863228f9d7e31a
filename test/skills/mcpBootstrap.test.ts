import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFiles, PackageManager } from '@vscode/vsce';
import { describe, expect, it } from 'vitest';
import { skillParts } from '../../scripts/lib/skill.mjs';
import { SKILL_NAME } from '../../src/config/state/skillInstall.ts';
import type { FaultClass } from '../../src/errors/fault.ts';
import { FAULT_CODES } from '../../src/errors/faultCodes.ts';
import type { ReplayContract } from '../../src/replay/replay.ts';
import { RESTART_LIMITS } from '../../src/supervision/restartPolicy.ts';

const FOLDER = join('skills', SKILL_NAME);
const FILES = [
  'SKILL.md',
  'references/bootstrap-fresh.md',
  'references/bootstrap-retrofit.md',
  'references/checklist.md',
];
const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const headingsOf = (file: string): string[] =>
  [...read(file).matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading as string);

const PATH = /^(?:src|test|docs|scripts)\/[\w./-]+$/;
const NAME = /^[A-Za-z]\w*$/;
/** Words of protocols and of Node, which no file of the repository exports. */
const FOREIGN = new Set(['initialize', 'ping', 'readOnlyHint', 'idempotentHint', 'isError', 'topK', 'top_k', 'tsc']);

/** Line `- \`path\`: \`Name\`, words \`Other\`.`: the file exports these names. */
interface Part {
  file: string;
  path: string;
  names: string[];
}

const codeOf = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code as string);
const partsOf = (file: string): Part[] =>
  [...read(file).matchAll(/^- `([^`]+)`: (.+)$/gm)]
    .filter(([, path]) => PATH.test(path as string))
    .map(([, path, rest]) => ({
      file,
      path: path as string,
      names: codeOf(rest as string).filter((code) => NAME.test(code)),
    }));
const parts = FILES.flatMap(partsOf);

/** Includes members of types and objects: `outcome_unknown`, `retire`, `uptime_ms`. */
function mentions(path: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(readFileSync(path, 'utf8'));
}

function exportsName(path: string, name: string): boolean {
  return new RegExp(`^export (?:async )?(?:function\\*?|class|const|interface|type) ${name}\\b`, 'm').test(
    readFileSync(path, 'utf8'),
  );
}

describe('skill mcp-bootstrap', () => {
  it('consists of these four files, and the first links to the others', () => {
    const there = globSync('**/*', { cwd: FOLDER, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(there.map(({ name }) => name).sort()).toEqual(FILES.map((file) => file.split('/').at(-1)).sort());
    for (const file of FILES) {
      for (const [, target] of read(file).matchAll(/\]\(([^)]+)\)/g)) {
        expect(existsSync(join(FOLDER, dirname(file), target as string)), `${file}: ${target}`).toBe(true);
      }
    }
    for (const file of FILES.slice(1)) expect(read('SKILL.md')).toContain(`](${file})`);
  });

  it('has the front matter by which agents find it (name of its folder, description of at most 1,024 characters)', () => {
    const [, matter] = /^---\n([\s\S]*?)\n---\n/.exec(read('SKILL.md')) ?? [];
    const fields = new Map(
      (matter ?? '').split('\n').map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]),
    );
    expect(fields.get('name')).toBe(SKILL_NAME);
    const description = fields.get('description') ?? '';
    expect(description).toMatch(/\bUse when\b/);
    expect(description.length).toBeLessThanOrEqual(1_024);
    // Plain YAML: a colon followed by a blank would end the text.
    expect(description).not.toMatch(/: |^["'[{]| #/);
    expect(read('SKILL.md').split('\n').length).toBeLessThan(100);
  });

  it('has the required sections', () => {
    expect(headingsOf('SKILL.md')).toEqual(['Classify first', 'Default posture', 'Guardrails']);
    const fresh = [
      /host.*worker/i,
      /replay/i,
      /fault/i,
      /porcelain/i,
      /normalise/i,
      /health and telemetry/i,
      /start.*end/i,
      /test/i,
    ];
    const retrofit = [/session/i, /contract/i, /porcelain/i, /health, telemetry/i, /then: replacement/i, /warnings/i];
    for (const [file, expected] of [
      ['fresh', fresh],
      ['retrofit', retrofit],
    ] as const) {
      const headings = headingsOf(`references/bootstrap-${file}.md`);
      expect(headings).toHaveLength(expected.length);
      for (const [at, pattern] of expected.entries()) expect(headings[at]).toMatch(pattern);
    }
    const questions = [...read('references/checklist.md').matchAll(/^(\d+)\. .+\?$/gm)].map(([, number]) =>
      Number(number),
    );
    expect(questions).toEqual(questions.map((_, at) => at + 1));
    expect(questions.length).toBeGreaterThanOrEqual(30);
  });

  it('names files that exist', () => {
    const named = FILES.flatMap((file) => codeOf(read(file)).filter((code) => PATH.test(code)));
    expect(new Set(named).size).toBeGreaterThan(30);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('names exports of these files', () => {
    expect(parts.length).toBeGreaterThan(40);
    const untrue = parts.flatMap(({ file, path, names }) =>
      names
        .filter((name) => !exportsName(path, name) && !mentions(path, name))
        .map((name) => `${file}: ${name} in ${path}`),
    );
    expect(untrue).toEqual([]);
    // The first name after a file is an import.
    const unexported = parts.filter(({ path, names: [first] }) => first === undefined || !exportsName(path, first));
    expect(unexported).toEqual([]);
  });

  it('uses no code word that the named files do not contain', () => {
    const files = [...new Set(parts.map(({ path }) => path))];
    const words = new Set(FILES.flatMap((file) => codeOf(read(file)).filter((code) => NAME.test(code))));
    for (const word of FOREIGN) words.delete(word);
    expect(words.size).toBeGreaterThan(60);
    expect([...words].filter((word) => !files.some((file) => mentions(file, word)))).toEqual([]);
  });

  it('agrees with the code on contracts, classes and delays', () => {
    const contracts = { convergent: 0, probe_required: 0, never_replay: 0 } satisfies Record<ReplayContract, 0>;
    for (const contract of Object.keys(contracts)) expect(read('SKILL.md')).toContain(`\`${contract}\``);
    const fresh = read('references/bootstrap-fresh.md');
    const classes = new Set<FaultClass>(Object.values(FAULT_CODES).map((traits) => traits.class));
    const [, listed] = /Ten classes are enough: ([^.]+)\./.exec(fresh) ?? [];
    expect(new Set(codeOf(listed ?? ''))).toEqual(classes);
    expect(RESTART_LIMITS).toMatchObject({
      baseDelayMs: 100,
      maxDelayMs: 30_000,
      crashes: 5,
      windowMs: 180_000,
      probeIntervalMs: 60_000,
    });
    expect(fresh).toContain(
      'between 0 and 100, 200, 400 … ms, at most 30 s. Five ends in three minutes are a crash loop: from then on one start a minute.',
    );
  });

  it('is part of the extension and of the npm package, with its parts', async () => {
    const packed = await listFiles({ cwd: process.cwd(), packageManager: PackageManager.None });
    const parts = [...skillParts('.'), 'LICENSE'].map((file) => `parts/${file}`);
    for (const file of [...FILES, ...parts]) expect(packed).toContain(`dist/skills/${SKILL_NAME}/${file}`);
    expect(packed.filter((file) => file.startsWith('skills/'))).toEqual([]);
    expect(readFileSync('.npmignore', 'utf8').split('\n')).toEqual(expect.arrayContaining(['/*', '!/dist/']));
  });
});
