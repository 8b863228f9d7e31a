import { type Phrase, phrase } from './phrases.ts';

const IMPORTANT = '(?:important|wichtig|importante?|重要|system|systeme|sistema|系统|システム|secret|hidden|confidential|admin(?:[ _-]\\w+)?|override|developer|assistant[ _-]\\w+|ai[ _-]\\w+|agent[ _-]\\w+|llm[ _-]?\\w*|sys|urgent|critical|privileged)';
const STRUCTURE = '(?:instructions?|anweisung(?:en)?|consignes?|instrucciones|instrucoes|rules|prompt|internal|指示|指令)';

/** Rules about markup that a model may take for the system's. Placeholders such as `<system>/<host>` are none. */
export const TAGS: readonly Phrase[] = [
  phrase('D3', 'hard', '<\\|(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\\|>|\\[/?inst\\]|<</?sys>>'),
  phrase('D3', 'hard', `<${IMPORTANT}>[^<>]{12,4000}</${IMPORTANT}>`),
  phrase('D3', 'hard', `<(?:${IMPORTANT})>[ :]\\S{1,30} \\S{1,30} \\S`),
  phrase('D3', 'hard', `<(?:${STRUCTURE})>[^<>]{12,4000}</(?:${STRUCTURE})>`),
  phrase('D3', 'hard', '\\[(system|admin|developer|important)\\](?! ?(?:and|or|,|in|stands?)\\b)[^\\[\\]\\n]{10,400}\\n?[^\\[\\]\\n]{0,400}\\[/\\1\\]'),
  phrase('D3', 'soft', '\\[(?:system|admin|developer)\\] ?:? \\S{1,30} \\S{1,30} \\S'),
  phrase('D3', 'hard', '#{2,6} ?(?:system|developer|new instructions?|admin)(?: prompt| message)? ?:'),
];
