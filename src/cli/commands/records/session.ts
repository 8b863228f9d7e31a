import { maskedChunks, renderConversation } from '../../../records/session/conversation.ts';
import { packContext } from '../../../records/session/packedContext.ts';
import { readSession, type Session, SessionError } from '../../../records/session/sessionFile.ts';
import { count, groupDigits, quoted } from '../../../text/porcelain.ts';
import type { SessionCommand } from '../../commands.ts';
import { print, printAside, printText } from '../../print.ts';
import { NO_INPUT, UNREADABLE, UsageError } from '../../usageError.ts';

/** Shows a recorded session: all of it, or what it says about a question within a token budget. */
export async function session({ file, question, budget, item, json }: SessionCommand): Promise<number> {
  const read = await sessionIn(file);
  if (item !== undefined) {
    const found = read.items.find(({ id }) => id === item);
    if (!found) throw new UsageError(`${file} has no item ${quoted(item)}.`);
    for (const chunk of maskedChunks(found)) printText(chunk);
    printText('\n');
    return 0;
  }
  if (question === undefined) {
    const text = await renderConversation(read);
    print(json, { items: read.items.map(described), skipped: read.skipped }, text);
    return 0;
  }
  const packed = await packContext(read, question, budget);
  print(json, packed, packed.text);
  if (!json) printAside(`${summaryOf(packed, read, budget)}\n`);
  return 0;
}

function summaryOf(
  { included, omitted, tokens, isMatch }: Awaited<ReturnType<typeof packContext>>,
  { items }: Session,
  budget: number,
): string {
  const sentences = [
    `${included.length} of ${count(items.length, 'item')}, ${groupDigits(tokens)} of ${groupDigits(budget)} tokens.`,
    ...(isMatch ? [] : ['No item has a word of the question, so these are the newest.']),
    ...(omitted.length > 0 ? [`No room for ${omitted.length} more: raise --budget.`] : []),
  ];
  return sentences.join(' ');
}

const described = ({ id, type, parentId, text }: Session['items'][number]): object => ({
  id,
  type,
  ...(parentId === undefined ? {} : { parent_id: parentId }),
  chars: text.length,
});

async function sessionIn(file: string): Promise<Session> {
  try {
    return await readSession(file);
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    throw new UsageError(error.message, error.isAbsent ? NO_INPUT : UNREADABLE);
  }
}
