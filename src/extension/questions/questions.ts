import * as vscode from 'vscode';
import type { ControlClient } from '../../control/client.ts';
import { deferred } from '../../lib/deferred.ts';
import { moment } from '../../text/timeOfDay.ts';
import { type CommandId, WAYGATE_SCHEME } from '../contributions.ts';
import { place } from '../documents/addresses.ts';
import type { DocumentAddress, DocumentProvider } from '../documents/waygateFiles.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { Observable } from '../observable.ts';
import type { CommandHandlers } from '../registrations.ts';
import { notify, type OpenPick, openPick, showWaiting } from '../windows.ts';
import { type OpenQuestion, QuestionQueue } from './questionQueue.ts';
import {
  answerChoices,
  argumentsText,
  lateMessage,
  questionSubject,
  reviewTitle,
  waitingTitle,
} from './questionText.ts';

/** First segment of the addresses of documents. */
const SEGMENT = 'questions';
const REVIEW: CommandId = 'waygate.reviewQuestions';
/** Button of the document of the arguments. */
const ANSWER: vscode.Command = { command: REVIEW, title: t`Answer…` };

/**
 * Asks the user whether tools may run, for clients that cannot ask themselves. A notification waits beside the user's
 * work; the list of answers opens only when the user wants it, because it takes the focus.
 */
export class Questions implements vscode.Disposable, DocumentProvider {
  readonly #queue = new QuestionQueue((question) => void notify('warning', lateMessage(question)));
  readonly #watching: vscode.Disposable;
  /** Ends the notification of the first question. */
  #shown: { id: string; end: () => void } | undefined;
  /** Review that goes on, and its list. */
  #reviewing: Promise<void> = Promise.resolve();
  #list: OpenPick<unknown> | undefined;
  #latestReview = 0;

  constructor() {
    this.#watching = vscode.Disposable.from(
      this.#queue,
      vscode.languages.registerCodeLensProvider(
        { scheme: WAYGATE_SCHEME, pattern: `/${SEGMENT}/*` },
        { provideCodeLenses: () => [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), ANSWER)] },
      ),
      this.#queue.open.onChange(() => this.#showFirst()),
      this.#queue.open.onChange((open) => void closeDocuments(open)),
    );
  }

  get open(): Observable<readonly OpenQuestion[]> {
    return this.#queue.open;
  }

  /** Answers the questions of a worker. They end with its connection. */
  answer(client: ControlClient, folder: OpenQuestion['folder']): void {
    const closed = new AbortController();
    client.onClose(() => closed.abort());
    client.onApproval((question, gone) => this.#queue.ask(question, folder, AbortSignal.any([gone, closed.signal])));
  }

  /** Returns the document of the arguments of a question. */
  async read({ segments: [name] }: Pick<DocumentAddress, 'segments'>): Promise<Uint8Array> {
    const open = this.#queue.open.value.find(({ id }) => name === `${id}.json`);
    if (open === undefined) throw new Error(t`The question is over.`);
    return Buffer.from(argumentsText(open.question));
  }

  commands(): Pick<CommandHandlers, 'waygate.reviewQuestions'> {
    return { 'waygate.reviewQuestions': () => this.#review() };
  }

  dispose(): void {
    this.#watching.dispose();
  }

  #showFirst(): void {
    const [first] = this.#queue.open.value;
    if (first?.id === this.#shown?.id) return;
    this.#shown?.end();
    this.#shown = undefined;
    if (first === undefined) return;
    const { promise, resolve } = deferred<void>();
    this.#shown = { id: first.id, end: resolve };
    showWaiting(waitingTitle(first.question), { label: notificationText`Review…`, command: REVIEW }, promise, () =>
      this.#queue.answer(first.id, 'denied'),
    );
  }

  /**
   * Opens the list of answers. A list that is open is opened anew, because it may be behind the user's work, or be about
   * to close.
   */
  async #review(): Promise<void> {
    if (this.#queue.open.value.length === 0) void notify('info', notificationText`No call waits for you.`);
    this.#latestReview += 1;
    const own = this.#latestReview;
    this.#list?.close();
    await this.#reviewing.catch(() => undefined);
    if (own !== this.#latestReview) return;
    this.#reviewing = this.#reviewAll();
    await this.#reviewing;
  }

  /** Goes through the open questions, until the user puts them aside. */
  async #reviewAll(): Promise<void> {
    for (let turn = 1, isAside = false; !isAside; turn += 1) {
      const [first] = this.#queue.open.value;
      if (first === undefined) return;
      isAside = !(await this.#reviewOne(first, turn));
    }
  }

  /** Resolves to whether the question is over. */
  async #reviewOne(asked: OpenQuestion, turn: number): Promise<boolean> {
    const { id, question } = asked;
    const title = () => reviewTitle(question, turn, turn - 1 + this.#queue.open.value.length);
    const choices = answerChoices(question, (at) => moment(at, Date.now()));
    const list = openPick(
      choices,
      { title: title(), placeHolder: notificationText`${question.reason}` },
      { icon: 'json', tooltip: notificationText`Show Arguments`, run: () => showDocument(asked) },
    );
    const isOpen = () => this.#queue.open.value.some((open) => open.id === id);
    const watching = this.#queue.open.onChange(() => (isOpen() ? list.setTitle(title()) : list.close()));
    this.#list = list;
    const chosen = await list.chosen;
    this.#list = undefined;
    watching.dispose();
    if (chosen !== undefined) this.#queue.answer(id, chosen.verdict);
    return !isOpen();
  }
}

/** Returns the tool and server of each open question of a gateway. */
export function questionSubjects(open: readonly OpenQuestion[], folder: string): string[] {
  return open.filter((one) => one.folder.name === folder).map(({ question }) => questionSubject(question));
}

function documentOf({ id, folder }: OpenQuestion): vscode.Uri {
  return vscode.Uri.from(place(folder.name, SEGMENT, `${id}.json`));
}

async function showDocument(question: OpenQuestion): Promise<void> {
  await vscode.window.showTextDocument(documentOf(question), { preview: true });
}

/** Closes the documents of questions that are over. */
async function closeDocuments(open: readonly OpenQuestion[]): Promise<void> {
  const kept = new Set(open.map((one) => String(documentOf(one))));
  const tabs = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(
      ({ input }) =>
        input instanceof vscode.TabInputText &&
        input.uri.scheme === WAYGATE_SCHEME &&
        input.uri.path.startsWith(`/${SEGMENT}/`) &&
        !kept.has(String(input.uri)),
    );
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs);
}
