import { createHmac, randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerOrigin } from '../catalog/types.ts';
import type { ServerConfig } from '../config/gatewayConfig.ts';
import { writePrivateJson } from '../config/state/privateFile.ts';
import { canonicalWorkspace, ensurePrivateFolder, stateKey } from '../config/state/stateFolder.ts';
import { isFile } from '../lib/findProgram.ts';
import { isAbsent, readBoundedText, readFailure, readOwnText } from '../lib/readBounded.ts';
import { writeWhole } from '../lib/writeWhole.ts';
import { type Launch, type LaunchPlace, launchOf } from './launch.ts';
import type { MissingWalls } from './walls.ts';

const FILE = 'approvals.json';
const KEY_FILE = 'approvals.key';
const KEY_BYTES = 32;
/** Approvals of one server that stay valid, so that an edit can be undone without a question. */
const MAX_KEPT = 8;

export interface ApprovalsOptions {
  stateRoot: string;
  workspace: string;
  /** Returns the `PATH` in which bare commands are looked up. */
  path(): string | undefined;
  missingWalls?: MissingWalls;
}

/** Approved launch, kept whole for the comparison with a later one. */
interface Approved extends Pick<Launch, 'name' | 'hash' | 'lines'> {
  command?: string | undefined;
  program?: string | undefined;
}

interface ApprovedHere {
  workspace: string;
  approved: readonly Approved[];
}

/**
 * Whether a server needs approval: only servers of a repository's file do. The user's own file and a given file are the
 * user's word.
 */
export function needsApproval({ origin }: ServerConfig): boolean {
  return origin !== 'user' && origin !== 'given';
}

/** Returns whose file configures a server. An unknown server is not the user's. */
export function originOf(config: ServerConfig | undefined): ServerOrigin {
  return config && !needsApproval(config) ? 'user' : 'workspace';
}

/**
 * Approvals of the servers that a repository configures. A repository must not run code because someone opened it, so a
 * server of its file starts only after the user approved exactly this launch for this workspace. Approvals are in the
 * user's state folder, where a repository cannot put one.
 */
export class LaunchApprovals {
  readonly file: string;
  readonly #options: ApprovalsOptions;
  #key: Buffer | undefined;
  /** Content of the file as it was read last: a worker checks all servers in one step. */
  #lastRead: { state: string; content: Map<string, ApprovedHere> } | undefined;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.file = join(options.stateRoot, FILE);
  }

  /** Returns the launch that a start of the server would have: the approved one, or the one to approve. */
  launch(config: ServerConfig): Launch {
    return this.approved(config) ?? this.#launchOf(config);
  }

  /**
   * Returns the launch that the user approved, with its pinned program, if it still is what the server's entry and its
   * surroundings say.
   */
  approved(config: ServerConfig): Launch | undefined {
    for (const { name, hash, command, program } of this.#here.approved) {
      if (name !== config.name) continue;
      const isPinned =
        config.type === 'stdio' && config.command === command && program !== undefined && isFile(program);
      const launch = this.#launchOf(config, isPinned ? program : undefined);
      if (launch.hash === hash) return launch;
    }
    return undefined;
  }

  isApproved(config: ServerConfig): boolean {
    return this.approved(config) !== undefined;
  }

  /** Returns the lines that the user approved last for a server of this name. */
  before({ name }: Pick<Launch, 'name'>): readonly string[] | undefined {
    return this.#here.approved.findLast((one) => one.name === name)?.lines;
  }

  approve(launches: readonly Launch[]): void {
    if (launches.length === 0) return;
    ensurePrivateFolder(this.#options.stateRoot);
    const all = this.#read();
    const hashes = new Set(launches.map(({ hash }) => hash));
    const before = all.get(this.#workspaceKey)?.approved ?? [];
    const kept = before.filter(({ hash }) => !hashes.has(hash));
    if (before.length - kept.length === hashes.size) return;
    const approved = [...kept, ...launches.map(({ isApart: _, ...launch }) => launch)];
    const recent = approved.filter(
      ({ name }, index) => approved.slice(index + 1).filter((later) => later.name === name).length < MAX_KEPT,
    );
    this.#write(all, recent);
  }

  /** Revokes approvals for this workspace, all of them without names. Returns their number. */
  revoke(names?: readonly string[]): number {
    const all = this.#read();
    const before = all.get(this.#workspaceKey)?.approved ?? [];
    const approved = names ? before.filter(({ name }) => !names.includes(name)) : [];
    if (approved.length < before.length) this.#write(all, approved);
    return before.length - approved.length;
  }

  #launchOf(config: ServerConfig, pinned?: string): Launch {
    const place: LaunchPlace = {
      workspace: this.#options.workspace,
      path: this.#options.path(),
      missingWalls: this.#options.missingWalls,
      seal: (value) => this.#seal(value),
      pinned,
    };
    return launchOf(config, place);
  }

  get #workspaceKey(): string {
    return stateKey(this.#options.workspace);
  }

  get #here(): ApprovedHere {
    return this.#read().get(this.#workspaceKey) ?? { workspace: '', approved: [] };
  }

  #write(all: Map<string, ApprovedHere>, approved: readonly Approved[]): void {
    this.#lastRead = undefined;
    if (approved.length === 0) all.delete(this.#workspaceKey);
    else all.set(this.#workspaceKey, { workspace: canonicalWorkspace(this.#options.workspace), approved });
    writePrivateJson(this.file, Object.fromEntries(all));
  }

  /** Why the file of approvals is not believed, and so approves nothing. */
  get flaw(): string | undefined {
    const read = this.#tryRead();
    return typeof read === 'string' ? read : undefined;
  }

  #read(): Map<string, ApprovedHere> {
    const read = this.#tryRead();
    return typeof read === 'string' ? new Map() : read;
  }

  /** Returns all approvals, or why the file is not believed: damaged, or others may have written it. */
  #tryRead(): Map<string, ApprovedHere> | string {
    try {
      const state = stateOf(this.file);
      if (this.#lastRead?.state === state) return this.#lastRead.content;
      const content = approvedIn(JSON.parse(readOwnText(this.file)));
      if (!content) return 'it is damaged';
      this.#lastRead = { state, content };
      queueMicrotask(() => {
        this.#lastRead = undefined;
      });
      return content;
    } catch (error) {
      if (error instanceof SyntaxError) return 'it is not JSON';
      return isAbsent(error, this.file) ? new Map() : readFailure(error);
    }
  }

  #seal(text: string): string {
    this.#key ??= sealingKey(this.#options.stateRoot);
    return sealed(this.#key, text);
  }
}

/** Returns everything that a write, a change of the mode or of the owner, or another file in its place changes. */
function stateOf(file: string): string {
  const { dev, ino, mode, uid, size, mtimeNs, ctimeNs } = lstatSync(file, { bigint: true });
  return [dev, ino, mode, uid, size, mtimeNs, ctimeNs].join();
}

/**
 * Returns a keyed SHA-256 of what a user is shown. Nobody else can compute it, so that its first digits are enough to
 * name what was shown.
 */
export function sealOf(stateRoot: string, text: string): string {
  return sealed(sealingKey(stateRoot), text);
}

function sealed(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** Returns the key of the state folder, and creates it at the first use. */
function sealingKey(stateRoot: string): Buffer {
  const file = join(stateRoot, KEY_FILE);
  const read = (): Buffer => Buffer.from(readBoundedText(file, { maxBytes: 4_096, own: true, secret: true }), 'hex');
  try {
    const key = read();
    if (key.length === KEY_BYTES) return key;
  } catch {
    // An absent key is made. One that others may know is replaced.
  }
  ensurePrivateFolder(stateRoot);
  writeWhole(file, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600 });
  return read();
}

/** Returns the approvals in the content of the file, or `undefined` if any part of it is damaged. */
function approvedIn(content: unknown): Map<string, ApprovedHere> | undefined {
  if (!isRecord(content)) return undefined;
  const entries = Object.entries(content);
  const isSound = entries.every(
    ([, one]) => isRecord(one) && Array.isArray(one.approved) && one.approved.every(isApproved),
  );
  return isSound ? new Map(entries as [string, ApprovedHere][]) : undefined;
}

function isApproved(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { name, hash, lines, command, program } = value;
  const isText = (one: unknown): boolean => typeof one === 'string';
  return (
    isText(name) &&
    isText(hash) &&
    Array.isArray(lines) &&
    lines.every(isText) &&
    [command, program].every((one) => one === undefined || isText(one))
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
