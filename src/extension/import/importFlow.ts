import { CLIENT_IDS } from '../../import/clientIds.ts';
import { findSources, readTextIfThere, replaceFile, restoreFile } from '../../import/importFiles.ts';
import { renderFlaws, renderRemovals, renderSummary } from '../../import/importReport.ts';
import { type ImportPlan, planImport } from '../../import/planImport.ts';
import { planRemovals, type Removal, remove } from '../../import/removeEntries.ts';
import type { Surroundings } from '../../import/surroundings.ts';
import { oneLine } from '../../text/porcelain.ts';
import { plural, t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { type Conflict, conflictsOf, type ImportItem, importItems } from './importItems.ts';

/** Decisions of the user on the way; undefined cancels. */
export interface ImportPrompts {
  choose(items: readonly ImportItem[]): Promise<ReadonlySet<string> | undefined>;
  resolve(conflict: Conflict): Promise<'keep both' | 'replace' | 'leave out' | undefined>;
  /** Shows the changes and asks for confirmation. */
  confirm(plan: ImportPlan): Promise<boolean>;
  /** Chooses the files that lose the entries which the gateway has now; undefined keeps all. */
  remove(removals: readonly Removal[]): Promise<readonly Removal[] | undefined>;
  /** Stores the value of an input. */
  keep(name: string, value: string): Promise<void>;
}

/** Clients that still start the same servers, with the removal of their entries. */
export interface Leftovers {
  clients: readonly string[];
  remove(): Promise<readonly Removal[]>;
}

export interface ImportOutcome {
  /** Sentence for a message. */
  message: NotificationText;
  /** Full report for the log. Contains no secret. */
  report: string;
  written: boolean;
  /** Names of the servers that the file has now because of the import. */
  added: readonly string[];
  /** Restores the file as it was. Throws `ChangedMeanwhile` if it was edited since. */
  undo(): void;
  /** Absent if no client has entries that can be removed. */
  leftovers?: Leftovers;
  /** Entries that were removed from files of clients. */
  removed: readonly Removal[];
}

/**
 * *Import Servers* without its windows: find, choose, resolve conflicts, preview, write, and remove the entries that the
 * gateway has now. Undefined if the user cancels.
 */
export async function importFlow(
  file: string,
  at: Surroundings,
  prompts: ImportPrompts,
): Promise<ImportOutcome | undefined> {
  const { sources, unreadable } = findSources(at, CLIENT_IDS);
  const faults = unreadable.map(({ message }) => `${oneLine(message, 1_000)}\n`).join('');
  const current = readTextIfThere(file, at.workspace);
  const request = { file, current, workspace: at.workspace, env: at.env, sources };
  const all = planImport(request);
  const items = importItems(all);
  if (items.length === 0) {
    const broken = unreadable.length;
    const sentences = [
      t`No other MCP client has servers for this folder.`,
      ...(broken > 0 ? [plural(broken, t`1 file could not be read.`, t`${broken} files could not be read.`)] : []),
    ];
    const report = faults + renderFlaws(sources, []);
    const message = notificationText`${sentences.join(' ')}`;
    return { message, report, written: false, added: [], undo: () => undefined, removed: [] };
  }
  const chosen = await prompts.choose(items);
  const accepted = chosen && withTwins(all, chosen);
  if (accepted === undefined || accepted.size === 0) return undefined;
  const decided = await settle({ ...request, accept: (key) => accepted.has(key) }, accepted, prompts);
  if (decided === undefined) return undefined;
  const plan = planImport({ ...request, ...decided });
  if (plan.changed) {
    if (!(await prompts.confirm(plan))) return undefined;
    replaceFile(file, current, plan.after, at.workspace);
    await plan.keepSecrets((name, value) => prompts.keep(name, value));
  }
  const removed = await removeEntries(plan, prompts);
  const report = plan.redact(
    faults +
      renderSummary(plan, { dryRun: false, keptIn: "the editor's store of secrets" }) +
      renderFlaws(sources, []) +
      renderRemovals(plan, removed.length > 0 ? removed : undefined, { dryRun: false }),
  );
  const left = leftIn(plan, removed);
  const clients = [...new Set(left.filter(({ after }) => after !== undefined).map(({ source }) => source.title))];
  return {
    message: summarise(plan, removed, left),
    report,
    written: plan.changed,
    added: written(plan).map(({ target }) => target),
    undo: () => restoreFile(file, plan.after, current, at.workspace),
    ...(clients.length > 0 && { leftovers: { clients, remove: () => removeEntries(plan, prompts, removed) } }),
    removed,
  };
}

/** Plans the removals that are left after some. */
function leftIn(plan: ImportPlan, done: readonly Removal[]): Removal[] {
  return planRemovals(plan).filter(({ source }) => !done.some((removal) => removal.source === source));
}

function written({ servers }: ImportPlan): ImportPlan['servers'] {
  return servers.filter(({ outcome }) => ['added', 'renamed', 'replaced'].includes(outcome));
}

/** Adds the servers that need no import: the gateway has them already, or has the chosen twin of another file. */
function withTwins({ servers }: ImportPlan, chosen: ReadonlySet<string>): ReadonlySet<string> {
  const targets = new Set(servers.filter(({ key }) => chosen.has(key)).map(({ target }) => target));
  const twins = servers.filter(
    ({ outcome, target }) => outcome === 'present' || (outcome === 'duplicate' && targets.has(target)),
  );
  return new Set([...chosen, ...twins.map(({ key }) => key)]);
}

async function removeEntries(
  plan: ImportPlan,
  prompts: ImportPrompts,
  done: readonly Removal[] = [],
): Promise<readonly Removal[]> {
  const possible = leftIn(plan, done).filter(({ after }) => after !== undefined);
  const removed = possible.length === 0 ? [] : ((await prompts.remove(possible)) ?? []);
  for (const removal of removed) remove(removal);
  return removed;
}

type Decision = Pick<Parameters<typeof planImport>[0], 'accept' | 'replace'>;

async function settle(
  request: Parameters<typeof planImport>[0],
  chosen: ReadonlySet<string>,
  prompts: ImportPrompts,
): Promise<Decision | undefined> {
  const accepted = new Set(chosen);
  const replace = new Set<string>();
  for (const conflict of conflictsOf(planImport(request))) {
    const decision = await prompts.resolve(conflict);
    if (decision === undefined) return undefined;
    if (decision === 'replace') replace.add(conflict.key);
    if (decision === 'leave out') accepted.delete(conflict.key);
  }
  return { accept: (key) => accepted.has(key), replace };
}

function summarise(plan: ImportPlan, removed: readonly Removal[], left: readonly Removal[]): NotificationText {
  const imported = written(plan);
  const waiting = imported.filter(({ cannotStart }) => cannotStart !== undefined);
  const clients = [...new Set(left.map(({ source }) => source.title))];
  const named = clients.join(', ');
  const entries = removed.flatMap((removal) => removal.removed).length;
  const sentences = [
    imported.length > 0
      ? plural(imported.length, t`Imported 1 server.`, t`Imported ${imported.length} servers.`)
      : t`All of them are already configured.`,
    ...(waiting.length > 0
      ? [plural(waiting.length, t`1 server cannot start yet.`, t`${waiting.length} servers cannot start yet.`)]
      : []),
    ...(entries > 0
      ? [
          plural(
            entries,
            t`Removed 1 entry; the log names the backups.`,
            t`Removed ${entries} entries; the log names the backups.`,
          ),
        ]
      : []),
    ...(clients.length > 0 ? [leftSentence(clients.length, named, left)] : []),
  ];
  return notificationText`${sentences.join(' ')}`;
}

function leftSentence(clients: number, named: string, left: readonly Removal[]): string {
  return left.some(({ after }) => after === undefined)
    ? plural(
        clients,
        t`${named} still starts them directly; the log lists the entries to remove by hand.`,
        t`${named} still start them directly; the log lists the entries to remove by hand.`,
      )
    : plural(clients, t`${named} still starts them directly.`, t`${named} still start them directly.`);
}
