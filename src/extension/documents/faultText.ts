import type { CallDetails } from '../../control/activityContract.ts';
import type { ServerRemedy, ServerStatus } from '../../control/contract.ts';
import { latency, oneLine } from '../../text/porcelain.ts';
import { visibleJson, visibleText } from '../../text/visibleText.ts';
import type { CommandId } from '../contributions.ts';

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
    '## What happened',
    '',
    ...happened(details, lost),
    '',
    '## What is known of the effect',
    '',
    effectWords(details, lost),
    '',
    '## What the gateway did',
    '',
    ...handled(details, lost),
    '',
    '## What you can do',
    '',
  ];
  const actions: FaultAction[] = [];
  for (const { words, action } of steps) {
    if (action) actions.push({ line: lines.length, ...action });
    lines.push(`- ${words}`);
  }
  if (details.record.server !== undefined) {
    const none = lost ? 'The output of that moment is not known.' : 'The server had written nothing to stderr.';
    lines.push('', '## Output of the server at that moment', '');
    lines.push(...(stderr.length > 0 ? fence(stderr.join('\n')) : [none]));
  }
  return { text: `${lines.join('\n')}\n`, actions };
}

function titleOf({ record, fault }: CallDetails, lost: boolean): string {
  const name = code(record.toolId?.replace(/^[^:]*:|#[0-9a-f]{8}$/g, '') ?? record.metaTool);
  if (lost) return `${name} was lost`;
  return fault || record.outcome === 'error' ? `${name} failed` : `${name} did not fail`;
}

function headline({ record, fault }: CallDetails, lost: boolean): string {
  const subject = record.toolId === undefined ? '' : `${code(record.toolId)} `;
  const server = record.server === undefined ? '' : `of the server ${code(record.server)} `;
  const caller = record.client === 'you' ? 'you' : code(record.client);
  const end = lost
    ? 'and the gateway ended during the call'
    : record.outcome === 'error'
      ? `and failed after ${latency(record.durationMs)} with ${code(fault?.code ?? record.errorCode ?? 'ERROR')}`
      : `and took ${latency(record.durationMs)}`;
  return `${subject || `${code(record.metaTool)} `}${server}was called by ${caller} at ${new Date(record.at).toISOString()}, ${end}.`;
}

function happened({ record, fault, problems }: CallDetails, lost: boolean): string[] {
  const message = fault?.message ?? record.errorMessage;
  return [
    ...(message ? fence(message) : []),
    ...(lost ? ['The gateway ended before the call did, so no more than this is known.'] : []),
    ...(!message && !lost ? ['No fault is recorded.'] : []),
    ...(problems.length > 0 ? ['', ...problems.map((problem) => `- ${code(problem)}`)] : []),
    ...(fault?.details && Object.keys(fault.details).length > 0
      ? ['', ...fence(visibleJson(fault.details, 2), 'json')]
      : []),
  ];
}

function effectWords({ record: { effect } }: CallDetails, lost: boolean): string {
  if (lost || effect === 'unknown') {
    return '**Unknown: check before you repeat.** The server may have carried the call out, or parts of it.';
  }
  return effect === 'none'
    ? 'None. Nothing was carried out, so the call can be repeated.'
    : 'Done. The server carried the call out, and repeating it may carry it out twice.';
}

function handled({ record, fault, attempts, repairs }: CallDetails, lost: boolean): string[] {
  const steps = [
    ...repairs.map(({ path, rule }) => `Corrected ${code(path || 'the arguments')} by the rule ${code(rule)}.`),
    ...(fault?.handled ?? []).map((step) => plain(step)),
    ...(attempts.length > 1
      ? attempts.map(({ outcome, durationMs }, index) => {
          const took = durationMs === undefined ? '' : ` after ${latency(durationMs)}`;
          return `Try ${index + 1} ended${took}: ${code(outcome)}`;
        })
      : []),
    ...(!lost && !fault?.handled.length && record.effect === 'unknown'
      ? ['The gateway did not repeat the call, because a repeated call may take effect twice.']
      : []),
  ];
  if (steps.length > 0) return steps.map((step) => `- ${step}`);
  return [lost ? 'The gateway ended, and the editor started another one.' : 'The gateway only reported the fault.'];
}

interface Step {
  words: string;
  action?: Pick<FaultAction, 'title' | 'command'>;
}

const REMEDIES: Record<ServerRemedy['kind'], (remedy: ServerRemedy) => Step> = {
  approve: () => ({
    words: 'Approve the command of the server; until then it does not start.',
    action: { title: 'Approve…', command: 'waygate.approveServers' },
  }),
  review: () => ({
    words: 'Review what the server has changed; until then the changed tools are not offered.',
    action: { title: 'Review Changes…', command: 'waygate.reviewChanges' },
  }),
  secret: (remedy) => ({
    words: `Set the secret ${code(remedy.kind === 'secret' ? remedy.key : '')} of the server.`,
    action: { title: 'Set Secret…', command: 'waygate.setSecret' },
  }),
  sign_in: () => ({ words: 'Sign in to the server.', action: { title: 'Sign In', command: 'waygate.signIn' } }),
  edit: (remedy) => ({
    words: `Correct the configuration${remedy.kind === 'edit' ? ` in line ${remedy.location.line} of ${code(remedy.location.file)}` : ''}.`,
    action: { title: 'Open Place', command: 'waygate.openConfiguration' },
  }),
  restart: () => ({ words: 'Restart the server.', action: { title: 'Restart', command: 'waygate.restartServer' } }),
  wait: (remedy) => ({
    words: `Wait ${remedy.kind === 'wait' ? latency(remedy.ms) : 'a moment'}: the gateway starts the server again by itself.`,
  }),
};

function stepsOf({ record, fault }: CallDetails, server: ServerStatus | undefined, lost: boolean): Step[] {
  const isUnknown = lost || record.effect === 'unknown';
  return [
    ...(server?.remedy ? [REMEDIES[server.remedy.kind](server.remedy)] : []),
    ...(isUnknown
      ? [{ words: 'Check at the server whether the call took effect. Repeat it only if it did not.' }]
      : []),
    ...(fault?.advice ? [{ words: `Advice that the model got: ${plain(fault.advice)}` }] : []),
    ...(record.toolId === undefined
      ? []
      : [
          {
            words: 'Look at the arguments, and try the tool by hand.',
            action: { title: 'Try Again with These Arguments…', command: 'waygate.tryAgain' as const },
          },
        ]),
    ...(record.server === undefined
      ? []
      : [
          {
            words: 'Read the whole log of the server.',
            action: { title: 'Show Server Log', command: 'waygate.openServerLog' as const },
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
