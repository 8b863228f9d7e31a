import { type Phrase, phrases } from './phrases.ts';

const WORDS = {
  IMPORTANT:
    '(?:important|wichtig|importante?|重要|system(?:[ _-]\\w+)?|systeme|sistema|系统|システム|secret|hidden|confidential|admin(?:[ _-]\\w+)?|override|developer|assistant[ _-]\\w+|ai[ _-]\\w+|agent[ _-]\\w+|llm[ _-]?\\w*|sys|urgent|critical|privileged)',
  STRUCTURE: '(?:instructions?|anweisung(?:en)?|consignes?|instrucciones|instrucoes|rules|prompt|internal|指示|指令)',
};

/** Rules about markup that a model may take for the system's. A placeholder such as `<system>/<host>` is not a tag. */
export const TAGS: readonly Phrase[] = phrases(
  WORDS,
  String.raw`
D3 hard <\|(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\|>|\[/?inst\]|<</?sys>>
D3 hard <{IMPORTANT}>[^<>]{12,4000}</{IMPORTANT}>
D3 hard <{IMPORTANT}>(?! ?(?:and|or|of|in|tags?|elements?|sections?)\b)[ :]\S{1,30} \S{1,30} \S
D3 hard <{STRUCTURE}>[^<>]{12,4000}</{STRUCTURE}>
D3 hard \[(system|admin|developer|important)\](?! ?(?:and|or|,|in|stands?)\b)[^\[\]\n]{10,400}\n?[^\[\]\n]{0,400}\[/\1\]
D3 soft \[(?:system|admin|developer)\] ?:? \S{1,30} \S{1,30} \S
D3 hard #{2,6} ?(?:system|developer|new instructions?|admin)(?: prompt| message)? ?:
`,
);
