import type { Fault, FaultClass, RecoveryDirective, RecoveryHint } from './fault.ts';
import type { GatewayErrorCode } from './gatewayError.ts';

/** Event after which the same start, or the same call, may succeed. */
export type Remedy =
  /** Some time has passed. */
  | 'time'
  /** The user has signed in. */
  | 'sign_in'
  /** The configuration, or a file that it names, has changed. Attempts before that are noise. */
  | 'configuration';

export interface FaultTraits {
  class: FaultClass;
  directive: RecoveryDirective;
  recovery_hint: RecoveryHint;
  remedy: Remedy;
  /** Error code on which a model branches (G4.2). */
  error: GatewayErrorCode;
  /** Whether the same call may succeed later, if it certainly had no effect or may be repeated. */
  retryable: boolean;
  /** Predicate that completes "{server} …". */
  says: string;
  /** Predicate that a known time limit completes. */
  saysWithin?: string;
  /** Advice for a model. */
  advice: string;
  /** Advice where Waygate's own worker failed: another tool would not help. */
  ownAdvice?: string;
  /** Advice that the path of the log with the reason completes. */
  ownAdviceIn?: string;
  /** Whether the detail helps a model. Most details are for the person who runs the server. */
  showsDetail?: true;
}

type Row = Omit<FaultTraits, 'class' | 'remedy'> & { remedy?: Remedy };

const ASK_USER = 'Ask the user to look at this server, or use another tool.';
const LATER = 'Call again later, or use another tool.';
export const CHECK_FIRST = 'It may have taken effect: check before you repeat it.';
const OTHER_CALL = 'Change the call, or use another tool.';
/** Advice where no call would succeed, because Waygate itself cannot serve. */
const ASK_HEALTH = {
  ownAdvice: 'Ask the user to run `waygate health`.',
  ownAdviceIn: 'Ask the user to run `waygate health`; the reason is in',
} as const;

/** Traits of most faults that lose a process or connection. */
const LOST = {
  directive: 'restart_and_replay',
  recovery_hint: 'replace_worker',
  error: 'UPSTREAM_UNAVAILABLE',
  retryable: true,
  advice: LATER,
  ownAdvice: 'Call again later.',
} as const;
const TIMED_OUT = { ...LOST, error: 'UPSTREAM_TIMEOUT' } as const;
const MISANSWERED = {
  directive: 'abort_request',
  recovery_hint: 'keep_worker',
  error: 'UPSTREAM_ERROR',
  retryable: false,
  advice: OTHER_CALL,
} as const;
/** Unusable answer; the detail says why. */
const UNUSABLE = { says: 'gave an answer that cannot be used', showsDetail: true } as const;
const PERMANENT = {
  directive: 'abort_request',
  recovery_hint: 'roll_forward',
  remedy: 'configuration',
  error: 'UPSTREAM_UNAVAILABLE',
  retryable: false,
  advice: ASK_USER,
  showsDetail: true,
} as const;
const FULL = {
  directive: 'retry_in_place',
  recovery_hint: 'keep_worker',
  error: 'RATE_LIMITED',
  retryable: true,
  advice: 'Wait for the answers of other calls, then call again.',
} as const;
const AMBIGUOUS = {
  directive: 'abort_request',
  recovery_hint: 'replace_worker',
  retryable: false,
  advice: CHECK_FIRST,
} as const;

/** Every fault of the gateway, by class. `faultError.ts` makes the error object from a row. */
const BY_CLASS = {
  transport: {
    connection_lost: { ...LOST, says: 'lost its connection' },
    connection_refused: { ...LOST, says: 'cannot be reached' },
    input_closed: { ...LOST, says: 'no longer reads its input' },
    output_closed: { ...LOST, says: 'closed its output' },
    session_lost: { ...LOST, says: 'no longer knows its session' },
  },
  process: {
    exited: { ...LOST, says: 'exited unexpectedly' },
    killed: { ...LOST, says: 'was killed' },
    exited_before_initialize: { ...LOST, says: 'exits before it is ready', showsDetail: true },
    spawn_failed: { ...LOST, ...ASK_HEALTH, says: 'could not be started', showsDetail: true },
    crash_loop: {
      ...LOST,
      ...ASK_HEALTH,
      directive: 'abort_request',
      says: 'keeps exiting and is retried only once a minute',
      advice: ASK_USER,
    },
    circuit_open: {
      ...LOST,
      directive: 'abort_request',
      recovery_hint: 'keep_worker',
      says: 'failed several calls in a row and is paused for a while',
    },
    spawn_enoent: { ...PERMANENT, says: 'cannot start: its command was not found' },
    spawn_eacces: { ...PERMANENT, says: 'cannot start: its command may not be run' },
    folder_missing: { ...PERMANENT, says: 'cannot start: its folder does not exist or may not be entered' },
    walls_missing: { ...PERMANENT, says: 'cannot start: it asks for walls, and the machine has none' },
    secret_missing: { ...PERMANENT, error: 'AUTH_FAILED', says: 'cannot start: it needs a secret that is not set' },
    needs_approval: {
      ...PERMANENT,
      error: 'PERMISSION_DENIED',
      says: "waits for the user's approval",
      advice: 'Ask the user to see what it runs and to approve it.',
    },
    tool_left_out: {
      ...PERMANENT,
      recovery_hint: 'keep_worker',
      says: 'does not offer this tool because of its configuration',
      advice: 'Use another tool, or ask the user.',
    },
    not_running: {
      ...LOST,
      says: 'is not running',
      showsDetail: true,
      advice: 'Call again later, or ask the user to look at this server.',
    },
    stopped: { ...LOST, directive: 'abort_request', recovery_hint: 'keep_worker', says: 'was stopped' },
  },
  timeout: {
    handshake_timeout: { ...TIMED_OUT, ...ASK_HEALTH, says: 'did not become ready in time' },
    call_timeout: {
      ...TIMED_OUT,
      directive: 'abort_request',
      recovery_hint: 'keep_worker',
      says: 'did not answer in time',
      saysWithin: 'did not answer within',
    },
    unresponsive: { ...TIMED_OUT, says: 'stopped answering' },
  },
  protocol: {
    malformed_response: { ...MISANSWERED, ...UNUSABLE },
    bad_result: { ...MISANSWERED, ...UNUSABLE },
    unknown_id_flood: {
      ...MISANSWERED,
      recovery_hint: 'replace_worker',
      says: 'sent too many answers that nobody requested',
    },
    initialize_refused: { ...PERMANENT, error: 'UPSTREAM_ERROR', says: 'refused to be initialized' },
    unsupported_version: { ...PERMANENT, error: 'UPSTREAM_ERROR', says: 'supports no known version of MCP' },
  },
  downstream: {
    upstream_error: { ...MISANSWERED, says: 'answered with an error', showsDetail: true },
    upstream_unavailable: {
      ...MISANSWERED,
      error: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      says: 'is unavailable',
      advice: LATER,
      showsDetail: true,
    },
    upstream_timeout: {
      ...MISANSWERED,
      error: 'UPSTREAM_TIMEOUT',
      retryable: true,
      says: 'reported a time-out',
      advice: LATER,
      showsDetail: true,
    },
    unauthorized: {
      ...MISANSWERED,
      remedy: 'sign_in',
      error: 'AUTH_FAILED',
      says: 'wants the user to sign in',
      advice: 'Ask the user to sign in to this server, or use another tool.',
      showsDetail: true,
    },
    forbidden: {
      ...MISANSWERED,
      error: 'PERMISSION_DENIED',
      says: 'does not permit this',
      advice: 'Ask the user for access, or go on without it.',
      showsDetail: true,
    },
    rate_limited: { ...FULL, says: 'limits the rate of calls', advice: 'Call again after a while.', showsDetail: true },
  },
  resource: {
    queue_overflow: { ...FULL, says: 'has too many requests waiting' },
    queue_bytes: { ...FULL, says: 'has too much data waiting' },
    frame_too_large: {
      ...MISANSWERED,
      ...UNUSABLE,
      advice: 'It was carried out: ask for less instead of repeating it.',
    },
  },
  replay: {
    replay_exhausted: {
      ...LOST,
      directive: 'abort_request',
      retryable: false,
      says: 'exited each time it ran this',
      advice: OTHER_CALL,
      ownAdvice: 'Change the call, or ask the user to run `waygate health`.',
    },
    not_begun: { ...LOST, directive: 'abort_request', says: 'was replaced', advice: LATER, ownAdvice: 'Call again.' },
  },
  rollout: {
    drain_limit: { ...LOST, recovery_hint: 'roll_forward', says: 'was replaced before it had finished' },
  },
  invariant: {
    duplicate_id: {
      ...MISANSWERED,
      says: 'was sent the id of another request',
      advice: 'Use a new id for each request.',
    },
    invalid_state: {
      ...MISANSWERED,
      recovery_hint: 'abort_host',
      says: 'had an internal error',
      advice: ASK_USER,
    },
  },
  ambiguous_outcome: {
    outcome_unknown: {
      ...AMBIGUOUS,
      error: 'UPSTREAM_UNAVAILABLE',
      says: 'exited or lost its connection during the call',
    },
    outcome_unknown_after_timeout: {
      ...AMBIGUOUS,
      recovery_hint: 'keep_worker',
      error: 'UPSTREAM_TIMEOUT',
      says: 'did not answer in time',
      saysWithin: 'did not answer within',
    },
  },
} as const satisfies Record<FaultClass, Record<string, Row>>;

type CodesOf<T> = T extends unknown ? Extract<keyof T, string> : never;
export type KnownFaultCode = CodesOf<(typeof BY_CLASS)[FaultClass]>;

export const FAULT_CODES: Readonly<Record<KnownFaultCode, FaultTraits>> = Object.freeze(
  Object.fromEntries(
    Object.entries(BY_CLASS).flatMap(([name, rows]) =>
      Object.entries(rows).map(([code, row]) => [code, { remedy: 'time', ...row, class: name }]),
    ),
  ) as unknown as Record<KnownFaultCode, FaultTraits>,
);

/** Code whose words serve for an unknown code of the class. */
const CLASS_EXAMPLE: Readonly<Record<FaultClass, KnownFaultCode>> = {
  transport: 'connection_lost',
  process: 'exited',
  protocol: 'malformed_response',
  timeout: 'call_timeout',
  downstream: 'upstream_error',
  resource: 'queue_overflow',
  replay: 'replay_exhausted',
  rollout: 'drain_limit',
  invariant: 'invalid_state',
  ambiguous_outcome: 'outcome_unknown',
};

export function traitsOf(fault: Pick<Fault, 'class' | 'code'>): FaultTraits {
  const known = Object.hasOwn(FAULT_CODES, fault.code) ? FAULT_CODES[fault.code as KnownFaultCode] : undefined;
  return known?.class === fault.class ? known : FAULT_CODES[CLASS_EXAMPLE[fault.class]];
}
