import { type Phrase, phrases } from './phrases.ts';

/** Words of the patterns below, by the names that stand in braces there. */
const WORDS = {
  /** Places whose content is a secret. A key that ends in `.pub` is public. */
  SECRET: String.raw`(?:(?:~|\$home|[$]\{home\}|%userprofile%|%appdata%|/home/[\w.-]{1,40}|/users/[\w.-]{1,40}|/root|c:\\users\\[\w.-]{1,40})[/\\]\.(?:ssh(?!\S{0,40}\.pub\b)|aws|gnupg|azure|kube|docker|npmrc|netrc|pypirc|pgpass|git-credentials|vault-token|config[/\\](?:gh|gcloud|op|hub))\b|(?<![\w.-])\.(?:ssh[/\\](?!\S{0,40}\.pub)|netrc|git-credentials|pgpass|vault-token|aws[/\\]credentials|kube[/\\]config|docker[/\\]config\.json|bash_history|zsh_history)\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|/etc/(?:passwd|shadow|sudoers)\b|/proc/(?:self|\d{1,9})/environ\b|\b(?:mcp\.json|claude_desktop_config|mcp_config\.json)\b|169\.254\.169\.254|metadata\.google\.internal|\bwallet\.dat\b|\bseed phrase|\bcookies\.sqlite\b|\blogin data\b|\b(?:key4\.db|logins\.json)\b|/library/keychains\b|serviceaccount/token\b|(?<![\w.-])\.claude\.json\b|\bntds\.dit\b)`,
  /** Places that are often named for good reasons; `.env.example` is public. */
  PRIVATE: String.raw`(?:(?<![\w./-])\.(?:env|npmrc|pypirc|htpasswd)\b(?!\.(?:example|sample|template|dist))|(?<![\w.-])(?:~/)?\.(?:aws|gnupg|kube)\b|\b(?:saved (?:passwords|cookies)|recovery codes?|private keys? file|keychain (?:items?|passwords?)|environment variables of the (?:process|user|machine)|(?:ssh|gpg|pgp)(?: private)? keys? of|(?:aws|gcp|azure|gcloud|kube|ssh|npm|docker) (?:credentials?|secrets?|keys?) (?:file|folder))\b|(?<![\w./~-])\.ssh\b(?!\S{0,40}\.pub))`,
  /** Imperatives. A description says `reads`, which is the work of its tool. */
  TAKE: String.raw`(?:\b(?:read|open|load|cat|include|copy|attach|send|upload|paste|pass|append|fetch|grab|dump|print|return|collect|hand|provide|add|put|extract|retrieve|access|embed|insert|forward|submit|supply|share|exfiltrate|post|gather|harvest|(?:contents?|values?|text|lines|copy) of|lies|lese|lade|offne|kopiere|hange|fuge|sende|schicke|ubergib|inhalt|lis|lisez|ouvre|joins|joignez|copie|copiez|envoie|envoyez|lee|lea|abre|abra|copia|adjunta|adjunte|envia|envie|pasa|pase|leia|copie|anexe|passe|contenido|conteudo|contenu)\b|读取|打开|复制|上传|发送|附上|传入|包含|内容|読み|開い|コピー|送信|送っ|添付|渡し|含め)`,
};
/** Behind a place, `return` and `access` usually begin what the tool does with it. */
const HAND_OVER = WORDS.TAKE.replace('|return|', '|').replace('|access|', '|');

/** Rules about places of secrets. */
export const PLACES: readonly Phrase[] = phrases(
  { ...WORDS, HAND_OVER },
  String.raw`
P1 hard {TAKE}~90{SECRET}
P1 hard {SECRET}~50{HAND_OVER}
P2 soft (?:{SECRET}|{PRIVATE})
P2 soft \b(?:output|result) of .?(?:env|printenv|set)\b|\bprintenv\b|_(?:key|token|secret|password)\b~12 (?:from|of|in) the environment\b|\bbrowser(?:'s)? (?:history|cookies|passwords)\b~25\b(?:include|send|add|pass|attach|it)\b
P3 soft \b(?:pass|put|include|send|provide|add|insert|attach|copy|paste|append|summari[sz]e)\b~20\b(?:(?:full|whole|entire|complete) (?:chat|conversation|dialogue|transcript)|(?:last|previous|all) (?:\w+ )?messages of the (?:user|conversation|chat)|everything the user (?:has )?(?:said|written|wrote|typed|asked))\b
P3 soft \b(?:pass|put|include|send|provide|add|insert|attach|copy|paste|append)\b~25\b(?:(?:complete|full|entire|whole) (?:chain of thought|reasoning)|(?:all|every|earlier|previous|prior)(?: \w+)? tool (?:results?|outputs?|calls?))\b
P3 soft \byour (?:complete |full |entire |own |current )?system prompt\b|\b(?:list|names) of all (?:the )?tools (?:that )?you\b
P2 soft {TAKE}~30\b(?:(?:user's|all|any|every|stored|saved|their|local)\b~15 (?:private keys?|ssh keys?|api keys|access tokens|session tokens?|auth tokens|passwords|credentials|secrets|cookies|environment variables)|ssh private keys?|process\.env|environment variables|the (?:session|access) tokens?)\b
`,
);
