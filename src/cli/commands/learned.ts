import { didYouMean } from '../../text/nearest.ts';
import { count, inLines } from '../../text/porcelain.ts';
import type { LearnedCommand } from '../commands.ts';
import { print } from '../print.ts';
import { withSettledGateway } from '../settledGateway.ts';

/** Prints or erases the effects of use on the ranking in this workspace. */
export function learned({ forget, json, ...target }: LearnedCommand): Promise<number> {
  return withSettledGateway(target, async (control) => {
    const before = await control.request('learned', {});
    if (typeof forget === 'object' && !before.some(({ toolId }) => toolId === forget.toolId)) {
      const known = [...new Set(before.map(({ toolId }) => toolId))];
      const remedy =
        known.length === 0 ? 'no tool has been used yet.' : didYouMean(forget.toolId, known, 'see waygate learned.');
      throw new Error(`nothing has been learned about "${forget.toolId}"; ${remedy}`);
    }
    const after = forget ? await control.request('forget', forget === 'all' ? {} : forget) : before;
    const forgot = forget ? `Forgot ${count(before.length - after.length, 'entry', 'entries')}.\n` : '';
    const lines = inLines(after).map(({ words, toolId, uses }) => `${toolId}  ${words.join(' ')}  (${uses})\n`);
    print(json, after, `${forgot}${lines.join('') || 'Nothing has been learned here.\n'}`);
    return 0;
  });
}
