import { count, oneLine } from '../text/porcelain.ts';
import { exposedTwice, type ImportPlan, type PlannedServer, type ReadSource, shownPath } from './planImport.ts';

/** What an import tells a person. No line of it holds a secret's value. */

export interface Removal {
  source: ReadSource;
  removed: readonly PlannedServer[];
  /** The gateway has them and cannot start them yet. */
  kept: readonly PlannedServer[];
  before: string;
  /** Undefined when nothing is to be removed. */
  after: string | undefined;
  refused: string | undefined;
  backup?: string;
}

const placeOf = ({ title, file }: ReadSource): string => `${title} (${file})`;
const written = ({ outcome }: PlannedServer): boolean => ['added', 'renamed', 'replaced'].includes(outcome);

/** What was found, before anything is done. */
export function renderList(plan: ImportPlan): string {
  const lines = plan.servers.map((server) => `  ${server.name}  from ${placeOf(server.source)}${remark(server)}`);
  return `Found ${count(plan.servers.length, 'server')}:\n${lines.join('\n')}\n`;
}

function remark({ outcome, target }: PlannedServer): string {
  if (outcome === 'renamed') return `, as "${target}"`;
  if (outcome === 'present') return ', already there';
  if (outcome === 'duplicate') return ', found twice';
  return outcome === 'own' ? ', which is Waygate itself' : '';
}

/** `keptIn`: where the values of secrets go that are inputs now. */
export function renderSummary(plan: ImportPlan, { dryRun, keptIn }: { dryRun: boolean; keptIn: string }): string {
  const lines: string[] = [];
  const added = plan.servers.filter(written);
  const verb = dryRun ? 'Would import' : 'Imported';
  lines.push(
    added.length > 0
      ? `${verb} ${count(added.length, 'server')} into ${plan.file}:`
      : `There is nothing to import into ${plan.file}.`,
  );
  for (const server of added) lines.push(`  ${server.target}  from ${placeOf(server.source)}`, ...details(server));
  for (const { name, target, source, outcome } of plan.servers) {
    const known = name === target ? `"${name}"` : `"${name}" (as "${target}")`;
    if (outcome === 'present') lines.push(`Already there: ${known} of ${placeOf(source)}.`);
    if (outcome === 'duplicate') lines.push(`The same server again: ${known} of ${placeOf(source)}.`);
    if (outcome === 'own') lines.push(`Passed over: "${name}" of ${placeOf(source)} is Waygate itself.`);
  }
  if (added.some(({ references }) => references.some(({ input }) => input !== undefined))) {
    lines.push(`The values of these inputs ${dryRun ? 'would be' : 'are'} kept in ${keptIn}, for you alone.`);
  }
  const waiting = added.filter(({ cannotStart }) => cannotStart !== undefined);
  if (waiting.length > 0) lines.push('This Waygate cannot start yet, and says so until it can:');
  for (const { target, cannotStart } of waiting) lines.push(`  ${target}  ${oneLine(cannotStart ?? '')}`);
  return `${lines.join('\n')}\n`;
}

function details({ notes, references }: PlannedServer): string[] {
  return [
    ...notes.map((note) => `    ${oneLine(note)}`),
    ...references.map(({ where, reference, differs }) => {
      const warning = differs ? ', which holds another value than the file did' : '';
      return `    ${where} stood in clear and is now ${reference}${warning}`;
    }),
  ];
}

/** The same as data; what is redacted in the lines must be redacted here too. */
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
    .map(({ source, name, message }) => `Left out: "${name}" of ${placeOf(source)}: ${oneLine(message)}.\n`)
    .join('');
}

/** Servers that are reachable twice now and the edit that ends it, or what was done about it. */
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
  return `These clients still start the same servers directly, beside the gateway. To end it (--remove-from-source does it):\n${lines.join('\n')}\n`;
}

function renderRemoval({ source, removed, kept, refused, backup }: Removal, dryRun: boolean): string {
  const { file, scope } = source;
  const keys = (servers: readonly PlannedServer[]): string =>
    servers.map(({ path }) => shownPath(file, path)).join(', ');
  const lines: string[] = [];
  if (refused !== undefined) lines.push(`${file} was left as it is (${refused}); delete ${keys(removed)} by hand.`);
  else if (removed.length > 0) {
    const kind = scope === 'user' ? ' It is your own file: other folders lose them too.' : '';
    lines.push(
      dryRun
        ? `Would remove ${keys(removed)} from ${file}, after a copy of it.${kind}`
        : `Removed ${keys(removed)} from ${file}; the file as it was is ${backup}.${kind}`,
    );
  }
  if (kept.length > 0) lines.push(`Kept in ${file}, because this Waygate cannot start it yet: ${keys(kept)}.`);
  return lines.map((line) => `${line}\n`).join('');
}
