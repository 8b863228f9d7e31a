import { sha256 } from '../../catalog/shapeHash.ts';
import { PINNED_PARTS, type PinnedPart } from './pinnedItems.ts';

/** Pins of one server. */
export interface ServerPins {
  /** Hash of the launch that the baseline belongs to. */
  readonly launch: string;
  /** Time of the baseline, ISO 8601. */
  readonly since: string;
  /** Parts whose first list is pinned. Later items of these parts are new. */
  readonly parts: readonly PinnedPart[];
  /** Approved pin of each item, by its key. */
  readonly pins: Readonly<Record<string, string>>;
  /** Items that the user blocked, whatever their pin. */
  readonly blocked: readonly string[];
  /** Why nothing of the server is offered. */
  readonly quarantine?: string;
}

/** Everything that the user, or a baseline, approved in one workspace, by server. */
export type PinBook = Readonly<Record<string, ServerPins>>;

/**
 * State of an item. `approved`: equals its pin. `new`: has no pin. `changed`: differs from its pin. `gone`: no longer
 * listed. `blocked`: the user blocked it.
 */
export type ItemState = 'approved' | 'new' | 'changed' | 'gone' | 'blocked';

/**
 * Returns the state of an item. The state follows from the book and the listing alone, so that no restart, refresh or
 * second worker can change it, and an item that returns to its pinned text is approved again.
 */
export function stateOf(pins: Pick<ServerPins, 'pins' | 'blocked'>, key: string, pin: string | undefined): ItemState {
  if (pins.blocked.includes(key)) return 'blocked';
  // The part in front of each key keeps it apart from the properties that every object has.
  const approved = pins.pins[key];
  if (pin === undefined) return 'gone';
  if (approved === undefined) return 'new';
  return approved === pin ? 'approved' : 'changed';
}

const FORMAT = 'waygate pins 1';

/** Serialises a book under a line with its checksum, so that no damage can pass for a server without pins. */
export function writeBook(book: PinBook): string {
  const text = JSON.stringify(book);
  return `${FORMAT} ${sha256(text)}\n${text}`;
}

/** Reads a book; `undefined` if the text is not exactly what `writeBook` wrote. */
export function readBook(written: string): PinBook | undefined {
  const end = written.indexOf('\n');
  const text = written.slice(end + 1);
  if (written.slice(0, end) !== `${FORMAT} ${sha256(text)}`) return undefined;
  try {
    const book: unknown = JSON.parse(text);
    const isBook = book !== null && typeof book === 'object' && Object.values(book).every(isServerPins);
    return isBook ? (book as PinBook) : undefined;
  } catch {
    return undefined;
  }
}

function isServerPins(value: unknown): value is ServerPins {
  const { launch, since, parts, pins, blocked } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof launch === 'string' &&
    typeof since === 'string' &&
    Array.isArray(parts) &&
    parts.every((part) => PINNED_PARTS.includes(part)) &&
    pins !== null &&
    typeof pins === 'object' &&
    Object.values(pins).every((pin) => typeof pin === 'string') &&
    Array.isArray(blocked)
  );
}
