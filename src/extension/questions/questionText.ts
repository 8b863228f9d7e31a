import type { ApprovalQuestion, ApprovalVerdict } from '../../control/contract.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';

/** Answer of the user, with its meaning. */
export interface AnswerChoice {
  label: NotificationText;
  detail: NotificationText;
  verdict: ApprovalVerdict;
}

const MAX_NAME_CHARS = 60;

/** Keeps the letters of a name that form no link and no icon in a message. */
function plainName(name: string, otherwise: string): string {
  return name.replace(/[^\w.-]+/g, '').slice(0, MAX_NAME_CHARS) || otherwise;
}

/** Returns the tool and its server, for a sentence: `customer_delete of erp`. */
export function questionSubject({ toolId, server }: ApprovalQuestion): string {
  const tool = /^[^:]*:(.*)#[^#]*$/.exec(toolId)?.[1] ?? toolId;
  return t`${plainName(tool, t`A tool`)} of ${plainName(server, t`a server`)}`;
}

export function waitingTitle(question: ApprovalQuestion): NotificationText {
  if (question.refusedAt !== undefined) {
    return notificationText`${questionSubject(question)} did not run, because nobody could be asked.`;
  }
  return notificationText`${questionSubject(question)} waits for you.`;
}

export function lateMessage(question: ApprovalQuestion): NotificationText {
  return notificationText`${questionSubject(question)} did not run: nobody answered the question in time.`;
}

/** Title of the list of answers. `place` counts from 1. */
export function reviewTitle(question: ApprovalQuestion, place: number, total: number): NotificationText {
  const { client } = question;
  const subject = questionSubject(question);
  return client === undefined
    ? notificationText`${place} of ${total}: may ${subject} run?`
    : notificationText`${place} of ${total}: may ${subject} run, for ${plainName(client, t`a client`)}?`;
}

/** Returns the answers. The first one is active, so that a stray Enter runs nothing. */
export function answerChoices(question: ApprovalQuestion, timeOf: (at: number) => string): readonly AnswerChoice[] {
  const { deadline, toolId, refusedAt } = question;
  const always: AnswerChoice = {
    label: notificationText`Always Allow Here`,
    detail: notificationText`Runs each call of this tool in this workspace, until its definition changes.`,
    verdict: 'workspace',
  };
  if (refusedAt !== undefined) {
    return [
      {
        label: notificationText`Deny`,
        detail: notificationText`The call was refused at ${timeOf(refusedAt)}, and the next one asks again.`,
        verdict: 'denied',
      },
      {
        label: notificationText`Allow Once`,
        detail: notificationText`Runs the next call of ${toolId} by this client with the same arguments.`,
        verdict: 'once',
      },
      always,
    ];
  }
  const denies =
    deadline === undefined
      ? notificationText`The call does not run.`
      : notificationText`The call does not run. Without an answer, it is denied at ${timeOf(deadline)}.`;
  return [
    { label: notificationText`Deny`, detail: denies, verdict: 'denied' },
    {
      label: notificationText`Allow Once`,
      detail: notificationText`Runs this call of ${toolId}. The next one asks again.`,
      verdict: 'once',
    },
    {
      label: notificationText`Allow in This Session`,
      detail: notificationText`Runs each call of this tool until the client ends its session.`,
      verdict: 'session',
    },
    always,
  ];
}

/** Returns the whole arguments for a document, with hidden characters visible. */
export function argumentsText({ arguments: args }: ApprovalQuestion): string {
  return `${visibleJson(args ?? {}, 2)}\n`;
}
