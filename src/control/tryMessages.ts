/**
 * Messages between the page *Try Tool* and the extension. Arguments and definitions travel as JSON text: the editor's own
 * transport gives some objects a meaning. Each side validates the messages of the other.
 */
import type { Safety } from '../catalog/types.ts';

/** Tool as the page shows it. */
export interface TriedTool {
  /** Name of the folder's gateway. */
  folder: string;
  toolId: string;
  name: string;
  title?: string;
  description: string;
  server: string;
  safety: Safety;
  schema: unknown;
}

export interface PlacedProblem {
  path: readonly string[];
  message: string;
}

/** Judgement of the worker's dry run. `refused`: by a rule or a limit; `unknown`: there was no judgement. */
export type Verdict =
  | { kind: 'valid'; notes: readonly string[] }
  | { kind: 'invalid'; problems: readonly PlacedProblem[]; more: number }
  | { kind: 'refused' | 'unknown'; reason: string };

/** Figures of a run, which the worker counts after its answer. */
export interface Figures {
  durationMs: number;
  /** Whole results, where the answer is shorter. */
  handles: readonly string[];
  tokens?: { came: number; shown: number };
}

/** End of a run. */
export interface Outcome {
  isError: boolean;
  /** Answer as the model gets it, one text for each part. */
  answer: readonly string[];
  figures: Figures;
}

/** Earlier call of the tool, by an agent or by the user. */
export interface PastCall {
  id: number;
  at: number;
  client: string;
  isError: boolean;
  durationMs: number;
}

export type ToTry =
  /** `json`: a `TriedTool`. */
  | { type: 'tool'; json: string }
  | { type: 'unavailable'; reason: string }
  | { type: 'arguments'; json: string }
  | { type: 'notice'; text: string }
  | { type: 'verdict'; check: number; verdict: Verdict }
  /** `waits`: the user has not answered the question about the call yet. */
  | { type: 'running'; waits: boolean }
  | { type: 'outcome'; outcome: Outcome }
  | { type: 'figures'; figures: Figures }
  | { type: 'history'; calls: readonly PastCall[] };

export type FromTry =
  | { type: 'ready' }
  /** `json`: arguments of the tool. */
  | { type: 'check'; check: number; json: string }
  | { type: 'run'; json: string }
  | { type: 'copy'; json: string }
  | { type: 'cancel' }
  | { type: 'recall'; id: number }
  | { type: 'openResult'; handle: string };

/** Returns a well-formed message, or undefined for anything else. A page is never trusted. */
export function parseFromTry(message: unknown): FromTry | undefined {
  if (!isRecord(message)) return undefined;
  const { type, check, json, id, handle } = message;
  switch (type) {
    case 'ready':
    case 'cancel':
      return { type };
    case 'check':
      return isArguments(json) && Number.isSafeInteger(check) ? { type, check: check as number, json } : undefined;
    case 'run':
    case 'copy':
      return isArguments(json) ? { type, json } : undefined;
    case 'recall':
      return Number.isSafeInteger(id) ? { type, id: id as number } : undefined;
    case 'openResult':
      return typeof handle === 'string' ? { type, handle } : undefined;
    default:
      return undefined;
  }
}

const TO_TRY: Readonly<Record<ToTry['type'], string>> = {
  tool: 'json',
  unavailable: 'reason',
  arguments: 'json',
  notice: 'text',
  verdict: 'verdict',
  running: 'waits',
  outcome: 'outcome',
  figures: 'figures',
  history: 'calls',
};

/** Returns a message of the extension. Other scripts can post to a window too. */
export function parseToTry(message: unknown): ToTry | undefined {
  if (!isRecord(message) || typeof message.type !== 'string' || !Object.hasOwn(TO_TRY, message.type)) return undefined;
  const content = message[TO_TRY[message.type as ToTry['type']]];
  return content === undefined ? undefined : (message as unknown as ToTry);
}

function isArguments(json: unknown): json is string {
  if (typeof json !== 'string') return false;
  try {
    return isRecord(JSON.parse(json));
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
