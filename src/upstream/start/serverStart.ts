import type { Fault } from '../../errors/fault.ts';
import { deferred } from '../../lib/deferred.ts';
import type { UpstreamClient, UpstreamClientOptions } from '../../mcp/wire/upstreamClient.ts';
import type { Running, StartContext } from '../../supervision/supervised.ts';
import { type LinkEvents, LinkFailure, type UpstreamLink } from '../transports/upstreamLink.ts';

/** A server that runs: the way to it and the client on it. */
export interface Live {
  readonly generation: number;
  readonly link: UpstreamLink;
  readonly client: UpstreamClient;
  /** Its lists were known before: they are listed again when it is ready. */
  readonly wasKnown: boolean;
  /** It is as good as gone: what was noticed of it ends it. */
  lose(failure: LinkFailure): void;
  /** Resolves when it is lost, whoever said so. */
  readonly lost: Promise<unknown>;
}

export interface StartTerms {
  openLink(events: LinkEvents): Promise<UpstreamLink>;
  /** Throws where it may not run, as far as that is known when its way is there. */
  check(): void;
  /** Records that the process runs and is being initialised. */
  onOpened(link: UpstreamLink): void;
  clientOptions(): UpstreamClientOptions;
  timeoutMs: number;
  /** With its tools known nobody need wait for the list; without it, it is listed before it is ready. */
  listFirst?: (client: UpstreamClient) => Promise<void>;
  onFailed(failure: LinkFailure): void;
  onLost(failure: LinkFailure): void;
  faultOf(failure: LinkFailure, generation: number): Fault;
  end(link: UpstreamLink): Promise<void>;
  log(line: string): void;
  scrubSecrets(text: string): string;
}

/** One start, from nothing to a server that is ready for calls. Clears up after itself where it fails. */
export async function startServer(context: StartContext, terms: StartTerms): Promise<Running<Live>> {
  const { generation, signal, initializing } = context;
  const exit = deferred<LinkFailure>();
  let link: UpstreamLink | undefined;
  try {
    link = await terms.openLink({
      onLost: (reason, code) => exit.resolve(new LinkFailure(reason, code)),
      log: terms.log,
      scrubSecrets: terms.scrubSecrets,
    });
    const opened = link;
    signal.addEventListener('abort', () => void terms.end(opened), { once: true });
    // What was taken back while secrets were being looked up does not run after all.
    signal.throwIfAborted();
    terms.check();
    terms.onOpened(link);
    initializing();
    const client = await link.connect(terms.clientOptions(), terms.timeoutMs);
    await terms.listFirst?.(client);
    const gone = await Promise.race([exit.promise, undefined]);
    if (gone) throw gone;
    signal.throwIfAborted();
    const exited = exit.promise.then((failure) => {
      terms.onLost(failure);
      return terms.faultOf(failure, generation);
    });
    const wasKnown = terms.listFirst === undefined;
    return { handle: { generation, link, client, wasKnown, lose: exit.resolve, lost: exit.promise }, exited };
  } catch (error) {
    const failure = link ? await link.explain(error) : asLinkFailure(error);
    // Whoever has ended this start has said what the server is now.
    if (!signal.aborted) terms.onFailed(failure);
    if (link) await terms.end(link);
    throw failure;
  }
}

/** What is thrown on the way to a start, in the words of one. */
export function asLinkFailure(error: unknown): LinkFailure {
  if (error instanceof LinkFailure) return error;
  return new LinkFailure(error instanceof Error ? error.message : String(error), 'spawn_failed');
}
