import type { ToolDetails } from '../../control/toolContract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import { t } from '../l10n.ts';
import { shortTokens } from '../plainText.ts';
import { useOf } from './serverRow.ts';
import { SAFETY_SENTENCES } from './toolRows.ts';
import type { TooltipPart } from './treeRow.ts';

const MAX_DESCRIPTION_CHARS = 2_000;
const MAX_SIGNATURE_CHARS = 500;

const REPLAY_SENTENCES: Record<ToolDetails['replay'], string> = {
  convergent: t`A lost call is repeated.`,
  probe_required: t`A lost call is repeated if a probe shows that it had no effect.`,
  never_replay: t`A lost call is never repeated.`,
};

/** Describes a tool whole; the row and the list of its level have only the beginning. */
export function toolTooltip(tool: ToolDetails): TooltipPart[] {
  const { toolId, name, title, description, signature, tokens, safety, replay } = tool;
  const text = (words: string): TooltipPart => ({ style: 'text', text: words });
  return [
    { style: 'title', text: [name, title].filter((part) => part !== undefined && part !== '').join(': ') },
    { style: 'code', text: toolId },
    { style: 'code', text: oneLine(`${name}(${signature})`, MAX_SIGNATURE_CHARS) },
    ...(description ? [text(visibleText(description.slice(0, MAX_DESCRIPTION_CHARS)))] : []),
    ...(tool.before ? [text(t`It has changed since your approval. "Show What Changed" compares both.`)] : []),
    text(
      [SAFETY_SENTENCES[safety], t`${shortTokens(tokens)} tokens.`, REPLAY_SENTENCES[replay]].filter(Boolean).join(' '),
    ),
    ...useOf(tool),
  ];
}
