import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AuthConfig } from '../declaration/server.ts';
import type { ServerConfig } from '../gatewayConfig.ts';
import { writtenForm } from '../secretReferences.ts';
import { readPrivateJson, writePrivateJson } from './privateFile.ts';
import { canonicalWorkspace, ensurePrivateFolder, stateKey } from './stateFolder.ts';

const FILE = 'approvals.json';
/** Variables that decide which code a program runs. Their values are part of the approval, not only their names. */
const DECISIVE =
  /^(PATH|NODE_(OPTIONS|PATH)|LD_\w+|DYLD_\w+|PYTHON\w+|PERL5(OPT|LIB)|RUBY(OPT|LIB)|BASH_ENV|ENV|_?JAVA_\w*OPTIONS|GIT_\w+|npm_config_\w+)$/i;
/**
 * Characters that a terminal hides or changes: control characters, changes of the writing direction, unusual spaces.
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** Description of a server that the user approves. */
export interface Approvable {
  hash: string;
  /** Complete description in lines: nothing is hidden or cut. */
  lines: readonly string[];
}

export interface Approvals {
  readonly file: string;
  isApproved(workspace: string, config: ServerConfig): boolean;
  isApprovedHash(workspace: string, hash: string): boolean;
  approve(workspace: string, hashes: readonly string[]): void;
  /** Revokes approvals for this workspace, all of them without hashes. Returns their number. */
  revoke(workspace: string, hashes?: readonly string[]): number;
}

/**
 * Whether a server needs approval: only servers of a repository's file do. The user's own file and a given file are the
 * user's word.
 */
export function needsApproval({ origin }: ServerConfig): boolean {
  return origin !== 'user' && origin !== 'given';
}

/**
 * Approvals of the servers that a repository configures. A repository must not run code because someone opened it, so a
 * server of its file starts only after the user approved exactly this server for this workspace. Approvals are in the
 * user's state folder, where a repository cannot put one.
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

/** Describes a server for the user. The hash covers this text, so nobody approves something unseen. */
function describe(config: ServerConfig): string[] {
  return [...launch(config), ...(config.sampling ? ['may ask the model of your client (sampling)'] : [])];
}

function launch(config: ServerConfig): string[] {
  if (config.type === 'static') return ['answers from a catalog and runs nothing'];
  if (config.type !== 'stdio') {
    return [
      `connects to ${shown(config.url)}`,
      ...listed('sends headers', config.headers, (value) => references(value)),
      ...listed('signs in with', signInSettings(config.auth), shown),
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

function signInSettings({ scopes, ...auth }: AuthConfig = {}): Record<string, string> {
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

/** Returns the references to secrets in a value. The rest of the value may change without a new approval. */
function references(value: string): string {
  return (writtenForm(value).match(/\$\{(secret|input):[^}]*\}/g) ?? []).join('');
}

/** Shows a plain word unchanged and quotes anything else, so that the end of an argument is visible. */
function shown(text: string): string {
  const written = writtenForm(text);
  const quoted = /^[\w@%+=:,./\\${}~-]+$/.test(written) ? written : JSON.stringify(written);
  return quoted.replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
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
