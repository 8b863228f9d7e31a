import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { configFile } from '../../config/state/configPlaces.ts';
import { FileSecrets } from '../../config/state/fileSecrets.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import { CLIENT_IDS, type ClientId } from '../../import/clientIds.ts';
import {
  type FoundSources,
  findSources,
  placesOf,
  readNamedSource,
  readTextIfThere,
  replaceFile,
} from '../../import/importFiles.ts';
import { importData, renderFlaws, renderList, renderRemovals, renderSummary } from '../../import/importReport.ts';
import { type ImportPlan, ImportRefused, planImport, type ReadSource } from '../../import/planImport.ts';
import { planRemovals, type Removal, remove } from '../../import/removeEntries.ts';
import { type Surroundings, surroundingsOf } from '../../import/surroundings.ts';
import { didYouMean } from '../../text/nearest.ts';
import type { ImportCommand } from '../commands.ts';
import { jsonText, problemLine } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { NO_INPUT, UNREADABLE, UsageError } from '../usageError.ts';

export async function importServers(
  command: ImportCommand,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const at = surroundingsOf(command.workspace, env);
  const { sources, unreadable, missing } = gather(command, at);
  for (const { message } of unreadable) terminal.err(problemLine(message));
  for (const sentence of missing) terminal.err(problemLine(sentence));
  const code = exitCode(command, { sources, unreadable, missing });
  if (sources.length === 0) {
    if (command.from.length === 0 && unreadable.length === 0) terminal.err(nothingFound(at));
    return code;
  }
  try {
    return (await carryOut(command, env, terminal, sources)) || code;
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error;
    terminal.err(problemLine(error.message));
    return UNREADABLE;
  }
}

async function carryOut(
  command: ImportCommand,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
  sources: readonly ReadSource[],
): Promise<number> {
  const { workspace, names, dryRun, json } = command;
  checkNames(names, sources);
  const file = command.configFile ?? configFile(workspace);
  const within = command.configFile === undefined ? workspace : undefined;
  const current = readTextIfThere(file, within);
  const accept = (_key: string, name: string): boolean => names.length === 0 || names.includes(name);
  const plan = planImport({ file, current, workspace, env, sources, accept });
  const secrets = new FileSecrets(stateRoot(env), workspace);
  const say = (text: string): void => terminal.out(plan.redact(text));
  // With `--json` the caller is a program, which cannot answer questions.
  const interactive = terminal.interactive && !json;

  const chosen = command.all || names.length > 0 || command.from.length > 0 || dryRun;
  if (!chosen && plan.changed) {
    if (!json) say(renderList(plan));
    if (!interactive) {
      throw new UsageError('import needs a selection: name servers, or use --all, --from or --dry-run.');
    }
    if (!(await terminal.confirm(`Import ${plan.servers.length === 1 ? 'it' : 'them'} into ${file}?`, true))) {
      say('Nothing was written.\n');
      return 0;
    }
  }
  const planned = command.removeFromSource ? planRemovals(plan) : [];
  const removals =
    dryRun || (await mayRemove(command, plan, planned, { ...terminal, out: say, interactive })) ? planned : [];
  const diff = dryRun && plan.changed ? patchOf(file, current, plan.after) : '';
  if (!dryRun) {
    if (plan.changed) replaceFile(file, current, plan.after, within);
    // Store secrets only after the file is written: otherwise a stored value could remain without a reference.
    await plan.keepSecrets((name, value) => secrets.set(name, value));
    for (const removal of removals) if (removal.after !== undefined) remove(removal);
  }
  if (json) {
    const data = importData(plan, sources, { names, dryRun, removals, keptIn: secrets.file });
    const output = dryRun ? { ...data, diff } : data;
    // Redact before escaping: JSON's backslashes would hide a secret.
    const redacted = (_key: string, value: unknown) => (typeof value === 'string' ? plan.redact(value) : value);
    terminal.out(jsonText(JSON.parse(JSON.stringify(output, redacted))));
    return 0;
  }
  say(diff);
  say(renderSummary(plan, { dryRun, keptIn: secrets.file }));
  say(renderFlaws(sources, names));
  say(renderRemovals(plan, command.removeFromSource && removals === planned ? removals : undefined, { dryRun }));
  if (!dryRun && plan.servers.length > 0)
    terminal.err('Next: waygate approve --all shows what each server would run, and asks.\n');
  return 0;
}

/** Shows which entries would disappear from the files of the clients, and asks; the import itself goes on without. */
async function mayRemove(
  { yes, json }: ImportCommand,
  plan: ImportPlan,
  planned: readonly Removal[],
  { out, err, interactive, confirm }: Terminal,
): Promise<boolean> {
  if (yes || planned.every(({ after }) => after === undefined)) return true;
  if (!json) out(renderRemovals(plan, planned, { dryRun: true }));
  if (interactive) return confirm('Remove them?', false);
  err(problemLine('nothing was removed from the files of the clients, because nobody can be asked here; add --yes.'));
  return false;
}

/** Renders the change like `diff -u`. A difference in line endings alone is no change. */
function patchOf(file: string, before: string | undefined, after: string): string {
  const options = { context: 3, stripTrailingCr: true, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(before === undefined ? '/dev/null' : file, file, before ?? '', after, '', '', options);
}

interface Gathered extends FoundSources {
  missing: readonly string[];
}

function gather({ from }: ImportCommand, at: Surroundings): Gathered {
  if (from.length === 0) return { ...findSources(at, CLIENT_IDS), missing: [] };
  const parts: FoundSources[] = [];
  const missing: string[] = [];
  for (const one of new Set(from)) {
    const client = CLIENT_IDS.find((id) => id === one);
    const found = client ? findSources(at, [client]) : readNamedSource(one, at);
    if (!found && !/[\\/.]/.test(one)) throw new UsageError(unknownClient(one));
    if (!found) missing.push(`the file ${one} does not exist.`);
    else if (client && found.sources.length + found.unreadable.length === 0) missing.push(nothingOf(client, at));
    else parts.push(found);
  }
  const sources = parts.flatMap((part) => part.sources);
  return {
    sources: sources.filter((source, index) => sources.findIndex(({ file }) => file === source.file) === index),
    unreadable: parts.flatMap((part) => part.unreadable),
    missing,
  };
}

function exitCode({ from }: ImportCommand, { sources, unreadable, missing }: Gathered): number {
  if (unreadable.length > 0 && (from.length > 0 || sources.length === 0)) return UNREADABLE;
  return missing.length > 0 || sources.length === 0 ? NO_INPUT : 0;
}

function unknownClient(name: string): string {
  return `import --from "${name}": no client of that name and no such file; ${didYouMean(name, CLIENT_IDS)}`;
}

function nothingOf(client: ClientId, at: Surroundings): string {
  return `${client} has no servers here; looked for ${placesOf(at, [client]).join(', ')}.`;
}

function nothingFound(at: Surroundings): string {
  const looked = `${placesOf(at, CLIENT_IDS).join('\n  ')}\n`;
  return `waygate: no client's configuration was found; name one with --from FILE. Looked for\n  ${looked}`;
}

function checkNames(names: readonly string[], sources: readonly ReadSource[]): void {
  const known = sources.flatMap(({ parsed }) => [...parsed.servers, ...parsed.flaws].map(({ name }) => name));
  for (const name of names) {
    if (known.includes(name)) continue;
    const remedy = didYouMean(name, known, `there are ${[...new Set(known)].join(', ') || 'none'}.`);
    throw new UsageError(`no source has a server "${name}"; ${remedy}`);
  }
}
