import { encodeMessage } from '../../link/frames.ts';
import { RESUMED_META } from '../../replay/replay.ts';

/** As many as a worker takes of one session, and no longer than an address is. */
const MAX_SUBSCRIPTIONS = 1_024;
const MAX_URI = 8_192;

/** What a session is subscribed to: part of what a new worker has to be told of it. */
export class HeldSubscriptions {
  readonly #uris = new Set<string>();

  /** A request of the client has been answered, and not with an error. */
  succeeded(method: string, uri: string | undefined): void {
    if (uri === undefined || uri.length > MAX_URI) return;
    if (method === 'resources/unsubscribe') this.#uris.delete(uri);
    else if (method === 'resources/subscribe' && this.#uris.size < MAX_SUBSCRIPTIONS) this.#uris.add(uri);
  }

  /** The requests to a new worker, whose answers are for nobody. */
  frames(idPrefix: string): string[] {
    return [...this.#uris].map((uri, i) =>
      encodeMessage({
        id: `${idPrefix}${i}`,
        method: 'resources/subscribe',
        params: { uri, _meta: { [RESUMED_META]: true } },
      }),
    );
  }
}
