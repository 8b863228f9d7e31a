import { count, oneLine, quoted } from '../text/porcelain.ts';
import { exposedTwice, type ImportPlan, type PlannedServer, type ReadSource, shownPath } from './planImport.ts';
import type { Removal } from './removeEntries.ts';

/** Report of an import for the user. No line of it contains a secret's value. */

const placeOf = ({ title, file }: ReadSource): string => oneLine(`${title} (${file})`, 1_000);
const written = ({ outcome }: PlannedServer): boolean => ['added', 'renamed', 'replaced'].includes(outcome);

/** Lists the servers found, before anything is written. */
export function renderList(plan: ImportPlan): string {
  const lines = plan.servers.map(
    (server) => `  ${oneLine(server.name)}  from ${placeOf(server.source)}${remark(server)}`,
  );
  return `Found ${count(plan.servers.length, 'server')}:\n${lines.join('\n')}\n`;
}

function remark({ name, outcome, target }: PlannedServer): string {
  if (target !== name && outcome !== 'present' && outcome !== 'duplicate') return `, as ${quoted(target)}`;
  if (outcome === 'present') return ', already configured';
  if (outcome === 'duplicate') return ', found twice';
  return outcome === 'own' ? ', which is Waygate itself' : '';
}

/** Summarises the import. `keptIn` is the place where the values of new inputs are stored. */
export function renderSummary(plan: ImportPlan, { dryRun, keptIn }: { dryRun: boolean; keptIn: string }): string {
  const lines: string[] = [];
  const added = plan.servers.filter(written);
  const verb = dryRun ? 'Would import' : 'Imported';
  lines.push(
    added.length > 0
      ? `${verb} ${count(added.length, 'server')} into ${plan.file}:`
      : `There is nothing to import into ${plan.file}.`,
  );
  for (const server of added)
    lines.push(`  ${oneLine(server.target)}  from ${placeOf(server.source)}`, ...details(server));
  for (const { name, target, source, outcome } of plan.servers) {
    const known = name === target ? quoted(name) : `${quoted(name)} (as ${quoted(target)})`;
    if (outcome === 'present') lines.push(`Already configured: ${known} of ${placeOf(source)}.`);
    if (outcome === 'duplicate') lines.push(`Found twice: ${known} of ${placeOf(source)}.`);
    if (outcome === 'own') lines.push(`Skipped: ${quoted(name)} of ${placeOf(source)} is Waygate itself.`);
  }
  if (added.some(({ references }) => references.some(({ input }) => input !== undefined))) {
    lines.push(`The values of these inputs ${dryRun ? 'would be' : 'are'} kept in ${keptIn}, readable only by you.`);
  }
  const waiting = added.filter(({ cannotStart }) => cannotStart !== undefined);
  if (waiting.length > 0) lines.push('This version of Waygate cannot start these servers yet:');
  for (const { target, cannotStart } of waiting) lines.push(`  ${oneLine(target)}  ${oneLine(cannotStart ?? '')}`);
  return `${lines.join('\n')}\n`;
}

function details({ notes, references }: PlannedServer): string[] {
  return [
    ...notes.map((note) => `    ${oneLine(note)}`),
    ...references.map(({ where, reference, differs }) => {
      const warning = differs ? ', which has another value than the file had' : '';
      return `    ${oneLine(where)} was in clear text and is now ${reference}${warning}`;
    }),
  ];
}

/** Returns the same as data. Values that are redacted in the text must be redacted here too. */
export function importData(
  plan: ImportPlan,
  sources: readonly ReadSource[],
  {
    names,
    dryRun,
    removals,
    keptIn,
  }: { names: readonly string[]; dryRun: boolean; removals: readonly Removal[]; keptIn: string },
): object {
  return {
    file: plan.file,
    dryRun,
    written: plan.changed && !dryRun,
    secretsFile: keptIn,
    servers: plan.servers.map(({ name, target, outcome, source, notes, references, cannotStart }) => ({
      name,
      target,
      outcome,
      client: source.client,
      source: source.file,
      notes,
      references: references.map(({ where, reference }) => ({ where, reference })),
      ...(cannotStart !== undefined && { cannotStart }),
    })),
    leftOut: flawsOf(sources, names).map(({ source, name, message }) => ({
      name,
      source: source.file,
      reason: message,
    })),
    alsoStartedBy: [...exposedTwice(plan)].map(([source, servers]) => ({
      client: source.client,
      file: source.file,
      servers: servers.map(({ path }) => shownPath(source.file, path)),
    })),
    removals: removals.map(({ source: { file }, removed, kept, refused, backup }) => ({
      file,
      removed: refused === undefined ? removed.map(({ name }) => name) : [],
      kept: kept.map(({ name }) => name),
      ...(refused !== undefined && { refused }),
      ...(backup !== undefined && { backup }),
    })),
  };
}

function flawsOf(sources: readonly ReadSource[], names: readonly string[]) {
  return sources.flatMap((source) =>
    source.parsed.flaws
      .filter(({ name }) => names.length === 0 || names.includes(name))
      .map(({ name, message }) => ({ source, name, message })),
  );
}

export function renderFlaws(sources: readonly ReadSource[], names: readonly string[]): string {
  return flawsOf(sources, names)
    .map(({ source, name, message }) => `Skipped: ${quoted(name)} of ${placeOf(source)}: ${oneLine(message)}.\n`)
    .join('');
}

/** Lists the servers that clients now also start directly, with the edit that ends it or its result. */
export function renderRemovals(
  plan: ImportPlan,
  removals: readonly Removal[] | undefined,
  { dryRun }: { dryRun: boolean },
): string {
  if (removals) return removals.map((removal) => renderRemoval(removal, dryRun)).join('');
  const exposed = [...exposedTwice(plan)];
  if (exposed.length === 0) return '';
  const lines = exposed.map(
    ([{ title, file }, servers]) =>
      `  ${title}: delete ${servers.map(({ path }) => shownPath(file, path)).join(', ')} in ${file}`,
  );
  return `These clients still start the same servers directly, in addition to the gateway. To stop that (or use --remove-from-source):\n${lines.join('\n')}\n`;
}

function renderRemoval({ source, removed, kept, refused, backup }: Removal, dryRun: boolean): string {
  const { file, scope } = source;
  const keys = (servers: readonly PlannedServer[]): string =>
    servers.map(({ path }) => shownPath(file, path)).join(', ');
  const lines: string[] = [];
  if (refused !== undefined) lines.push(`${file} was not changed (${refused}); delete ${keys(removed)} by hand.`);
  else if (removed.length > 0) {
    const kind = scope === 'user' ? ' It is your user-level file: other folders lose them too.' : '';
    lines.push(
      dryRun
        ? `Would remove ${keys(removed)} from ${file}, after a backup.${kind}`
        : `Removed ${keys(removed)} from ${file}; the backup is ${backup}.${kind}`,
    );
  }
  if (kept.length > 0)
    lines.push(`Kept in ${file}, because this version of Waygate cannot start it yet: ${keys(kept)}.`);
  return lines.map((line) => `${line}\n`).join('');
}
