import { isRecord } from '../../lib/isRecord.ts';
import { oneLine } from '../../text/porcelain.ts';
import { isModernVersion, ROUNDS_CAPABILITY } from '../modern/wire.ts';
import type { OutgoingOptions, OutgoingRequests, Send } from '../outgoingRequests.ts';
import type { SessionClient } from './sessionMode.ts';

const CLIENT_CHARS = 64;
/** Capabilities of a client that MCP 2025-11-25 defines. */
const CAPABILITIES = ['experimental', 'sampling', 'elicitation', 'roots', 'tasks', 'extensions'];
/** Capability that a server must have declared for a notification. */
const NEEDS: Readonly<Record<string, string>> = {
  'notifications/message': 'logging',
  'notifications/resources/updated': 'resources',
  'notifications/resources/list_changed': 'resources',
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
};

type Fields = Readonly<Record<string, unknown>>;

/** Client of a session: what it said of itself in `initialize`, and the way to it. */
export class ClientLink {
  /** Same object for all calls of the session. */
  readonly session = {};
  readonly #offered: Fields;
  readonly #send: Send;
  readonly #requests: OutgoingRequests;
  #client: SessionClient = { name: 'unknown client', version: '', protocolVersion: '' };
  #capabilities: Fields = {};

  /** `offered`: capabilities of the gateway that the client was promised. */
  constructor(offered: Fields, send: Send, requests: OutgoingRequests) {
    this.#offered = offered;
    this.#send = send;
    this.#requests = requests;
  }

  get client(): SessionClient {
    return this.#client;
  }

  get capabilities(): Fields {
    return this.#capabilities;
  }

  /** The client has revision 2026-07-28, and its host knows `QUESTIONS_METHOD`. */
  get takesRounds(): boolean {
    return roundsRevision(this.#capabilities) !== undefined;
  }

  /** Notes the params of `initialize`, whose version the host has negotiated. */
  introduce({ protocolVersion, clientInfo, capabilities }: Fields): void {
    const { name, version } = isRecord(clientInfo) ? clientInfo : {};
    this.#capabilities = readCapabilities(capabilities);
    const revision = roundsRevision(this.#capabilities) ?? protocolVersion;
    // A client may claim anything about itself, and a person reads it.
    this.#client = {
      name: oneLine(typeof name === 'string' ? name : 'unknown client', CLIENT_CHARS),
      version: oneLine(typeof version === 'string' ? version : '', CLIENT_CHARS),
      protocolVersion: typeof revision === 'string' ? revision : '',
    };
  }

  /** Sends a notification, unless the client cannot expect it or has gone. */
  notify(
    method: string,
    params: Record<string, unknown> | undefined,
    relatedRequestId?: OutgoingOptions['relatedRequestId'],
  ): void {
    if (!this.#expects(method)) return;
    const message = { method, ...(params && { params }), jsonrpc: '2.0' } as const;
    void this.#send(message, { relatedRequestId }).catch(() => undefined);
  }

  request(method: string, params: Record<string, unknown>, options: OutgoingOptions): Promise<Record<string, unknown>> {
    return this.#requests.request(method, params, options);
  }

  #expects(method: string): boolean {
    if (method === 'notifications/elicitation/complete') {
      const { elicitation } = this.#capabilities;
      return isRecord(elicitation) && elicitation.url !== undefined;
    }
    const needed = NEEDS[method];
    return needed === undefined || this.#offered[needed] !== undefined;
  }
}

/** Returns the revision of a client whose host translates it into this session, if that is known. */
function roundsRevision({ experimental }: Fields): string | undefined {
  const rounds = isRecord(experimental) ? experimental[ROUNDS_CAPABILITY] : undefined;
  const revision = isRecord(rounds) && typeof rounds.revision === 'string' ? rounds.revision : undefined;
  return isModernVersion(revision) ? revision : undefined;
}

function readCapabilities(declared: unknown): Fields {
  if (!isRecord(declared)) return {};
  const known = CAPABILITIES.flatMap((name) => (isRecord(declared[name]) ? [[name, declared[name]] as const] : []));
  const { elicitation, ...others } = Object.fromEntries(known);
  if (elicitation === undefined) return others;
  // An empty object means forms, as before revision 2025-11-25.
  return { ...others, elicitation: Object.keys(elicitation).length === 0 ? { form: {} } : elicitation };
}
