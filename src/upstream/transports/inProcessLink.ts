import type { AnswerRequest } from '../../mcp/incomingRequests.ts';
import { inProcessServer } from '../../mcp/wire/inProcessServer.ts';
import { UpstreamClient, type UpstreamClientOptions } from '../../mcp/wire/upstreamClient.ts';
import { LinkFailure, type UpstreamLink } from './upstreamLink.ts';

/** Link to a server that is a function of this process. */
export class InProcessLink implements UpstreamLink {
  readonly pid = undefined;
  readonly stderr: readonly string[] = [];
  readonly #answer: AnswerRequest;
  readonly #dispose: () => Promise<void>;
  #client: UpstreamClient | undefined;

  constructor(answer: AnswerRequest, dispose: () => Promise<void> = () => Promise.resolve()) {
    this.#answer = answer;
    this.#dispose = dispose;
  }

  async connect(options: UpstreamClientOptions, timeoutMs: number): Promise<UpstreamClient> {
    const client = new UpstreamClient(options);
    this.#client = client;
    await client.connect(inProcessServer(this.#answer), { onClose: () => undefined }, timeoutMs);
    return client;
  }

  explain(error: unknown): Promise<LinkFailure> {
    return Promise.resolve(new LinkFailure(error instanceof Error ? error.message : String(error)));
  }

  async close(): Promise<void> {
    await this.#client?.close();
    await this.#dispose();
  }
}
