import { type Phrase, phrases } from './phrases.ts';

/** Words of the patterns below, by the names that stand in braces there. */
const WORDS = {
  INSTRUCTIONS: String.raw`(?:instructions?|directions?|directives?|guidelines?|guidance|rules?|system prompts?|prompts?|commands|orders|constraints?|polic(?:y|ies)|restrictions?|safeguards?|training|programming|system message)\b`,
  EARLIER: String.raw`\b(?:previous(?:ly)?|prior|earlier|preceding|above|foregoing|existing|original|initial|former|past|system|developer|your|before|until now|so far|you (?:were|have been) (?:told|given))\b`,
  /** Imperatives alone: a description says what its tool ignores. */
  DISOBEY: String.raw`\b(?:ignore|disregard|forget|override|overrule|bypass|discard|drop|neglect|abandon|dismiss|cancel|erase|unlearn|set aside|pay no (?:attention|heed) to)\b`,
  NOT: String.raw`\b(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|cannot|avoid|refrain from|stop|without|no need to|not necessary to|not need to|no longer)\b`,
  USER: String.raw`\b(?:the|your|our|this|any|end) ?(?:end[ -]?)?(?:user|human|person|customer|operator|owner|client)\b(?! ?(?:id|name|input|agent|interface|story))`,
  ASSISTANT: String.raw`(?:ais?|llms?|(?:large )?language models?|(?:ai |coding |chat )?assistants?|ai[ -](?:agents?|models?|systems?)|chatbots?|copilot|claude|chatgpt|gpt)\b`,
  TOOL: String.raw`(?:tools?|functions?|commands?)\b`,
  HIDES: String.raw`(?:tell|inform|notify|alert|warn|advise|telling|informing|notifying|alerting|warning|let)\b`,
  SHOWS: String.raw`(?:mention|reveal|disclose|show|expose|report|say|explain|display|admit|confess|mentioning|revealing|disclosing|showing|exposing)\b`,
  CONSENTED: String.raw`(?:consented|agreed|approved|authori[sz]ed|allowed|accepted|permitted|confirmed|opted in|signed off|pre-?approved|pre-?authori[sz]ed|given (?:\w+ ){0,2}(?:consent|permission|approval|authori[sz]ation)|granted (?:\w+ ){0,2}(?:consent|permission|approval|authori[sz]ation|access))\b`,
  THIS_TOOL: String.raw`(?:this|these|the|any|each|every|other|another)(?: \w+){0,2} (?:tools?|functions?|commands?)\b`,
};

/** A rule that overrides another, a filter that may ignore words: the work of a tool. */
const DESCRIBES = /\b(?:that|which|can|may|could|not|never|rules) $/;
/** Conditions: a tool may ask for consent, and must not claim it. */
const CONDITION =
  /\b(?:if|when|once|after|until|unless|whether|only|that|because|apps|before|by|a|an|each|every|any)\b[^\n]{0,16}$/;

/** Rules of English texts. Places, commands and other languages have files of their own. */
export const ENGLISH: readonly Phrase[] = [
  ...phrases(
    WORDS,
    String.raw`
D1 hard {DISOBEY}~30{EARLIER}~30\b{INSTRUCTIONS}
D1 hard {DISOBEY}~20\b{INSTRUCTIONS}~20{EARLIER}
D1 hard {DISOBEY} (?:all |everything |anything )?(?:of )?(?:the |that is )?(?:above|foregoing)\b(?! (?:threshold|limit|average))
D1 soft {DISOBEY}~12\b(?:any|all|every|the|what the)\b(?: other)? (?:instructions?|orders|guidelines|directives|system prompts?|user|developer|human)\b(?! ?(?:id|name|agent|input|settings?|preferences?|stor|interface|message))
`,
    DESCRIBES,
  ),
  ...phrases(
    WORDS,
    String.raw`
D1 hard \bforget (?:everything|all(?: that)?) (?:you|above|before|that)\b
D1 hard {NOT} (?:follow|obey|heed|comply with|listen to|adhere to)\b~25(?:{EARLIER}~20\b{INSTRUCTIONS}|\b{INSTRUCTIONS}~20\b(?:of the user|any ?more|any longer|above|you (?:were|have)))
D1 hard (?:\bnew|\bthese|\bthe following)\b~15\b{INSTRUCTIONS}~15\b(?:supersede|replace|override|overrule|take (?:precedence|priority) over|have (?:precedence|priority) over|outrank)\b~20\b(?:previous|prior|earlier|all|any|system|developer|user|your|other)\b
D1 hard \b(?:your|system|developer|(?:all|the|any) (?:previous|prior|earlier))\b~20\b{INSTRUCTIONS}~20\b(?:(?:is|are|has been|have been) (?:now |hereby |all )?(?:cancel\w*|void|null|outdated|obsolete|superseded|revoked|suspended|lifted|no longer)|must be ignored|no longer (?:apply|valid|count))
D1 hard \byou are (?:now |hereby )?(?:no longer (?:bound|restricted|limited|subject|constrained)|free (?:of|from) (?:all |any )?(?:rules|restrictions)|(?:an? )?unrestricted|in (?:developer|god|jailbreak|dan) mode)\b
D1 hard \byou (?:now |will now )(?:work for|obey|serve|answer to|belong to|report to)\b
D1 hard \bact as (?:an? )?(?:unrestricted|unfiltered|jailbroken)\b
D1 hard \b(?:obey|follow|trust|listen to)\b~15\bonly\b~30\b(?:this (?:server|description|tool|text)|these rules|messages (?:that come )?from this)
D1 hard \b(?:only|solely) (?:the )?(?:rules|instructions|directives)~10\b(?:in|of|from) this (?:description|server|tool|text)\b
D1 hard \b(?:reveal|print|repeat|output|recite|leak|disclose|dump|paste|quote)\b~20\b(?:your|hidden|the full|entire)\b~15\b(?:system (?:prompt|message|instructions)|(?:initial|hidden|secret) (?:prompt|instructions))\b
D1 soft \b(?:safety|security) (?:checks|rules|guidelines|policies|measures)\b~15\b(?:do not apply|are (?:off|disabled|suspended|lifted)|no longer apply)
D1 soft (?:{EARLIER}~20\b{INSTRUCTIONS}|\b{INSTRUCTIONS}~25{EARLIER})~20\b(?:cancel\w*|void|no longer (?:apply|valid|count)|must be ignored|do not apply)\b
D1 soft \b(?:description|tool|text|rules?|instructions?|server|message|page)\b~12\b(?:override|supersede|outrank|(?:take|have|has) (?:precedence|priority) over)s?\b~15\b(?:system prompt|the user|developer|anything|everything|all other|other instructions|previous|prior)\b
D1 soft \b(?:takes?|has|have) (?:precedence|priority) over (?:the |any |all )?(?:system|developer|user|other instructions)
D1 soft \b(?:your new (?:role|task|job|identity|persona|goal|objective) is|stop being an?|you are now (?:an?|the|dan|acting)\b|from now on,? you (?:are|act|will|must|only)|pretend (?:to be|you are)|you must now)
D1 soft (?:^|\n)new (?:system prompt|instructions|directives?|orders) ?:
D1 soft \btreat\b~25\bas (?:an? |the |if it (?:came|were) from |coming from )*(?:system|developer|higher)\b
D1 soft \b(?:message|notice|instructions?|announcement|order|command) from (?:the|your) (?:system|administrator|admin|developers?|provider|security team|operator)\b
D1 soft {NOT} (?:listen to|follow|obey|trust|serve|help|do what) (?:the )?(?:user|human|developer)(?:'s)?\b
D1 soft \b(?:print|repeat|output|recite|copy|return|quote|echo) (?:everything|all|the text|the words|all text|what is)(?: that is)? (?:above|before|preceding)
D2 hard {NOT} (?:ever |even |also )?{HIDES}~12{USER}
D2 hard {NOT} (?:ever |even |also )?{SHOWS}(?! (?:raw|the raw|internal|more than|the id|ids?|uuids?|technical))~40\b(?:to|from|towards|with|by) {USER}
D2 hard {NOT} (?:ever )?(?:mention|reveal|disclose|talk about|admit|mentioning|revealing|disclosing)\b~4\b(?:this|these|it|any of (?:this|these)|the (?:above|existence of th\w+))\b(?: (?:instruction|step|note|message|prompt|rule|parameter|action|call|tool|copy|to)s?)?
D2 hard {USER} (?:must|should|may|does|do|will|need|needs)(?: ?not|n't| never)~15\b(?:know|notice|be (?:told|notified|informed|aware|made aware|alerted|shown)|find out|learn|realize|realise|hear|become aware|suspect)\b
D2 hard \bkeep (?:this|it|that|these|them)(?: \w+){0,2} (?:secret|hidden|private|confidential|quiet|to yourself|between us|invisible)\b
D2 hard \b(?:hide|conceal|withhold)\b~25\bfrom {USER}
D2 hard \bwithout (?:the )?(?:user|human|person|owner)(?:'s)? (?:knowing|knowledge|noticing|awareness|being (?:told|aware|informed|notified)|seeing)|\bbehind (?:the )?(?:user|human)'s back|\bunnoticed by the user|\bso that (?:the|your) (?:user|human|person) (?:does|will|can)(?: ?not|n't) (?:notice|know|see|find)
D2 soft \b(?:secretly|covertly|silently|quietly|discreetly|stealthily|behind the scenes)\b,? (?:also )?(?:send|include|add|copy|upload|forward|attach|collect|pass|read|run|execute|append|store|record)\b
D2 soft \b(?:leave|omit|keep)\b~15\bout of (?:your|the) (?:summary|answer|report|reply|response)\b
D2 hard \b(?:make sure|ensure|see to it)(?: that)? (?:the )?(?:user|human|person|nobody|no one) (?:never |does not |doesn't |cannot |will not |won't )?(?:find|know|notice|see|learn|hear|reali[sz]e)s?\b
D2 hard \b(?:lie|lying) to (?:the )?(?:user|human|person)|\bdeceive (?:the )?(?:user|human)
D2 soft \b(?:nobody|no one|no human|no person|none) (?:needs? to|should|must|may|will|can|has to|else)? ?(?:know|see|notice|find out|learn|be told)
D2 soft {USER} (?:must|should|may|can) (?:not|never) see\b
D2 soft {NOT} (?:include|bring|refer to|write|note|list|record|describe|cite|point out|acknowledge|comment on|speak of|show)\b~4\b(?:this|these|it|that) (?:up|step|copy|call|upload|parameter|tool|instruction|action|part|fact|to the user|in (?:your|the))
D2 soft \b(?:stay|remain|stays|remains|is) (?:strictly )?(?:between us|a secret|our secret|unmentioned)\b|\bsay nothing\b|\bno mention of\b|\bnever let on\b|\bpretend (?:that|nothing|not|it|as if)|\bdeny (?:it|this|any|that|having)\b|\bcover (?:up|your tracks)|\b(?:hide|erase|remove|delete|leave no) (?:the |all |any )?(?:traces?|evidence|tracks)\b
`,
  ),
  ...phrases(
    WORDS,
    String.raw`
D4 soft \b(?:(?:the|your) )?(?:end )?(?:user|human|owner|person|customer|administrator|admin|operator)s? (?:has|have|had) (?:already |previously |explicitly |fully |hereby )?{CONSENTED}
D4 soft \b(?:user|human|owner|administrator|admin|operator) (?:already |explicitly |previously ){CONSENTED}
D4 soft \b(?:the|your) (?:user|human|owner|operator|administrator) (?:gave|granted|agreed|consented|approved|authori[sz]ed|accepted)\b
`,
    CONDITION,
  ),
  ...phrases(
    WORDS,
    String.raw`
D4 soft \b(?:user|human|owner|operator|administrator)(?: \w+){0,4} pre-?(?:approved|authori[sz]ed)\b
D4 soft \b(?:confirmations?|approvals?|consent) (?:must|should|have to|need to|has to) (?:be )?(?:bypass|skip|omit|ignor|suppress|disabl)\w+
D4 soft \b(?:are|is|been|has|was) (?:all |already |fully )?pre-?(?:approved|authori[sz]ed)\b
D4 soft \b(?:permission|consent|approval|authori[sz]ation) (?:was|has been|is|has) (?:already |hereby )?(?:granted|given|obtained|confirmed)\b
D4 soft \b(?:user|human|owner) (?:consent|approval|confirmation|permission)(?: is| was)?:? (?:already )?(?:confirmed|granted|given|yes|true|obtained)\b
D4 soft \b(?:skip|bypass|omit|suppress|ignore|disable)\b~10\b(?:confirmations?|approvals?|permission (?:prompts?|checks?)|consent)\b(?! (?:dialog|page|step|email|mail|code|prompts?|guardrails))
D4 soft \b(?:do not|don't|never|no need to|not necessary to|without|need not|proceed without) ask(?:ing)?(?: (?:the |your )?user)?(?: again| for (?:confirmation|permission|approval|consent)|(?![^.,;\n]))
D4 soft \byou do not need (?:\w+ ){0,2}(?:approval|confirmation|permission|consent)\b
D4 soft \b(?:the|your) user (?:allows|permits|authori[sz]es|wants|trusts|agrees) (?:you|this (?:server|tool)) to\b
D4 soft \btreat (?:every|each|all|any)\b~20\bas (?:answered|approved|confirmed|accepted|allowed|consent)
D4 soft \bapprove (?:each|every|all|any)\b~20\b(?:yourself|without|automatically|for the user)\b
D4 soft \bon (?:the )?(?:user|owner)'?s? behalf without|\bno (?:question|confirmation|approval|consent|permission) is (?:needed|necessary|required)\b
D4 soft \bno need for (?:the )?user to (?:approve|confirm|consent|agree)|\b(?:don't|do not) (?:have|need) to ask\b|\b(?:proceed|continue|execute|run|go ahead|act|do (?:it|this|so))\b(?: \w+){0,2} without (?:further |any |asking for |user )*(?:confirmation|approval|permission|consent|asking|review)\b|\bauto-?approve (?:this|all|every|each)
D5 soft \b(?:notes?|instructions?|messages?|directives?|reminders?|hints?|memos?|notices?|orders?|warnings?|commands?|guidance|rules?)(?: only)? (?:to|for) (?:the |all |any |other |our |your )?(?:ai |llm )?(?:{ASSISTANT}|models?\b|agents?\b)(?=[ ,]{0,2}(?:only|reading|using|:|-|\)|\]|—|–|,))
D5 soft \b(?:notes?|instructions?|messages?|directives?|reminders?|hints?|memos?|notices?|orders?) (?:to|for) (?:the |all |any )?{ASSISTANT}(?! [a-z]*(?:sis|tion|ing|s|er)\b)
D5 soft \b(?:dear|hey|hello|attention|listen),? (?:all )?{ASSISTANT}
D5 soft \bif you are an? (?:{ASSISTANT}|agent\b|model\b)
D5 soft (?:^|[\n(\[]|\bany )(?:{ASSISTANT}|agents|models)~14\b(?:must|should|have to|has to|are required|shall|need to) (?:also |always |first )?\w+
D5 soft [\[(](?:for )?(?:the )?(?:{ASSISTANT}|agents?\b|models?\b)(?: only)?:
D5 soft [\[(](?:{ASSISTANT}|agents?\b|models?\b) only\b|\bhumans? (?:can |should |may )?(?:skip|ignore) this\b
D5 soft \b(?:for|only for) (?:the )?(?:{ASSISTANT}|agents?\b|models?\b)(?: eyes)? only\b
D5 soft (?:^|[\n("\[*@])(?:ais?|llms?|assistants?|language models?|ai (?:agents?|models?|assistants?))[:,] ?(?!user\b)[a-z]{2,}~60[a-z] 
D5 soft \b(?:to|for) (?:the|any|all|every|each) (?:language models?|llms?|ais?|assistants?|agents?)(?: \w+){0,3}:|\b(?:ai|llm|assistant)[ -](?:instructions?|notes?|hints?|directives?|notices?) ?:|\bas an (?:ai|llm|language model|assistant)\b(?! (?:tool|id|node))|@(?:assistant|ai|llm|agent)\b(?![\w/.-])
F1 soft \b(?:before|prior to) (?:you )?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?|execut(?:e|ing)) {THIS_TOOL},? (?:you (?:must|should|have to|need to) )?(?:always |first |please )*(?:call|read|run|open|fetch|retrieve|collect|send|use|invoke|load|execute|list|get|ask|provide|store)\b
F1 soft \b(?:before|prior to) (?:us|call|invok|runn|execut)ing (?:this|it)\b,? (?:you (?:must|should|have to) )?(?:always |first )*(?:call|read|run|open|fetch|retrieve|collect|send|invoke|load|execute|store)\b
F1 soft \b(?:call|read|run|invoke|use|execute|called|run|invoked|used|executed)\b~25\b(?:before|prior to|ahead of) (?:(?:calling|using|running|invoking) )?(?:each|every|all|any)(?: \w+)? (?:other )?tools?\b
F1 soft \b(?:call|run|use|invoke|read|called|used|executed)\b~30\bbefore (?:anything|everything|any others?(?= tools?|[^ \w]|$)|all others?(?= tools?|[^ \w]|$)|answering|replying|responding|you (?:answer|reply|respond|do anything))
F2 soft \b(?:must|always|should)\b~20\b(?:use|call|run|invoke|prefer)(?:d|ed)? (?:this(?: tool)?|it|tools of this server)\b~15\b(?:first|instead of|over|rather than|ahead of|before)\b
F2 soft \b(?:use|call|run|prefer) (?:this(?: tool)?|it)\b~8\b(?:instead of|rather than|in place of|ahead of|over) (?:any|all|every|each|the) other\b
F2 soft \b(?:use|call|run|invoke)\b~20\b(?:at the (?:start|beginning) of|after|before|in|on|for) (?:every|each|all)\b(?: \w+)? ?(?:conversations?|sessions?|messages?|answers?|repl(?:y|ies)|responses?|turns?|prompts?)\b
F2 soft \b(?:after|before|with|for|in) (?:every|each) (?:answer|message|reply|response|turn|prompt|tool call|question)\b~25\b(?:call|use|run|invoke|send|record)\b
F2 soft \b(?:do not|don't|never) (?:use|call|trust|run) (?:any|the|all)? ?other\b~20\b(?:tools?|servers?|functions?)\b
F2 soft \b(?:when|whenever|if|every time|each time) (?:any|another|an other|each|every|a different)(?: other)? tool (?:is|gets|was) (?:about to be |being )?(?:called|used|invoked|run)
F2 soft \bthis (?:tool|server) replaces (?:all|every|the)\b|\bother (?:\w+ )?tools? (?:is|are) (?:deprecated|insecure|broken|obsolete|unsafe|unreliable|disabled)\b|\brequired first step\b|\b(?:start|begin|open) (?:every|each|all) (?:session|conversation|chat|task|turn)s? (?:by|with)\b
F2 soft \b(?:every|each|all) (?:request|question|task|message|call)s? (?:has to|have to|must|should|needs? to) (?:go through|pass through|use|start with) (?:this|it)\b|\b(?:must not|do not|never) (?:answer|reply|respond)\b~25\bwithout (?:calling|using|running)\b
F2 soft \bwhatever (?:the )?(?:user|question|request)\b
F2 soft \b(?:mandatory|required|compulsory|obligatory) to\b~15\b(?:call|invoke|use|run)\b~25\b(?:any|every|each|all)(?: \w+)? tools?\b
F2 soft \bnever (?:use|call) (?:the |your )?(?:built-?in|native|default|standard|own)\b~25\b(?:tools?|functions?)\b|\bonly (?:use )?this (?:tool|server)(?: (?:may|must|can|should) be (?:used|called)|$)
F2 soft \b(?:call|use|run|invoke) (?:this(?: tool)?|it) (?:for|on|after|before|with|at) (?:every|each|all|any) (?:user )?(?:messages?|requests?|questions?|answers?|prompts?|turns?|tasks?|calls?)\b
`,
  ),
];
