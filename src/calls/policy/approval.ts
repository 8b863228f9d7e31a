import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';

/** What a person is asked: it names the inner tool and its arguments, which a meta-tool's own dialog cannot. */
export interface ApprovalRequest {
  tool: CatalogTool;
  args: Readonly<Record<string, unknown>>;
  /** Why it is asked, in a sentence. */
  reason: string;
  /** The same object for one session's calls: what is allowed for it goes with it. */
  session: object;
  signal: AbortSignal;
}

/** `unavailable`: nobody can be asked where this client runs. */
export type ApprovalAnswer = 'once' | 'session' | 'workspace' | 'denied' | 'unavailable';

/** Whoever can ask: the client by elicitation, or the editor through the control channel. */
export interface ApprovalPort {
  ask(request: ApprovalRequest): Promise<ApprovalAnswer>;
}

/** Approvals for the workspace outlive the worker. */
export interface ApprovalStore {
  load(): readonly string[];
  save(approved: readonly string[]): void;
}

export const NOBODY_TO_ASK: ApprovalPort = { ask: () => Promise.resolve('unavailable') };
export const NO_STORE: ApprovalStore = { load: () => [], save: () => undefined };

/** Asks one after the other, until one can ask. */
export function firstToAnswer(...ports: readonly (ApprovalPort | undefined)[]): ApprovalPort {
  return {
    async ask(request) {
      for (const port of ports) {
        const answer = (await port?.ask(request)) ?? 'unavailable';
        if (answer !== 'unavailable') return answer;
      }
      return 'unavailable';
    },
  };
}

/** Asks once, remembers per inner tool. A tool that has changed is another one: it is asked about again. */
export class Approvals {
  readonly #port: ApprovalPort;
  readonly #store: ApprovalStore;
  readonly #onApproved: (session: object) => void;
  readonly #sessions = new WeakMap<object, SessionApprovals>();

  constructor(
    port: ApprovalPort = NOBODY_TO_ASK,
    store: ApprovalStore = NO_STORE,
    onApproved: (session: object) => void = () => undefined,
  ) {
    this.#port = port;
    this.#store = store;
    this.#onApproved = onApproved;
  }

  /** Read each time: what is taken back on the command line, or in another window, holds at once. */
  get #workspace(): Set<string> {
    return new Set(this.#store.load());
  }

  isRemembered(tool: CatalogTool, session: object): boolean {
    const key = keyOf(tool);
    return this.#workspace.has(key) || this.#sessions.get(session)?.approved.has(key) === true;
  }

  /** What was allowed for a session, for another process. */
  memoryOf(session: object): string[] | undefined {
    const approved = this.#sessions.get(session)?.approved;
    return approved?.size ? [...approved] : undefined;
  }

  remember(session: object, memory: unknown): void {
    if (!Array.isArray(memory)) return;
    const known = this.#of(session);
    for (const key of memory) if (typeof key === 'string') known.approved.add(key);
  }

  #of(session: object): SessionApprovals {
    const known = this.#sessions.get(session) ?? { approved: new Set(), open: new Map() };
    this.#sessions.set(session, known);
    return known;
  }

  /**
   * Returns when the call may go on; throws `POLICY_DENIED` or `AUTH_REQUIRED` when not. `port` is the call's own way
   * to its person, which comes before the gateway's.
   */
  async require(request: ApprovalRequest, port?: ApprovalPort): Promise<void> {
    const { tool, session, signal } = request;
    const key = keyOf(tool);
    const known = this.#of(session);
    for (let open = known.open.get(key); open; open = known.open.get(key)) {
      await untilAborted(
        open.catch(() => undefined),
        signal,
      );
    }
    if (this.isRemembered(tool, session)) return;
    const asking = this.#ask(request, known, port).finally(() => known.open.delete(key));
    known.open.set(key, asking);
    return asking;
  }

  /** What is allowed for the workspace, by tool. */
  get remembered(): readonly string[] {
    return [...this.#workspace].map((key) => key.split(' ')[0] as string);
  }

  /** Takes back what was allowed for the workspace; all of it without an id. */
  forget(toolId?: string): void {
    this.#store.save([...this.#workspace].filter((key) => toolId !== undefined && !key.startsWith(`${toolId} `)));
  }

  async #ask(request: ApprovalRequest, known: SessionApprovals, port: ApprovalPort | undefined): Promise<void> {
    const { tool, session, signal } = request;
    signal.throwIfAborted();
    const asking = firstToAnswer(port, this.#port).ask(request);
    // A port that fails cannot ask.
    const answer = await untilAborted<ApprovalAnswer>(
      asking.catch(() => 'unavailable'),
      signal,
    );
    switch (answer) {
      case 'once':
        return;
      case 'session':
        known.approved.add(keyOf(tool));
        this.#onApproved(session);
        return;
      case 'workspace':
        this.#store.save([...this.#workspace.add(keyOf(tool))]);
        return;
      case 'denied':
        throw new GatewayError(
          'POLICY_DENIED',
          `The user declined this call of ${tool.name}. Do not repeat it; ask the user how to go on.`,
          { path: tool.id, details: { meta_tool: 'tool_execute', reason: request.reason, approval: 'denied' } },
        );
      default:
        throw approvalRequired(tool, request.reason);
    }
  }
}

interface SessionApprovals {
  readonly approved: Set<string>;
  /** The question that is open, per tool: a second call waits for its answer before it asks. */
  readonly open: Map<string, Promise<void>>;
}

/** Who is waited for may not notice that the client has gone. `answer` never rejects: it may be left alone. */
async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}

/** Says how a person can allow it, since nobody can be asked from here. */
function approvalRequired(tool: CatalogTool, reason: string): GatewayError {
  const rule = JSON.stringify({ action: 'allow', tool: tool.id });
  return new GatewayError(
    'AUTH_REQUIRED',
    `${tool.name} needs the user's approval, and nobody can be asked here. The user can allow it: see "allow" in the details.`,
    {
      path: tool.id,
      details: {
        meta_tool: 'tool_execute',
        reason,
        approval: 'required',
        allow: `put ${rule} first in "policy": {"rules": [ … ]} of .vscode/waygate.json, or of the user-level waygate.json where that one asks`,
      },
    },
  );
}

function keyOf(tool: CatalogTool): string {
  return `${tool.id} ${tool.server} ${tool.fingerprint}`;
}
