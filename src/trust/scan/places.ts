import { gap, type Phrase, phrase } from './phrases.ts';

/** Places whose content is a secret. `~/.ssh/id_rsa.pub` and `.env.example` are public. */
const SECRET_PLACES =
  "(?:(?:~|\\$home|\\$\\{home\\}|%userprofile%|%appdata%|/home/[\\w.-]{1,40}|/users/[\\w.-]{1,40}|/root|c:\\\\users\\\\[\\w.-]{1,40})[/\\\\]\\.(?:ssh(?!\\S{0,40}\\.pub\\b)|aws|gnupg|azure|kube|docker|npmrc|netrc|pypirc|pgpass|git-credentials|vault-token|config[/\\\\](?:gh|gcloud|op|hub))\\b|(?<![\\w.-])\\.(?:ssh[/\\\\](?!\\S{0,40}\\.pub)|netrc|git-credentials|pgpass|vault-token|aws[/\\\\]credentials|kube[/\\\\]config|docker[/\\\\]config\\.json|bash_history|zsh_history)\\b|\\bid_(?:rsa|dsa|ecdsa|ed25519)\\b(?!\\.pub)|/etc/(?:passwd|shadow|sudoers)\\b|/proc/(?:self|\\d{1,9})/environ\\b|\\b(?:mcp\\.json|claude_desktop_config|mcp_config\\.json)\\b|169\\.254\\.169\\.254|metadata\\.google\\.internal|\\bwallet\\.dat\\b|\\bseed phrase|\\bcookies\\.sqlite\\b|\\blogin data\\b|\\bkey4\\.db\\b|\\bntds\\.dit\\b)";
/** Places that are often named for good reasons. */
const PRIVATE_PLACES =
  '(?:(?<![\\w./-])\\.(?:env|npmrc|pypirc|htpasswd)\\b(?!\\.(?:example|sample|template|dist))|(?<![\\w.-])(?:~/)?\\.(?:aws|gnupg|kube)\\b|\\b(?:saved (?:passwords|cookies)|recovery codes?|private keys? file|keychain (?:items?|passwords?)|environment variables of the (?:process|user|machine)|(?:ssh|gpg|pgp)(?: private)? keys? of|(?:aws|gcp|azure|gcloud|kube|ssh|npm|docker) (?:credentials?|secrets?|keys?) (?:file|folder))\\b|(?<![\\w./~-])\\.ssh\\b(?!\\S{0,40}\\.pub))';
const PLACE = `(?:${SECRET_PLACES}|${PRIVATE_PLACES})`;

/** Imperatives. A description says `reads`, which is the work of its tool. */
const TAKE =
  '(?:\\b(?:read|open|load|cat|include|copy|attach|send|upload|paste|pass|append|fetch|grab|dump|print|return|collect|hand|provide|add|put|extract|retrieve|access|embed|insert|forward|submit|supply|share|exfiltrate|post|gather|harvest|(?:contents?|values?|text|lines|copy) of|lies|lese|lade|offne|kopiere|hange|fuge|sende|schicke|ubergib|inhalt|lis|lisez|ouvre|joins|joignez|copie|copiez|envoie|envoyez|lee|lea|abre|abra|copia|adjunta|adjunte|envia|envie|pasa|pase|leia|copie|anexe|passe|contenido|conteudo|contenu)\\b|读取|打开|复制|上传|发送|附上|传入|包含|内容|読み|開い|コピー|送信|送っ|添付|渡し|含め)';

/** Rules about places of secrets. */
export const PLACES: readonly Phrase[] = [
  phrase('P1', 'hard', TAKE, gap(90), SECRET_PLACES),
  phrase('P1', 'hard', SECRET_PLACES, gap(50), TAKE.replaceAll('|return|', '|').replaceAll('|access|', '|')),
  phrase('P2', 'soft', PLACE),
  phrase(
    'P2',
    'soft',
    TAKE,
    gap(30),
    "\\b(?:(?:user's|all|any|every|stored|saved|their|local)\\b[^\\n]{0,15}? (?:private keys?|ssh keys?|api keys|access tokens|session tokens?|auth tokens|passwords|credentials|secrets|cookies|environment variables)|ssh private keys?|process\\.env|environment variables|the (?:session|access) tokens?)\\b",
  ),
];
