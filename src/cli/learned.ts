import type { GatewayTarget } from '../host/startWorker.ts';
import { count } from '../ops/porcelain.ts';
import { withSettledGateway } from './settledGateway.ts';

export interface LearnedCommand extends GatewayTarget {
  forget: 'all' | { toolId: string } | undefined;
  json: boolean;
}

/** What use has taught the ranking in this workspace: to be seen, and to be erased. */
export function learned({ forget, json, ...target }: LearnedCommand): Promise<number> {
  return withSettledGateway(target, async (control) => {
    const before = await control.request('learned', {});
    const after = forget ? await control.request('forget', forget === 'all' ? {} : forget) : before;
    if (json) process.stdout.write(`${JSON.stringify(after, null, 2)}\n`);
    else {
      if (forget) process.stdout.write(`Forgot ${count(before.length - after.length, 'entry', 'entries')}.\n`);
      for (const { words, toolId, uses } of after) process.stdout.write(`${toolId}  ${words.join(' ')}  (${uses})\n`);
      if (after.length === 0) process.stdout.write('Nothing has been learned here.\n');
    }
    return 0;
  });
}
