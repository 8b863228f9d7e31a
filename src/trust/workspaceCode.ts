import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { isWithin } from '../lib/readBounded.ts';

/** Start of a program as far as it decides whose code runs. */
export interface ProgramStart {
  command: string;
  /** Path of the command's program, if it is found. */
  program: string | undefined;
  args: readonly string[];
  /** Values of variables, which can name scripts as well. */
  variables?: readonly string[];
  cwd: string;
  workspace: string;
}

/** Programs that run packages. `fetch` has the words with which a program fetches one; the others always do. */
const RUNNERS: Readonly<Record<string, { of: 'node' | 'python'; fetch?: readonly string[] }>> = {
  npx: { of: 'node' },
  pnpx: { of: 'node' },
  bunx: { of: 'node' },
  npm: { of: 'node', fetch: ['exec', 'x'] },
  pnpm: { of: 'node', fetch: ['dlx'] },
  yarn: { of: 'node', fetch: ['dlx'] },
  yarnpkg: { of: 'node', fetch: ['dlx'] },
  bun: { of: 'node', fetch: ['x'] },
  corepack: { of: 'node', fetch: ['dlx', 'npx'] },
  deno: { of: 'node', fetch: [] },
  uvx: { of: 'python' },
  pipx: { of: 'python' },
  uv: { of: 'python', fetch: ['tool', 'x'] },
};

/** Programs that run what the files of their working folder say. */
const PROJECT_TOOLS = new Set(
  [
    ...['make', 'gmake', 'ninja', 'meson', 'cmake', 'just', 'task', 'bazel', 'bazelisk', 'buck2', 'nix', 'nix-shell'],
    ...['cargo', 'go', 'dotnet', 'gradle', 'gradlew', 'mvn', 'mvnw', 'ant', 'sbt', 'mix', 'stack', 'cabal', 'swift'],
    ...['docker-compose', 'podman-compose', 'devbox', 'devcontainer', 'direnv', 'mise', 'vagrant', 'nox'],
    ...['poetry', 'pdm', 'hatch', 'rye', 'pixi', 'pipenv', 'tox', 'bundle', 'rake', 'composer', 'dart', 'zig'],
  ].flatMap((name) => [name, `${name}.exe`, `${name}.cmd`, `${name}.bat`]),
);

/** Endings that an interpreter adds to the name of a script. */
const ADDED_ENDINGS = ['.js', '.node', '.rb'];

/** Files in a folder, or above it, that decide what a package runner runs. */
const DECIDING = {
  node: [
    'package.json',
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    'pnpm-workspace.yaml',
    'bunfig.toml',
    'deno.json',
    'deno.jsonc',
  ],
  python: ['uv.toml', 'pyproject.toml', 'pip.conf', '.venv', '.python-version'],
} as const;

/** Package name without its version. */
const PACKAGE = /^(?:@[\w~-][\w~.-]*\/)?[\w~][\w~.-]*(?=@|$)/;
const WORD = /[\s;&|()<>"'`]+/;
/** Files that an interpreter or a loader runs. */
const SCRIPT =
  /\.(?:[cm]?[jt]sx?|py[cwz]?|sh|bash|zsh|fish|rb|pl|php|lua|jar|class|exe|bat|cmd|ps1|wasm|so|dll|dylib|node)$/i;
/** More than a command needs, and little to look up. */
const MAX_CHARS = 32 * 1024;
const MAX_PATH_CHARS = 4_096;
const MAX_SCRIPTS = 256;

export interface Runner {
  of: 'node' | 'python';
  /** Whether it fetches the package that it runs, as `npx` does. */
  fetches: boolean;
}

/** Returns the package runner of a start. Looks at every word, because a shell, `env` or `cmd /c` may start it. */
export function runnerOf(start: Words): Runner | undefined {
  const words = wordsOf(start).map(
    (word) =>
      /^(?:.*[\\/])?([\w.-]*?)(?:-cli)?(?:\.(?:cmd|exe|bat|ps1|[cm]?js))?$/i.exec(word)?.[1]?.toLowerCase() ?? '',
  );
  const found = words.flatMap((word, index): Runner[] => {
    const runner = Object.hasOwn(RUNNERS, word) ? RUNNERS[word] : undefined;
    if (!runner) return [];
    return [
      { of: runner.of, fetches: !runner.fetch || words.slice(index + 1).some((next) => runner.fetch?.includes(next)) },
    ];
  });
  return found.find(({ fetches }) => fetches) ?? found[0];
}

type Words = Pick<ProgramStart, 'command' | 'program' | 'args'>;

function wordsOf({ command, program = '', args }: Words): string[] {
  return [
    command,
    program,
    real(program) ?? '',
    ...args.flatMap((argument) => argument.slice(0, MAX_CHARS).split(WORD)),
  ];
}

export interface WorkspaceParts {
  /** Parts that a start runs: its program, scripts, packages, and settings of a package runner. */
  code: string[];
  /** Other files and folders that arguments name. A server may create them itself. */
  data: string[];
}

/**
 * Returns the parts of a workspace that a start uses, as paths in it: the program, arguments that name a file or a
 * folder, and what its package runner or its interpreter finds beside its working folder.
 */
export function partsOfWorkspace(start: ProgramStart): WorkspaceParts {
  const { program, args, variables = [], cwd, workspace } = start;
  if (args.join(' ').length > MAX_CHARS) return { code: ['arguments that are too long to check'], data: [] };
  const root = real(workspace) ?? workspace;
  const found = (paths: readonly string[], folder: string): string[] =>
    paths.map((path) => inWorkspace(resolve(folder, path), root, workspace)).filter((path) => path !== undefined);
  const scripts = variables.flatMap(pathsIn).filter((path) => SCRIPT.test(path));
  if (scripts.length > MAX_SCRIPTS) return { code: ['variables that are too many to check'], data: [] };
  const named = found(args.flatMap(pathsIn), cwd);
  const folders = foldersUpTo(cwd, root);
  const runner = runnerOf(start);
  const isModule = isModuleStart(start);
  const beside = [
    ...(runner ? DECIDING[runner.of] : isModule ? DECIDING.python : []),
    ...(runner?.of === 'node' ? args.flatMap(packageParts) : []),
    // Python looks for every module in the working folder first.
    ...(isModule || isProjectTool(start) ? ['.'] : []),
  ];
  const code = [
    ...found(program === undefined ? [] : [program], cwd),
    ...[...named, ...found([...args.flatMap(withEnding), ...scripts], cwd)].filter((path) => SCRIPT.test(path)),
    ...folders.flatMap((folder) => found(beside, folder)),
  ];
  const sorted = (paths: readonly string[]): string[] => [...new Set(paths)].sort();
  return { code: sorted(code), data: sorted(named.filter((path) => !code.includes(path))) };
}

/** Whether a start runs what the files of its working folder say. A shell may start the program. */
function isProjectTool(start: ProgramStart): boolean {
  const nameOf = (word: string): string => basename(word).toLowerCase();
  const ofShell = /^(?:(?:ba|da|z|fi)?sh|env|cmd|pwsh|powershell)(?:\.exe)?$/.test(nameOf(start.command));
  const names = wordsOf(ofShell ? start : { ...start, args: [] }).map(nameOf);
  const isCompose = start.args.includes('compose') && names.some((name) => /^(?:docker|podman)(?:\.exe)?$/.test(name));
  return isCompose || names.some((name) => PROJECT_TOOLS.has(name));
}

/** Whether Python runs a module by its name, or code in an argument, which may import one. */
function isModuleStart(start: ProgramStart): boolean {
  const words = wordsOf(start);
  return (
    words.some((word) => /^(?:python|pypy)[\d.]*w?(?:\.exe)?$/i.test(basename(word))) &&
    words.some((word) => /^-\w*[mc]/.test(word))
  );
}

/** Returns an argument, and the value of `--option=value`, `NAME=value` or `-ovalue`, as possible paths. */
function pathsIn(argument: string): string[] {
  const value = /^[^=]*=(.*)$/s.exec(argument)?.[1];
  const parts = [argument, ...(value === undefined ? [] : [value]), ...argument.split(WORD)];
  const attached = parts.flatMap((part) => /^-\w(.+)$/s.exec(part)?.[1] ?? []);
  return [...parts, ...attached].map((part) => part.replace(/^file:\/\//i, '')).filter((part) => part !== '');
}

/** Returns the files that an interpreter may mean by an argument such as `server` or `-r./hook`. */
function withEnding(argument: string): string[] {
  const path = argument.replace(/^-\w/, '');
  return path.startsWith('-') || /\s/.test(path) ? [] : ADDED_ENDINGS.map((ending) => path + ending);
}

function packageParts(argument: string): string[] {
  return argument.split(WORD).flatMap((word) => {
    const name = PACKAGE.exec(word.replace(/^--package=/, ''))?.[0];
    return name === undefined ? [] : [join('node_modules', name), join('node_modules', '.bin', basename(name))];
  });
}

/** Returns the path of something that exists in the workspace, by name or behind its links. */
function inWorkspace(path: string, root: string, workspace: string): string | undefined {
  if (path.includes('\0') || path.length > MAX_PATH_CHARS) return undefined;
  const target = real(path);
  if (target === undefined) return undefined;
  if (isWithin(root, target)) return relative(root, target) || '.';
  if (isWithin(workspace, path)) return relative(workspace, path);
  return isWithin(root, path) ? relative(root, path) : undefined;
}

function real(path: string): string | undefined {
  try {
    lstatSync(path);
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Returns a folder and those above it, as far as they are in the workspace. */
function foldersUpTo(folder: string, root: string): string[] {
  const found: string[] = [];
  for (let at = real(folder) ?? folder; isAbsolute(at) && isWithin(root, at); at = dirname(at)) found.push(at);
  return found;
}
