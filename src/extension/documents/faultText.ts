import type { CallDetails, CallRecord } from '../../control/activityContract.ts';
import type { ServerRemedy, ServerStatus } from '../../control/contract.ts';
import { latency, oneLine } from '../../text/porcelain.ts';
import { visibleJson, visibleText } from '../../text/visibleText.ts';
import type { CommandId } from '../contributions.ts';
import { t } from '../l10n.ts';
import { remedyStep } from '../status/remedies.ts';

/** Button of a fault document, above the line of its step. */
export interface FaultAction {
  line: number;
  title: string;
  command: CommandId;
}

export interface FaultDocument {
  text: string;
  actions: readonly FaultAction[];
}

export interface FaultSource {
  details: CallDetails;
  /** Server of the call as it is now. */
  server?: ServerStatus;
  /** The worker ended during the call. */
  lost?: boolean;
}

const MAX_STDERR_LINES = 100;

/** Renders what happened, what is known of the effect, what the gateway did, and what the user can do. */
export function faultDocument({ details, server, lost = false }: FaultSource): FaultDocument {
  const steps = stepsOf(details, server, lost);
  const stderr = (details.fault?.stderr ?? []).slice(-MAX_STDERR_LINES);
  const lines = [
    `# ${titleOf(details, lost)}`,
    '',
    headline(details, lost),
    '',
    `## ${t`What happened`}`,
    '',
    ...happened(details, lost),
    '',
    `## ${t`What is known of the effect`}`,
    '',
    effectWords(details, lost),
    '',
    `## ${t`What the gateway did`}`,
    '',
    ...handled(details, lost),
    '',
    `## ${t`What you can do`}`,
    '',
  ];
  const actions: FaultAction[] = [];
  for (const { words, action } of steps) {
    if (action) actions.push({ line: lines.length, ...action });
    lines.push(`- ${words}`);
  }
  if (details.record.server !== undefined) {
    const none = lost ? t`The output of that moment is not known.` : t`The server had written nothing to stderr.`;
    lines.push('', `## ${t`Output of the server at that moment`}`, '');
    lines.push(...(stderr.length > 0 ? fence(stderr.join('\n')) : [none]));
  }
  return { text: `${lines.join('\n')}\n`, actions };
}

function titleOf({ record, fault }: CallDetails, lost: boolean): string {
  const name = code(record.toolId?.replace(/^[^:]*:|#[0-9a-f]{8}$/g, '') ?? record.metaTool);
  if (lost) return t`${name} was lost`;
  return fault || record.outcome === 'error' ? t`${name} failed` : t`${name} did not fail`;
}

function headline({ record, fault }: CallDetails, lost: boolean): string {
  const subject = code(record.toolId ?? record.metaTool);
  const name = record.server === undefined ? subject : t`${subject} of the server ${code(record.server)}`;
  const caller = record.client === 'you' ? t`you` : code(record.client);
  const at = new Date(record.at).toISOString();
  if (lost) return t`${name} was called by ${caller} at ${at}, and the gateway ended during the call.`;
  const took = latency(record.durationMs);
  if (record.outcome !== 'error') return t`${name} was called by ${caller} at ${at}, and took ${took}.`;
  const fails = code(fault?.code ?? record.errorCode ?? 'ERROR');
  return t`${name} was called by ${caller} at ${at}, and failed after ${took} with ${fails}.`;
}

function happened({ record, fault, problems }: CallDetails, lost: boolean): string[] {
  const message = fault?.message ?? record.errorMessage;
  return [
    ...(message ? fence(message) : []),
    ...(lost ? [t`The gateway ended before the call did, so no more than this is known.`] : []),
    ...(!message && !lost ? [t`No fault is recorded.`] : []),
    ...(problems.length > 0 ? ['', ...problems.map((problem) => `- ${code(problem)}`)] : []),
    ...(fault?.details && Object.keys(fault.details).length > 0
      ? ['', ...fence(visibleJson(fault.details, 2), 'json')]
      : []),
  ];
}

function effectWords({ record: { effect } }: CallDetails, lost: boolean): string {
  if (lost || effect === 'unknown') {
    return t`**Unknown: check before you repeat.** The server may have carried the call out, or parts of it.`;
  }
  return effect === 'none'
    ? t`None. Nothing was carried out, so the call can be repeated.`
    : t`Done. The server carried the call out, and repeating it may carry it out twice.`;
}

function handled({ record, fault, attempts, repairs }: CallDetails, lost: boolean): string[] {
  const steps = [
    ...repairs.map(({ path, rule }) =>
      path
        ? t`Corrected ${code(path)} by the rule ${code(rule)}.`
        : t`Corrected the arguments by the rule ${code(rule)}.`,
    ),
    ...(fault?.handled ?? []).map((step) => plain(step)),
    ...(attempts.length > 1
      ? attempts.map(({ outcome, durationMs }, index) => {
          const [number, end] = [index + 1, code(outcome)];
          return durationMs === undefined
            ? t`Try ${number} ended: ${end}`
            : t`Try ${number} ended after ${latency(durationMs)}: ${end}`;
        })
      : []),
    ...(!lost && !fault?.handled.length && record.effect === 'unknown'
      ? [t`The gateway did not repeat the call, because a repeated call may take effect twice.`]
      : []),
  ];
  if (steps.length > 0) return steps.map((step) => `- ${step}`);
  return [lost ? t`The gateway ended, and the editor started another one.` : t`The gateway only reported the fault.`];
}

interface Step {
  words: string;
  action?: Pick<FaultAction, 'title' | 'command'>;
}

function remedyWords(remedy: ServerRemedy): string {
  switch (remedy.kind) {
    case 'approve':
      return t`Approve the command of the server; until then it does not start.`;
    case 'review':
      return t`Review what the server has changed; until then the changed tools are not offered.`;
    case 'secret':
      return t`Set the secret ${code(remedy.key)} of the server.`;
    case 'sign_in':
      return t`Sign in to the server.`;
    case 'edit':
      return t`Correct the configuration in line ${remedy.location.line} of ${code(remedy.location.file)}.`;
    case 'restart':
      return t`Restart the server.`;
    case 'wait':
      return t`Wait ${latency(remedy.ms)}: the gateway starts the server again by itself.`;
  }
}

function remedyOf(server: ServerStatus | undefined): Step[] {
  const step = server && remedyStep(server);
  if (!server?.remedy || !step) return [];
  const words = remedyWords(server.remedy);
  if (server.remedy.kind === 'wait') return [{ words }];
  if (server.remedy.kind === 'restart')
    return [{ words, action: { title: t`Restart`, command: 'waygate.restartServer' } }];
  return [{ words, action: { title: step.button, command: step.command } }];
}

/** Returns the step after a failed or lost call in a sentence; undefined if its message has it, or none is needed. */
export function nextStep(record: CallRecord, server: ServerStatus | undefined, lost: boolean): string | undefined {
  const [remedy] = remedyOf(server);
  if (remedy || (!lost && record.errorCode === 'CANCELLED')) return remedy?.words;
  // The message of a call with an unknown effect says what to check.
  if (record.effect === 'unknown' && !lost && record.errorMessage) return undefined;
  return stepsOf({ record }, server, lost)[0]?.words;
}

function stepsOf(
  { record, fault }: Pick<CallDetails, 'record' | 'fault'>,
  server: ServerStatus | undefined,
  lost: boolean,
): Step[] {
  const isUnknown = lost || record.effect === 'unknown';
  return [
    ...remedyOf(server),
    ...(isUnknown
      ? [{ words: t`Check at the server whether the call took effect. Repeat it only if it did not.` }]
      : []),
    ...(fault?.advice ? [{ words: t`Advice that the model got: ${plain(fault.advice)}` }] : []),
    ...(record.toolId === undefined
      ? []
      : [
          {
            words: t`Look at the arguments, and try the tool by hand.`,
            action: { title: t`Try Again with These Arguments…`, command: 'waygate.tryAgain' as const },
          },
        ]),
    ...(record.server === undefined
      ? []
      : [
          {
            words: t`Read the whole log of the server.`,
            action: { title: t`Show Server Log`, command: 'waygate.openServerLog' as const },
          },
        ]),
  ];
}

/** Returns foreign text as a span of code, in which no Markdown works. */
function code(text: string): string {
  const line = oneLine(text, 500);
  const ticks = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** Returns words as they are where they hold no markup, and as a span of code otherwise. */
function plain(text: string): string {
  return /^[\w .,:;()'%/-]*$/.test(text) ? text : code(text);
}

/** Returns foreign text as a block that it cannot end. */
function fence(text: string, language = 'text'): string[] {
  const visible = visibleText(text);
  const ticks = '`'.repeat(Math.max(3, longestRun(visible) + 1));
  return [`${ticks}${language}`, ...visible.split('\n'), ticks];
}

function longestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
}
