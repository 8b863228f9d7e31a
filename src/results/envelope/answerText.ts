import { fenced, quotedData } from '../../text/fence.ts';
import { shortened } from '../../text/porcelain.ts';
import { viewCall } from '../artifacts/viewArtifact.ts';
import { digestOf, type Readable } from '../digest/digest.ts';

export interface AnswerInput {
  /** Text for the model; undefined when there is none. */
  text: Readable | undefined;
  /** Status: `ok`, or `Error` and a code, because VS Code passes on a failed result unmarked. */
  label: string;
  /** Server that the text is from. */
  source: string;
  /** Stores the whole text and returns its handle. Called for a digest only. */
  handle: () => Promise<string | undefined>;
  /** Notes about other parts: images, links. */
  notes: readonly string[];
  shownChars: number;
}

/** Estimated size of title, handle and calls beside a digest, since a tool's name may be long. */
const FRAME_CHARS = 800;
/** Least size of an answer with a digest. */
const MIN_ANSWER_CHARS = 3_200;
const MIN_ROOM = 200;
const MAX_NOTES_CHARS = 1_500;

export interface AnswerText {
  text: string;
  /** Foreign text in it, as the server sent it. */
  shown: string;
}

/** Renders a result: its status and source, then the text, or a digest and the calls that read on (M2.10, M2.14). */
export async function answerText(input: AnswerInput): Promise<AnswerText> {
  const { text, label, source, notes, shownChars } = input;
  const besides = notesWithin(notes);
  if (!text || ('length' in text && text.length === 0)) {
    if (besides.length === 0) return { text: `${label} (no content)`, shown: '' };
    const shown = besides.join('\n');
    return { text: fenced(label, source, shown), shown };
  }
  const whole = 'length' in text && text.length <= shownChars ? text.toString() : undefined;
  if (whole === undefined || quotedData(whole).length > shownChars) {
    return digestText(text, input, besides);
  }
  const shown = [whole, ...besides].join('\n');
  return { text: fenced(label, source, shown), shown };
}

/** The notes name parts in the server's words, so they are within the fence. */
async function digestText(
  text: Readable,
  { label, source, handle: keep, shownChars }: AnswerInput,
  notes: readonly string[],
): Promise<AnswerText> {
  const handle = await keep();
  const limit = Math.max(shownChars, MIN_ANSWER_CHARS);
  let room = limit - notes.join('\n').length - FRAME_CHARS;
  for (;;) {
    const { title, body, views } = await digestOf(text, room);
    const calls = views.map((selector) => viewCall(handle ?? '', selector).replace(/^tool_view /, ''));
    const footer = handle === undefined ? [] : ['All of it is kept. Read on with tool_view:', ...calls];
    const shown = [title, body, ...notes].join('\n');
    const whole = [fenced(label, source, shown), ...footer].join('\n');
    if (whole.length <= limit) return { text: whole, shown };
    if (room < MIN_ROOM) {
      const least = shortened(title, MIN_ROOM);
      return { text: [fenced(label, source, least), ...footer].join('\n'), shown: least };
    }
    // The frame is longer than estimated, or marks and escapes take room.
    room = Math.floor(Math.min(room * 0.8, (room * limit) / whole.length));
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
