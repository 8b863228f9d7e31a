import type { ArtifactAnswer, ArtifactSelection } from '../../control/artifactContract.ts';
import { t } from '../l10n.ts';

export type Selector = Readonly<Record<string, unknown>>;

const MAX_FOUND_CHARS = 1024 * 1024;

/** Follows a selector until its end or the limit: an answer of the worker is as short as one for a model. */
export async function foundText(
  select: (selector: Selector) => Promise<ArtifactAnswer<ArtifactSelection>>,
  selector: Selector,
): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  let next: Selector | undefined = selector;
  while (next && length <= MAX_FOUND_CHARS) {
    const answer: ArtifactAnswer<ArtifactSelection> = await select(next);
    if ('reason' in answer) throw new Error(answer.reason);
    // The part of a large result that was searched for this answer may have no match.
    if (answer.text !== '') texts.push(answer.text);
    length += answer.text.length;
    next = answer.next;
  }
  const text = texts.length === 0 ? t`Nothing was found.` : texts.join('\n');
  const more = next ? `\n… ${t`More was found; save the result to search it whole.`}\n` : '';
  return `${text}\n${more}`;
}
