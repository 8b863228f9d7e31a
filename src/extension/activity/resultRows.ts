import type { ArtifactPage, ArtifactRow } from '../../control/artifactContract.ts';
import { duration, groupDigits, oneLine } from '../../text/porcelain.ts';
import { extensionOf, kindWords, sizeWords } from '../documents/resultText.ts';
import { t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import type { Row, TooltipPart } from '../tree/treeRow.ts';

/** Results of one call; a result whose call is unknown is alone. */
export interface ResultGroup {
  id: string;
  results: readonly ArtifactRow[];
}

/** Groups results of the same call. They keep their order, newest first. */
export function groupedResults(artifacts: readonly ArtifactRow[]): ResultGroup[] {
  const groups = new Map<string, ArtifactRow[]>();
  for (const row of artifacts) {
    const id = row.callId === undefined ? `result:${row.handle}` : `results:${row.callId}`;
    groups.set(id, [...(groups.get(id) ?? []), row]);
  }
  return [...groups].map(([id, results]) => ({ id, results }));
}

export function resultRow(row: ArtifactRow, now: number): Row {
  const name = sourceName(row);
  const description = `${kindOf(row)} · ${sizeWords(row.size)} · ${age(row, now)}`;
  return {
    id: `result:${row.handle}`,
    label: notificationText`${name}`,
    description: notificationText`${description}`,
    icon: { id: iconOf(row) },
    contextValue: 'waygate.result',
    accessibilityLabel: notificationText`${name}, ${kindOf(row)}, ${sizeWords(row.size)}, ${age(row, now)} old`,
  };
}

export function resultGroupRow({ id, results }: ResultGroup, now: number): Row {
  const [first] = results as readonly [ArtifactRow, ...ArtifactRow[]];
  const name = sourceName(first);
  const size = sizeWords(results.reduce((sum, row) => sum + row.size, 0));
  const description = [t`${results.length} results`, size, age(first, now)].join(' · ');
  return {
    id,
    label: notificationText`${name}`,
    description: notificationText`${description}`,
    icon: { id: 'files' },
    contextValue: 'waygate.resultGroup',
    accessibilityLabel: notificationText`${name}, ${description}`,
  };
}

export function resultTooltip(row: ArtifactRow): TooltipPart[] {
  return [
    { style: 'title', text: oneLine(row.label, 200) },
    { style: 'code', text: row.handle },
    {
      style: 'text',
      text: t`${oneLine(row.mediaType, 100)}, ${groupDigits(row.size)} bytes, ${groupDigits(row.lines)} lines.`,
    },
  ];
}

/** Describes how much of its bounds the store uses. */
export function useMessage({ use, artifacts }: ArtifactPage): NotificationText {
  if (use.count === 0) return notificationText`No results are kept yet. Long results of tools appear here.`;
  const { bytes, maxBytes, count, maxCount, maxAgeMs } = use;
  const sentences = [
    t`${sizeWords(bytes)} of ${sizeWords(maxBytes)}, ${groupDigits(count)} of ${groupDigits(maxCount)}; kept for ${ageWords(maxAgeMs)} after the last use.`,
    ...(artifacts.length < count ? [t`Listed: the newest ${groupDigits(artifacts.length)}.`] : []),
  ];
  return notificationText`${sentences.join(' ')}`;
}

function sourceName({ toolId, server, label }: ArtifactRow): string {
  const tool = toolId?.replace(/^[^:]*:/, '').replace(/#[0-9a-f]{8}$/, '');
  return oneLine(tool || server || label, 80);
}

function kindOf({ mediaType }: ArtifactRow): string {
  return kindWords(extensionOf(mediaType, new Uint8Array()));
}

function iconOf({ mediaType }: ArtifactRow): string {
  if (mediaType.startsWith('image/')) return 'file-media';
  if (/\bjson\b/.test(mediaType)) return 'json';
  return mediaType.startsWith('text/') ? 'file' : 'file-binary';
}

const DAY_MS = 24 * 60 * 60 * 1_000;

function age({ at }: ArtifactRow, now: number): string {
  return ageWords(Math.max(0, now - at));
}

function ageWords(ms: number): string {
  return ms < 2 * DAY_MS ? duration(ms) : t`${Math.round(ms / DAY_MS)} days`;
}
