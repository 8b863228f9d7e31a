import type { ControlRequests, LearnedUse } from '../../control/contract.ts';
import { visibleText } from '../../text/visibleText.ts';
import { plural, t } from '../l10n.ts';

type RankExplanation = ControlRequests['explain']['result'];
type ExplainedHit = RankExplanation['hits'][number];
type Contribution = ExplainedHit['contributions'][number];

const SHOWN = 10;
const BAR = 12;
const VERDICTS: Readonly<Record<RankExplanation['confidence'], string>> = {
  good: t`A good match: an agent gets these tools as hits.`,
  weak: t`A weak match: an agent gets at most three of these tools, and is asked for other words.`,
  none: t`No match: an agent is asked for other words.`,
};

/** Inputs of the document: the ranking, the tool that the user expected, and what use has taught. */
export interface WhyRanked {
  explanation: RankExplanation;
  /** Tool that the user asks about. */
  expected?: string | undefined;
  learned: readonly LearnedUse[];
}

/** Explains the ranking of a query in Markdown, in the order and with the scores that an agent gets. */
export function whyRanked({ explanation, expected, learned }: WhyRanked): string {
  const { query, confidence, hits } = explanation;
  const shown = hits.slice(0, SHOWN);
  return [
    `# ${t`Why: ${code(query)}`}`,
    `${VERDICTS[confidence]}`,
    `## ${t`How the query was understood`}`,
    ...understood(explanation),
    ...(expected === undefined ? [] : [`## ${t`The tool that you expected`}`, placeOf(explanation, expected)]),
    `## ${t`Hits`}`,
    ...(shown.length === 0 ? [t`None.`] : shown.map((hit, index) => hitText(hit, index, shown[0]?.score ?? 0))),
    ...(hits.length > shown.length ? [t`${hits.length - shown.length} more follow.`] : []),
    `## ${t`What use has taught`}`,
    ...taught(learned, hits),
    '',
  ].join('\n\n');
}

function understood({ words, concepts, intent }: RankExplanation): string[] {
  const of = (keep: (word: RankExplanation['words'][number]) => boolean): string =>
    words
      .filter(keep)
      .map(({ word }) => code(word))
      .join(', ');
  const counted = of(({ known, stop }) => known && !stop);
  const unknown = of(({ known, stop }) => !known && !stop);
  const stops = of(({ stop }) => stop);
  return [
    [
      `- ${t`Words that count: ${counted || t`none`}`}`,
      ...(unknown ? [`- ${t`Words that no tool has: ${unknown}`}`] : []),
      ...(stops ? [`- ${t`Words without weight: ${stops}`}`] : []),
      ...concepts.map(
        ({ asked, standsFor }) => `- ${t`${code(asked)} also stands for ${standsFor.map(code).join(', ')}`}`,
      ),
      `- ${intent === '' ? t`Wish: not recognised` : t`Wish: ${code(intent)}`}`,
    ].join('\n'),
  ];
}

function hitText({ toolId, score, contributions }: ExplainedHit, index: number, best: number): string {
  const rows = contributions.map(
    (one) => `| ${bar(one.amount, best)} | ${signed(one.amount)} | ${cell(one.from)} | ${cell(whatOf(one))} |`,
  );
  return [
    `### ${index + 1}. ${code(toolId)}: ${score}`,
    [`| | ${t`share`} | ${t`from`} | ${t`what`} |`, '| --- | ---: | --- | --- |', ...rows].join('\n'),
  ].join('\n\n');
}

/** Describes the place of a tool, and the words that the best hit has and it lacks. */
function placeOf({ hits, words }: RankExplanation, expected: string): string {
  const index = hits.findIndex(({ toolId }) => toolId === expected);
  const wanted = words.filter(({ known, stop }) => known && !stop).map(({ word }) => word);
  const hit = hits[index];
  if (!hit) {
    return t`${code(expected)} is not among the first ${hits.length}. Use words of its name and description, or another wording beside this one, separated by ${'`|`'}.`;
  }
  // Contributions name stems: `delet` for `delete`.
  const has = hit.contributions.flatMap(({ what, amount }) => (amount > 0 ? [what.toLowerCase()] : []));
  const lacks = wanted.filter((word) => !has.some((stem) => stem !== '' && word.startsWith(stem))).map(code);
  const [tool, place, missing] = [code(expected), index + 1, lacks.join(', ')];
  if (index === 0)
    return missing === ''
      ? t`${tool} is the first hit.`
      : t`${tool} is the first hit: no contribution comes from ${missing}.`;
  return missing === ''
    ? t`${tool} has place ${place}.`
    : t`${tool} has place ${place}: no contribution comes from ${missing}.`;
}

function taught(learned: readonly LearnedUse[], hits: readonly ExplainedHit[]): string[] {
  const ids = new Set(hits.map(({ toolId }) => toolId));
  const about = learned.filter(({ toolId }) => ids.has(toolId)).slice(-SHOWN);
  if (about.length === 0) return [t`Nothing about these tools.`];
  const lines = about.map(
    ({ words, toolId, uses }) =>
      `- ${words.map(code).join(' ')} → ${plural(uses, t`${code(toolId)}, once`, t`${code(toolId)}, ${uses} times`)}`,
  );
  return [
    lines.join('\n'),
    t`The command *Waygate: Forget What Use Has Taught…* erases it, and the menu of a tool's row what use has taught about that tool.`,
  ];
}

function whatOf({ what, fields = [] }: Contribution): string {
  return fields.length === 0 ? what : `${what} (${fields.join(', ')})`;
}

function bar(amount: number, best: number): string {
  const length = best > 0 ? Math.min(BAR, Math.round((BAR * Math.abs(amount)) / best)) : 0;
  return (amount < 0 ? '░' : '█').repeat(length);
}

function signed(amount: number): string {
  return `${amount < 0 ? '−' : '+'}${Math.abs(amount)}`;
}

/** Quotes a word of a query or a server, so that it makes no markup. */
function code(text: string): string {
  const line = visibleText(text).replace(/\s+/g, ' ').replaceAll('`', "'");
  return line.trim() === '' ? '` `' : `\`${line}\``;
}

function cell(text: string): string {
  return code(text).replaceAll('|', '\\|');
}
