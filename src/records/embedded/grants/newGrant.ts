import { hash, randomBytes } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { StreamDeclaration } from '../store/declaration.ts';
import { isoTime } from '../store/values.ts';
import type { GrantSource, StoredGrant } from './grantFile.ts';

/** Error for a grant that cannot be given, in one sentence. */
export class GrantRefused extends Error {
  override readonly name = 'GrantRefused';
}

export interface GrantWish {
  /** `history`, `agents`, or the path of a folder. */
  readonly subject: string;
  /** Streams as `name`, or `name=field,field`; all streams where the list is empty. */
  readonly streams: readonly string[];
  /** Times such as `2026-11-01`, or `30d` before or after now. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly expires?: string | undefined;
}

/** Returns the source that a subject names. A folder is kept by its real path, which a link cannot change later. */
export function sourceOf(subject: string, from: string): GrantSource {
  if (subject === 'history' || subject === 'agents') return { kind: subject };
  const path = resolve(from, subject);
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    throw new GrantRefused(`${path} is not there; name history, agents or a folder.`);
  }
  if (!lstatSync(real).isDirectory())
    throw new GrantRefused(`${real} is not a folder; name history, agents or a folder.`);
  return { kind: 'folder', path: real, name: basename(real) || real };
}

/** Id of the connection of a source. Two folders of one name get different ids. */
export function connectionOf(source: GrantSource): string {
  if (source.kind !== 'folder') return source.kind;
  const name = source.name.replace(/[^A-Za-z0-9_-]+/g, '_');
  return `folder-${name}-${hash('sha256', source.path, 'hex').slice(0, 6)}`;
}

/** Makes a grant. `known` are the streams of the source: a name that they lack is refused rather than ignored. */
export function newGrant(
  wish: GrantWish,
  source: GrantSource,
  known: readonly StreamDeclaration[],
  now: Date,
): StoredGrant {
  const since = timeOf('--since', wish.since, now, -1);
  const until = timeOf('--until', wish.until, now, -1);
  const expires = timeOf('--expires', wish.expires, now, 1);
  if (since !== undefined && until !== undefined && since >= until) {
    throw new GrantRefused('--since must be before --until.');
  }
  if (expires !== undefined && expires <= now.toISOString()) throw new GrantRefused('--expires is in the past.');
  return {
    id: `grt_${randomBytes(8).toString('hex')}`,
    connection: connectionOf(source),
    source,
    streams: wish.streams.length === 0 ? 'all' : wish.streams.map((text) => streamIn(text, known)),
    created: now.toISOString(),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(expires !== undefined && { expires }),
  };
}

function streamIn(text: string, known: readonly StreamDeclaration[]): { name: string; fields: 'all' | string[] } {
  const [name = '', list] = text.split('=', 2);
  const stream = known.find((one) => one.name === name);
  if (!stream) {
    throw new GrantRefused(`There is no stream ${name}; the streams are ${known.map((one) => one.name).join(', ')}.`);
  }
  if (list === undefined) return { name, fields: 'all' };
  const fields = list.split(',').map((field) => field.trim());
  const stray = fields.find((field) => !Object.hasOwn(stream.fields, field));
  if (stray !== undefined) {
    throw new GrantRefused(`${name} has no field ${stray}; its fields are ${Object.keys(stream.fields).join(', ')}.`);
  }
  return { name, fields };
}

const SPAN = /^(\d{1,4})([hdw])$/;
const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24, w: 168 };

function timeOf(option: string, text: string | undefined, now: Date, sign: 1 | -1): string | undefined {
  if (text === undefined) return undefined;
  const [, amount, unit = ''] = SPAN.exec(text) ?? [];
  const time =
    amount === undefined
      ? isoTime(text)
      : isoTime(now.getTime() + sign * Number(amount) * (HOURS[unit] ?? 0) * 3_600_000);
  if (time === undefined) throw new GrantRefused(`${option} takes a time such as 2026-11-01, or a span such as 30d.`);
  return time;
}
