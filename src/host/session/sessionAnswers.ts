import { peekIsError } from '../../link/frames.ts';
import { listKey } from '../../link/movingSession.ts';
import type { Refused, Terminal } from '../../replay/journalCall.ts';
import { type ClientCall, type FaultTerminal, faultAnswer, lostCall, refusal } from './clientCall.ts';
import type { ClientStream } from './clientStream.ts';
import type { HeldSession } from './heldSession.ts';
import type { WithoutWorker } from './withoutWorker.ts';

export interface SessionAnswersParts {
  client: Pick<ClientStream, 'write' | 'relay'>;
  held: HeldSession;
  withoutWorker: WithoutWorker;
  /** A worker has answered a request. */
  onProved(): void;
  /** A lost call is ready to be reported to the worker. */
  onLoss(): void;
}

/** Answers the client's requests: with the worker's answer, from the host's own knowledge, or with a fault. */
export class SessionAnswers {
  readonly #parts: SessionAnswersParts;
  #ended = false;

  constructor(parts: SessionAnswersParts) {
    this.#parts = parts;
  }

  /** Stops counting losses: after the end of the session, the worker counts its open calls itself. */
  end(): void {
    this.#ended = true;
  }

  /** Answers a request that the journal did not admit. */
  refuse(call: ClientCall, refused: Refused): void {
    this.#parts.client.write(refusal(call, refused.fault, refused));
  }

  settle(call: ClientCall, terminal: Terminal<Buffer>): void {
    if (terminal.kind === 'reply') this.#relay(call, terminal.reply);
    else if (terminal.kind === 'fault') this.#answerItself(call, terminal);
  }

  #relay(call: ClientCall, reply: Buffer): void {
    const { client, held, withoutWorker, onProved } = this.#parts;
    onProved();
    if (!peekIsError(reply)) {
      withoutWorker.noteAnswer(call, reply);
      held.noteSuccess(call);
    }
    client.relay(reply);
  }

  #answerItself(call: ClientCall, terminal: FaultTerminal): void {
    const { client, held, withoutWorker, onLoss } = this.#parts;
    const own = withoutWorker.answer(call, (list) => held.memory.keep(listKey(list), null, 0));
    client.write(own ?? faultAnswer(call, terminal, withoutWorker));
    if (own !== undefined || this.#ended) return;
    held.losses.note(lostCall(call, terminal));
    onLoss();
  }
}
