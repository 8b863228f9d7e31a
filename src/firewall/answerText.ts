import { digest } from './digest/digest.ts';
import type { LongText } from './longText.ts';
import { viewCall } from './viewArtifact.ts';
import { visibleText } from './visibleText.ts';

export interface AnswerInput {
  /** What a model is to read; undefined when there is nothing to be read. */
  text: LongText | undefined;
  /** The status: `ok`, or `Error` and a code (VS Code passes a failed result on unmarked). */
  label: string;
  /** Where the whole of it is kept. */
  handle: string | undefined;
  /** What else came: images, links. */
  notes: readonly string[];
  shownChars: number;
}

/** Handle, calls and notes beside a digest; a tool's name may be long. */
const MIN_DIGEST_ROOM = 1_200;
const MAX_NOTES_CHARS = 1_500;

/** The porcelain of a result: its status, then itself, or a digest of it and how to read on. */
export async function answerText(input: AnswerInput): Promise<{ text: string; isWhole: boolean }> {
  const { text, label, notes, shownChars } = input;
  const besides = notesWithin(notes);
  if (!text || text.length === 0) {
    return { text: [besides.length > 0 ? label : `${label} (no content)`, ...besides].join('\n'), isWhole: true };
  }
  const isShort = text.length <= shownChars;
  const shown = isShort ? visibleText(text.toString()) : '';
  if (isShort && shown.length <= shownChars) {
    const separator = label === 'ok' ? '\n' : ': ';
    return { text: [`${label}${separator}${shown}`, ...besides].join('\n'), isWhole: true };
  }
  return { text: await digestText(input, besides), isWhole: false };
}

async function digestText(input: AnswerInput, notes: readonly string[]): Promise<string> {
  const { text, label, handle, shownChars } = input;
  // Made once for its calls and title, whose length is known only then; escapes take room as well.
  let room = Math.max(MIN_DIGEST_ROOM, shownChars - notes.join('\n').length - 800);
  for (;;) {
    const { title, body, views } = await digest(text as LongText, room);
    const footer =
      handle === undefined
        ? []
        : [
            `All of it is kept. Read on with tool_view:`,
            ...views.map((selector) => viewCall(handle, selector).replace(/^tool_view /, '')),
          ];
    const whole = [`${label} · ${visibleText(title)}`, visibleText(body), ...footer, ...notes].join('\n');
    const limit = Math.max(shownChars, MIN_DIGEST_ROOM + 2_000);
    if (whole.length <= limit || room < 200) return whole.length <= 7_000 ? whole : `${whole.slice(0, 6_900)}…`;
    room = Math.floor(room * 0.7);
  }
}

function notesWithin(notes: readonly string[]): string[] {
  const shown: string[] = [];
  let used = 0;
  for (const note of notes) {
    used += note.length + 1;
    if (used > MAX_NOTES_CHARS)
      return [...shown, `… ${notes.length - shown.length} more of these; render=json lists all`];
    shown.push(note);
  }
  return shown;
}
