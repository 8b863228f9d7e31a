import type { ApprovalQuestion, ApprovalVerdict } from '../../control/contract.ts';
import { Observable } from '../observable.ts';

/** Question that waits for the user. */
export interface OpenQuestion {
  /** Id within this window, safe in a path. */
  id: string;
  question: ApprovalQuestion;
  /** Gateway that asks. */
  folder: { name: string };
}

/** Largest delay of a timer. */
const MAX_DELAY_MS = 2 ** 31 - 1;
/** A worker whose own timer runs first cancels the question just before its deadline. */
const DEADLINE_MARGIN_MS = 250;

/** Questions of the workers about calls, in the order in which they came. Only an answer of the user allows a call. */
export class QuestionQueue {
  readonly open = new Observable<readonly OpenQuestion[]>([]);
  readonly #onLate: (question: ApprovalQuestion) => void;
  readonly #settlers = new Map<string, (verdict: ApprovalVerdict) => void>();
  #count = 0;

  /** `onLate` gets each question that nobody answered in time. */
  constructor(onLate: (question: ApprovalQuestion) => void) {
    this.#onLate = onLate;
  }

  /** Resolves to the answer; to `denied` at the deadline, and to `unavailable` when the question is gone. */
  ask(question: ApprovalQuestion, folder: OpenQuestion['folder'], gone: AbortSignal): Promise<ApprovalVerdict> {
    if (gone.aborted) return Promise.resolve('unavailable');
    this.#count += 1;
    const id = String(this.#count);
    const { deadline } = question;
    return new Promise((resolve) => {
      const late = (): void => {
        if (this.#settle(id, 'denied')) this.#onLate(question);
      };
      const timer =
        deadline === undefined
          ? undefined
          : setTimeout(late, Math.min(Math.max(0, deadline - Date.now()), MAX_DELAY_MS));
      const onGone = (): void => {
        if (deadline !== undefined && Date.now() >= deadline - DEADLINE_MARGIN_MS) late();
        else this.#settle(id, 'unavailable');
      };
      this.#settlers.set(id, (verdict) => {
        clearTimeout(timer);
        gone.removeEventListener('abort', onGone);
        resolve(verdict);
      });
      gone.addEventListener('abort', onGone);
      this.open.set([...this.open.value, { id, question, folder }]);
    });
  }

  /** Answers a question, unless it is gone. */
  answer(id: string, verdict: ApprovalVerdict): void {
    this.#settle(id, verdict);
  }

  dispose(): void {
    for (const id of [...this.#settlers.keys()]) this.#settle(id, 'unavailable');
  }

  #settle(id: string, verdict: ApprovalVerdict): boolean {
    const settle = this.#settlers.get(id);
    if (settle === undefined) return false;
    this.#settlers.delete(id);
    settle(verdict);
    this.open.set(this.open.value.filter((open) => open.id !== id));
    return true;
  }
}
