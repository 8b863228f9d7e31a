import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';

const read = (file: string): string => readFileSync(file, 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const inClone = (path: string): string => path.replace(/^\$\{workspaceFolder\}\//, '');

interface Launch {
  name: string;
  preLaunchTask?: string;
  program?: string;
  runtimeExecutable?: string;
}
interface Task {
  label: string;
  script: string;
  problemMatcher?: { background?: { beginsPattern: string; endsPattern: string }; pattern?: { regexp: string } };
}

describe('files for VS Code', () => {
  const { configurations, compounds } = parse(read('.vscode/launch.json')) as {
    configurations: Launch[];
    compounds: { configurations: string[] }[];
  };
  const { tasks } = parse(read('.vscode/tasks.json')) as { tasks: Task[] };

  it('launch programs that exist or are built', () => {
    const bundles = read('esbuild.mjs');
    const missing = configurations
      .flatMap(({ program, runtimeExecutable }) => [program, runtimeExecutable])
      .filter((path) => path !== undefined)
      .map(inClone)
      .filter((path) => !existsSync(path) && !bundles.includes(`'${path}'`));
    expect(missing).toEqual([]);
  });

  it('name configurations, tasks and scripts that exist', () => {
    const names = configurations.map(({ name }) => name);
    expect(compounds.flatMap((compound) => compound.configurations).filter((name) => !names.includes(name))).toEqual(
      [],
    );
    const labels = tasks.map(({ label }) => label);
    const before = configurations.flatMap(({ preLaunchTask }) => preLaunchTask ?? []);
    expect(before.filter((label) => !labels.includes(label))).toEqual([]);
    expect(tasks.filter(({ script }) => !(script in scripts))).toEqual([]);
  });

  it('understand the output of the watch build', () => {
    const matcher = tasks.find(({ label }) => label === 'dev')?.problemMatcher;
    const printed = [...read('scripts/dev.mjs').matchAll(/console\.log\('([^']+)'\)/g)].map(([, line]) => line);
    for (const pattern of [matcher?.background?.beginsPattern, matcher?.background?.endsPattern]) {
      expect(printed.filter((line) => new RegExp(String(pattern)).test(String(line)))).toHaveLength(1);
    }
    const problem = new RegExp(String(matcher?.pattern?.regexp));
    const line = '  dist/worker.cjs was not built: src/lib/clock.ts:3:7: Expected ";" but found "="';
    expect(problem.exec(line)?.slice(1)).toEqual(['src/lib/clock.ts', '3', '7', 'Expected ";" but found "="']);
  });
});

describe('first steps', () => {
  /** Returns the test paths in a file's commands; vitest ignores paths that do not exist. */
  const testsIn = (file: string): string[] =>
    [...read(file).matchAll(/vitest run ([^`"]+)/g)].flatMap(([, rest]) =>
      String(rest)
        .split(' ')
        .filter((word) => word.startsWith('test/')),
    );

  it.each(['CONTRIBUTING.md', 'AGENTS.md', 'package.json'])('%s runs only tests that exist', (file) => {
    expect(testsIn(file).filter((path) => !existsSync(path))).toEqual([]);
  });

  it('include a single test', () => expect(testsIn('CONTRIBUTING.md')).toHaveLength(1));

  it('are short', () => {
    expect(read('CONTRIBUTING.md').split('\n').length).toBeLessThanOrEqual(30);
  });

  it('name an inspector port that the launch configurations use', () => {
    const launch = read('.vscode/launch.json');
    expect(launch).toContain('"WAYGATE_INSPECT_WORKER": "9230"');
    expect(launch).toContain('"port": 9230');
  });
});
