import type { ImportPlan, PlannedServer } from '../../import/planImport.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { Choice } from '../windows.ts';

/** Row of the selection list. */
export interface ImportItem extends Required<Choice> {
  key: string;
}

/** Name that belongs to another server in the file. */
export interface Conflict {
  key: string;
  name: string;
  /** Name for the new server if both are kept. */
  free: string;
  source: string;
}

export function importItems(plan: ImportPlan): ImportItem[] {
  return plan.servers
    .filter(({ outcome }) => outcome !== 'own')
    .map((server) => ({
      key: server.key,
      label: notificationText`${server.target}`,
      description: notificationText`${server.source.title} · ${server.source.file}`,
      detail: notificationText`${plan.redact(details(server).join(' · '))}`,
      picked: server.outcome === 'added' || server.outcome === 'renamed',
    }));
}

function details({ outcome, name, target, notes, references, cannotStart }: PlannedServer): string[] {
  if (outcome === 'present')
    return [name === target ? t`already there` : t`already there; called "${name}" in its file`];
  if (outcome === 'duplicate') return [t`the same server as "${target}"`];
  return [
    ...notes,
    ...references.map(({ where, reference, differs }) =>
      differs ? t`${where} becomes ${reference} (another value)` : t`${where} becomes ${reference}`,
    ),
    ...(cannotStart === undefined ? [] : [t`cannot start yet: ${cannotStart}`]),
  ];
}

/** Returns the conflicts for the user to resolve. Two imported servers with equal names are both kept. */
export function conflictsOf(plan: ImportPlan): Conflict[] {
  const coming = new Set(plan.servers.filter(isNew).map(({ target }) => target));
  return plan.servers
    .filter(({ outcome, name }) => outcome === 'renamed' && !coming.has(name))
    .map(({ key, name, target, source }) => ({ key, name, free: target, source: source.title }));
}

function isNew({ outcome }: PlannedServer): boolean {
  return outcome === 'added' || outcome === 'renamed' || outcome === 'replaced';
}
