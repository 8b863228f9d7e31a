import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { untilAborted } from '../../lib/untilAborted.ts';
import { type LaterPort, UnaskedCalls } from './unasked.ts';

/** Question to the user. It names the server's tool and its arguments, which a dialog for `tool_execute` could not. */
export interface ApprovalRequest {
  tool: CatalogTool;
  args: Readonly<Record<string, unknown>>;
  /** Everything that the call sends, where `args` is only a masked part of it. */
  sent?: unknown;
  /** Why the user is asked, in one sentence. */
  reason: string;
  /** Subject of the approval. Without it, the tool as it is defined now. */
  subject?: ApprovalSubject;
  /** Identity of the session: approvals for a session last as long as this object. */
  session: object;
  signal: AbortSignal;
  trace?: Asked | undefined;
}

/** Record of a call, which counts the time in which the user is asked apart. */
export interface Asked {
  /** Id of the call in the activity. */
  readonly id: number;
  readonly client: string;
  asksUser(): () => void;
}

/** Subject of an approval other than a tool. */
export interface ApprovalSubject {
  /** Identity of the approval: an id without spaces, a space, and whatever else must stay the same. */
  key: string;
  /** How the user allows it in a file. */
  allow: string;
}

/** `unavailable`: this client cannot ask the user. `late`: the user did not answer in time. */
export type ApprovalAnswer = 'once' | 'session' | 'workspace' | 'denied' | 'late' | 'unavailable';

/** Way to ask the user: the client by elicitation, or the editor through the control channel. */
export interface ApprovalPort {
  /** Whether the asked party may be gone. Other calls of the tool ask at once instead of waiting for its answer. */
  readonly mayNeverAnswer?: boolean;
  ask(request: ApprovalRequest): Promise<ApprovalAnswer>;
}

/** Store of approvals for the workspace, which outlive the worker. */
export interface ApprovalStore {
  load(): readonly string[];
  save(approved: readonly string[]): void;
}

export const NOBODY_TO_ASK: ApprovalPort = { ask: () => Promise.resolve('unavailable') };
export const NO_STORE: ApprovalStore = { load: () => [], save: () => undefined };

/** Tries the ports in order until one can ask. A port that fails cannot. */
export function firstToAnswer(...ports: readonly (ApprovalPort | undefined)[]): ApprovalPort {
  return {
    async ask(request) {
      for (const port of ports) {
        const answer = (await port?.ask(request).catch((): ApprovalAnswer => 'unavailable')) ?? 'unavailable';
        if (answer !== 'unavailable') return answer;
      }
      return 'unavailable';
    },
  };
}

/** Asks once per tool and remembers the answer. A tool whose definition changed needs a new approval. */
export class Approvals {
  readonly #port: ApprovalPort;
  readonly #store: ApprovalStore;
  readonly #onChange: (session: object) => void;
  readonly #sessions = new WeakMap<object, SessionApprovals>();
  readonly #unasked: UnaskedCalls;

  /** `onChange` is called when the memory of a session has changed; `later` keeps the questions that reach nobody. */
  constructor(
    port: ApprovalPort = NOBODY_TO_ASK,
    store: ApprovalStore = NO_STORE,
    onChange: (session: object) => void = () => undefined,
    later?: LaterPort,
  ) {
    this.#port = port;
    this.#store = store;
    this.#onChange = onChange;
    this.#unasked = new UnaskedCalls(later, {
      onChange,
      onAnswer: ({ key, session }, answer) => this.#allow(key, session, answer),
    });
  }

  /** Read every time, so that a revocation on the command line or in another window holds at once. */
  get #workspace(): Set<string> {
    return new Set(this.#store.load());
  }

  isRemembered(subject: CatalogTool | ApprovalSubject, session: object): boolean {
    const key = 'key' in subject ? subject.key : keyOf(subject);
    return this.#workspace.has(key) || this.#sessions.get(session)?.approved.has(key) === true;
  }

  /** Returns the approvals and the kept questions of a session, to hand over to another process. */
  memoryOf(session: object): { approved?: string[]; unasked?: object[] } | undefined {
    const approved = this.#sessions.get(session)?.approved;
    const unasked = this.#unasked.memoryOf(session);
    if (!approved?.size && !unasked) return undefined;
    return { ...(approved?.size && { approved: [...approved] }), ...(unasked && { unasked }) };
  }

  remember(session: object, { approved, unasked }: { approved?: unknown; unasked?: unknown }): void {
    this.#unasked.remember(session, unasked);
    if (!Array.isArray(approved)) return;
    const known = this.#of(session);
    for (const key of approved) if (typeof key === 'string') known.approved.add(key);
  }

  #of(session: object): SessionApprovals {
    const known = this.#sessions.get(session) ?? { approved: new Set(), open: new Map() };
    this.#sessions.set(session, known);
    return known;
  }

  /**
   * Returns when the call may continue; throws `POLICY_DENIED` or `AUTH_REQUIRED` otherwise. `port` asks through the
   * calling client, before the gateway's own port is tried.
   */
  async require(request: ApprovalRequest, port?: ApprovalPort): Promise<void> {
    const { subject, tool, session } = request;
    if (this.isRemembered(subject ?? tool, session)) return;
    if (this.#unasked.permits(request, subject?.key ?? keyOf(tool))) return;
    const answered = request.trace?.asksUser();
    try {
      await this.#require(request, port);
    } finally {
      answered?.();
    }
  }

  async #require(request: ApprovalRequest, port: ApprovalPort | undefined): Promise<void> {
    const { tool, session, signal, subject } = request;
    const key = subject?.key ?? keyOf(tool);
    const known = this.#of(session);
    for (let open = known.open.get(key); open && !port?.mayNeverAnswer; open = known.open.get(key)) {
      await untilAborted(
        open.catch(() => undefined),
        signal,
      );
    }
    if (this.isRemembered(subject ?? tool, session)) return;
    const asking = this.#ask(request, key, port).finally(() => known.open.delete(key));
    known.open.set(key, asking);
    return asking;
  }

  /** Ids of the tools that are approved for the workspace. */
  get remembered(): readonly string[] {
    return [...this.#workspace].map((key) => key.split(' ')[0] as string);
  }

  /** Revokes approvals for the workspace; all of them without an id. */
  forget(toolId?: string): void {
    this.#store.save([...this.#workspace].filter((key) => toolId !== undefined && !key.startsWith(`${toolId} `)));
  }

  async #ask(request: ApprovalRequest, key: string, port: ApprovalPort | undefined): Promise<void> {
    const { tool, session, signal } = request;
    signal.throwIfAborted();
    this.#unasked.withdraw(request, key);
    const answer = await untilAborted<ApprovalAnswer>(firstToAnswer(port, this.#port).ask(request), signal);
    switch (answer) {
      case 'once':
      case 'session':
      case 'workspace':
        this.#allow(key, session, answer);
        return;
      case 'denied':
        throw new GatewayError(
          'POLICY_DENIED',
          `The user declined this call of ${tool.name}. Do not repeat it; ask the user how to go on.`,
          { path: tool.id, details: { meta_tool: 'tool_execute', reason: request.reason, approval: 'denied' } },
        );
      case 'late':
        throw new GatewayError(
          'POLICY_DENIED',
          `The user did not answer in time whether ${tool.name} may run, so it was not called. Ask the user before you call it again.`,
          { path: tool.id, details: { meta_tool: 'tool_execute', reason: request.reason, approval: 'late' } },
        );
      default:
        this.#unasked.keep(request, key);
        throw approvalRequired(request);
    }
  }

  /** Remembers an answer that allows further calls. */
  #allow(key: string, session: object, answer: ApprovalAnswer): void {
    if (answer === 'session') {
      this.#of(session).approved.add(key);
      this.#unasked.settle(key, session);
      this.#onChange(session);
    } else if (answer === 'workspace') {
      this.#store.save([...this.#workspace.add(key)]);
      this.#unasked.settle(key);
    }
  }
}

interface SessionApprovals {
  readonly approved: Set<string>;
  /** Open question per tool. A second call waits for its answer before it asks. */
  readonly open: Map<string, Promise<void>>;
}

/** Returns the error for a client that cannot ask, with the rule by which the user can allow the tool. */
function approvalRequired({ tool, reason, subject }: ApprovalRequest): GatewayError {
  return new GatewayError(
    'AUTH_REQUIRED',
    `${tool.name} needs the user's approval, and nobody can be asked here. The user can allow it: see "allow" in the details.`,
    {
      path: tool.id,
      details: {
        meta_tool: 'tool_execute',
        reason,
        approval: 'required',
        allow: subject?.allow ?? `run waygate allow ${tool.id}`,
      },
    },
  );
}

function keyOf(tool: CatalogTool): string {
  // The user's own server and one of the workspace may have the same name at different times.
  return `${tool.id} ${tool.origin === 'workspace' ? 'workspace:' : ''}${tool.server} ${tool.fingerprint}`;
}
