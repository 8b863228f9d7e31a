import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AuthConfig } from '../declaration/server.ts';
import type { ServerConfig } from '../gatewayConfig.ts';
import { writtenForm } from '../secretReferences.ts';
import { readPrivateJson, writePrivateJson } from './privateFile.ts';
import { canonicalWorkspace, ensurePrivateFolder, stateKey } from './stateFolder.ts';

const FILE = 'approvals.json';
/** Variables that decide what a program runs: for them the value counts, not only the name. */
const DECISIVE =
  /^(PATH|NODE_(OPTIONS|PATH)|LD_\w+|DYLD_\w+|PYTHON\w+|PERL5(OPT|LIB)|RUBY(OPT|LIB)|BASH_ENV|ENV|_?JAVA_\w*OPTIONS|GIT_\w+|npm_config_\w+)$/i;
/** What a terminal would not show as it is: control characters, what turns the direction of writing, other spaces. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** What a person is asked to approve. */
export interface Approvable {
  hash: string;
  /** All of it, in lines, with nothing hidden or cut. */
  lines: readonly string[];
}

export interface Approvals {
  readonly file: string;
  isApproved(workspace: string, config: ServerConfig): boolean;
  isApprovedHash(workspace: string, hash: string): boolean;
  approve(workspace: string, hashes: readonly string[]): void;
  /** Takes back what was approved for this workspace, all of it without hashes; says how many that were. */
  revoke(workspace: string, hashes?: readonly string[]): number;
}

/** Only a repository's word needs one: what stands in the person's own file, or in one given by hand, is his own. */
export function needsApproval({ origin }: ServerConfig): boolean {
  return origin !== 'user' && origin !== 'given';
}

/**
 * A repository must not run code because someone opened it: what its own file names starts only after the person has
 * approved exactly that, for this workspace. Approvals lie in the person's state, where no repository can put one.
 */
export function approvalsOf(stateRoot: string): Approvals {
  const file = join(stateRoot, FILE);
  const isApprovedHash = (workspace: string, hash: string): boolean =>
    readApproved(file).get(stateKey(workspace))?.approved.includes(hash) === true;
  return {
    file,
    isApproved: (workspace, config) => isApprovedHash(workspace, approvable(config).hash),
    isApprovedHash,
    approve(workspace, hashes) {
      ensurePrivateFolder(stateRoot);
      const all = readApproved(file);
      const key = stateKey(workspace);
      const before = all.get(key)?.approved ?? [];
      const approved = [...new Set([...before, ...hashes])];
      if (approved.length === before.length) return;
      all.set(key, { workspace: canonicalWorkspace(workspace), approved });
      writePrivateJson(file, Object.fromEntries(all));
    },
    revoke(workspace, hashes) {
      const all = readApproved(file);
      const key = stateKey(workspace);
      const before = all.get(key);
      if (!before) return 0;
      const approved = hashes ? before.approved.filter((hash) => !hashes.includes(hash)) : [];
      const taken = before.approved.length - approved.length;
      if (taken === 0) return 0;
      if (approved.length === 0) all.delete(key);
      else all.set(key, { ...before, approved });
      writePrivateJson(file, Object.fromEntries(all));
      return taken;
    },
  };
}

export function approvable(config: ServerConfig): Approvable {
  const lines = describe(config);
  return {
    hash: createHash('sha256')
      .update(JSON.stringify([config.type, lines]))
      .digest('hex'),
    lines,
  };
}

/** What is hashed is what is shown: nobody approves what he has not seen. */
function describe(config: ServerConfig): string[] {
  if (config.type === 'static') return ['answers from a catalog and runs nothing'];
  if (config.type !== 'stdio') {
    return [
      `connects to ${shown(config.url)}`,
      ...listed('sends headers', config.headers, (value) => references(value)),
      ...listed('signs in with', signInWords(config.auth), shown),
    ];
  }
  const { command, args, cwd, env, envFile } = config;
  const value = (text: string, name: string): string => (DECISIVE.test(name) ? shown(text) : references(text));
  return [
    `runs ${[command, ...args].map(shown).join(' ')}`,
    `in ${shown(cwd)}`,
    ...listed('with variables', env, value),
    ...(envFile === undefined ? [] : [`some of them from ${shown(envFile)}`]),
  ];
}

function signInWords({ scopes, ...auth }: AuthConfig = {}): Record<string, string> {
  return { ...auth, ...(scopes ? { scopes: scopes.join(' ') } : {}) };
}

function listed(
  what: string,
  values: Readonly<Record<string, string>>,
  show: (value: string, name: string) => string,
): string[] {
  const items = Object.keys(values)
    .sort()
    .map((name) => {
      const value = show(values[name] as string, name);
      return value === '' ? shown(name) : `${shown(name)}=${value}`;
    });
  return items.length === 0 ? [] : [`${what} ${items.join(' ')}`];
}

/** The secrets that a value hands over; what else stands in it may change. */
function references(value: string): string {
  return (writtenForm(value).match(/\$\{(secret|input):[^}]*\}/g) ?? []).join('');
}

/** One word as it is, anything else in quotes: where an argument ends must be seen. */
function shown(text: string): string {
  const written = writtenForm(text);
  const quoted = /^[\w@%+=:,./\\${}~-]+$/.test(written) ? written : JSON.stringify(written);
  return quoted.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
}

interface Approved {
  workspace: string;
  approved: readonly string[];
}

function readApproved(file: string): Map<string, Approved> {
  const content = readPrivateJson(file);
  if (typeof content !== 'object' || content === null) return new Map();
  return new Map(
    Object.entries(content).filter((entry): entry is [string, Approved] =>
      Array.isArray((entry[1] as Partial<Approved> | null)?.approved),
    ),
  );
}
