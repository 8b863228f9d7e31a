import type { CallRecord } from '../../control/activityContract.ts';
import type { ControlRequests } from '../../control/contract.ts';
import { SERVER_STATES, type ServerState, serverState } from '../../control/serverStates.ts';
import type { ToolDetails } from '../../control/toolContract.ts';
import type { Figures, Outcome, PastCall, PlacedProblem, TriedTool, Verdict } from '../../control/tryMessages.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { oneLine } from '../../text/porcelain.ts';
import { t, translated } from '../l10n.ts';

/** Answers of the worker as the page *Try Tool* shows them. */

export type CallAnswer = ControlRequests['callTool']['result'];

/** Returns the tool of a page. The definition is foreign; a tool without a schema takes any arguments. */
export function triedTool(folder: string, details: ToolDetails): TriedTool {
  const { toolId, name, title, description, server, safety, definition } = details;
  return {
    folder,
    toolId,
    name,
    ...(title !== undefined && { title }),
    description,
    server,
    safety,
    schema: isRecord(definition) ? (definition.inputSchema ?? {}) : {},
  };
}

/** Reads the judgement of a dry run, asked for as JSON. */
export function verdictOf({ structuredContent, content, isError }: CallAnswer): Verdict {
  const report: Readonly<Record<string, unknown>> = isRecord(structuredContent) ? structuredContent : {};
  if (isError !== true && report.dry_run === true) return judged(report);
  const message = typeof report.message === 'string' ? report.message : textOf(content).join('\n');
  if (report.error !== 'ARGS_INVALID') return { kind: 'refused', reason: oneLine(message, 500) };
  const details = isRecord(report.details) ? report.details : {};
  const { problems, places, more_problems: more } = details;
  if (!Array.isArray(problems)) return { kind: 'refused', reason: oneLine(message, 500) };
  return {
    kind: 'invalid',
    problems: problems.map((problem, index): PlacedProblem => {
      const place: unknown = Array.isArray(places) ? places[index] : undefined;
      return { path: Array.isArray(place) ? place.map(String) : [], message: oneLine(String(problem), 500) };
    }),
    more: typeof more === 'number' ? more : 0,
  };
}

function judged(report: Readonly<Record<string, unknown>>): Verdict {
  const { checks, policy, server, arg_repairs: repairs, expected } = report;
  const failed = list(checks).find(({ status }) => status !== 'pass' && status !== 'skipped');
  const asks = isRecord(policy) && policy.action === 'require_approval' && policy.remembered !== true;
  if (failed !== undefined && !asks) {
    const why = [failed.name, failed.reason].filter((part) => typeof part === 'string').join(': ');
    return { kind: 'refused', reason: oneLine(t`Would not be sent (${why})`, 500) };
  }
  const unchecked = list(checks).find(({ name, status }) => name === 'schema_validation' && status === 'skipped');
  const state = isRecord(server) ? String(server.state) : '';
  const time = isRecord(expected) && isRecord(expected.duration_ms) ? expected.duration_ms.median : undefined;
  return {
    kind: 'valid',
    notes: [
      unchecked === undefined ? t`Arguments are valid` : t`Not checked: ${oneLine(String(unchecked.reason), 200)}`,
      ...list(repairs).map(({ path, rule }) => oneLine(t`${String(path)} would be repaired by ${String(rule)}`, 200)),
      ...(asks ? [t`asks you first`] : []),
      ...(state !== '' && state !== 'ready' ? [t`server: ${stateName(state)}`] : []),
      ...(typeof time === 'number' ? [t`usually ${Math.round(time)} ms`] : []),
    ],
  };
}

/** Names a state of a server as the tree does. A newer worker may have others. */
function stateName(state: string): string {
  return Object.hasOwn(SERVER_STATES, state)
    ? translated(serverState(state as ServerState).words)
    : oneLine(state, 40).replaceAll('_', ' ');
}

export function outcomeOf(answer: CallAnswer, durationMs: number, record: CallRecord | undefined): Outcome {
  return {
    isError: answer.isError === true,
    answer: textOf(answer.content),
    figures: record ? figuresOf(record) : { durationMs, handles: [] },
  };
}

export function figuresOf({ durationMs, handles, tokensIn, tokensOut }: CallRecord): Figures {
  const isCounted = tokensIn !== undefined && tokensOut !== undefined;
  return { durationMs, handles, ...(isCounted && { tokens: { came: tokensIn, shown: tokensOut } }) };
}

/** Returns the texts of an answer. A part without text is named by its type. */
function textOf(content: CallAnswer['content']): string[] {
  return content.map(({ type, text }) => text ?? `[${oneLine(type, 40)}]`);
}

export function pastCalls(calls: readonly CallRecord[]): PastCall[] {
  return calls
    .filter(({ phase, metaTool }) => phase === 'done' && metaTool === 'tool_execute')
    .map(({ id, at, session, client, outcome, durationMs }) => ({
      id,
      at,
      client: session === 'you' ? 'you' : oneLine(client, 40),
      isError: outcome === 'error',
      durationMs,
    }));
}

/** Returns the arguments of a kept call as JSON: those of the tool, without its id. */
export function argumentsOf(kept: unknown): string | undefined {
  if (!isRecord(kept)) return undefined;
  const isCall = typeof kept.tool_id === 'string';
  const args = isCall ? (kept.args ?? kept.arguments ?? {}) : kept;
  return isRecord(args) ? JSON.stringify(args) : undefined;
}

function list(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
