import type { ControlRequests } from '../../control/contract.ts';
import { inLines } from '../../text/porcelain.ts';
import type { BrowseCommand } from '../commands.ts';
import { jsonText, print, printAside, printText } from '../print.ts';
import { withSettledGateway } from '../settledGateway.ts';
import { printStepFor } from './status.ts';

type Explanation = ControlRequests['explain']['result'];

const EXPLAINED_HITS = 10;
const EXIT_FAILED = 1;

/** Prints the cards exactly as a model reads them; with `--explain` also the reasons. */
export function browse({ subject, explain, json, ...target }: BrowseCommand): Promise<number> {
  const isPath = subject.startsWith('/');
  return withSettledGateway(target, async (control) => {
    if (explain && !isPath) {
      const explanation = await control.request('explain', { query: subject, topK: EXPLAINED_HITS });
      print(json, explanation, renderExplanation(inLines(explanation)));
      return 0;
    }
    const args = { ...(isPath ? { path: subject } : { query: subject }), render: json ? 'json' : 'porcelain' };
    const { content, structuredContent, isError } = await control.request('callTool', { name: 'tool_browse', args });
    const text = json ? jsonText(structuredContent) : content.map((part) => part.text ?? '').join('');
    (isError ? printAside : printText)(text);
    printStepFor(json, await control.request('status', {}));
    return isError ? EXIT_FAILED : 0;
  });
}

export function renderExplanation({ query, confidence, words, concepts, intent, hits }: Explanation): string {
  const understood = words.map(({ word, known, stop }) => (stop ? `(${word})` : known ? word : `${word}?`));
  const lines = [`query     ${query}`, `words     ${understood.join(' ')}`];
  for (const { asked, standsFor } of concepts) lines.push(`meaning   ${asked}: ${standsFor.join(', ')}`);
  lines.push(`intent    ${intent}`, `match     ${confidence}`);
  for (const { toolId, score, contributions } of hits) {
    lines.push('', `${score}  ${toolId}`);
    for (const { from, what, fields, amount } of contributions) {
      const where = fields?.length ? ` in ${fields.join(', ')}` : '';
      lines.push(`  ${amount > 0 ? '+' : ''}${amount}  ${from} ${what}${where}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
