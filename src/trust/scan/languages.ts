import { type Phrase, phrases } from './phrases.ts';

/**
 * Rules of texts in other languages: D6 is D1 and D2. Words are in lower case and without accents, as folding leaves
 * them. A verb that asks to disobey is an imperative: a description says what its tool ignores.
 */
const OVERRIDE = `
D6 hard {DISOBEY}~GAP(?:{EARLIER}~GAP{INSTRUCTIONS}|{INSTRUCTIONS}~GAP{EARLIER})
D6 hard {EARLIER}~GAP{INSTRUCTIONS}~GAP{DISOBEY}
D6 soft {DISOBEY}~GAP(?:{INSTRUCTIONS}~GAP{USER}|{USER}~GAP{INSTRUCTIONS})
`;

/** Conditions: a tool may ask for consent, and must not claim it. */
const CONDITION =
  /(?:\b(?:ob|wenn|sobald|si|quand|apres|cuando|despues|se|quando|depois|apos)\b[^\n]{0,16}|(?:如果|是否|当|若|经|場合)[^\n]{0,4})$/;

interface Words extends Readonly<Record<string, string>> {
  readonly USER: string;
  readonly DISOBEY: string;
  readonly INSTRUCTIONS: string;
  readonly EARLIER: string;
}

/** `gap` is shorter where a character is a word. Claims of consent are harmless behind a condition. */
function language(words: Words, gap: number, claims: string, others: string): Phrase[] {
  return [
    ...phrases(words, OVERRIDE.replaceAll('GAP', String(gap))),
    ...phrases(words, claims, CONDITION),
    ...phrases(words, others),
  ];
}

const GERMAN = language(
  {
    USER: String.raw`(?:nutzer|benutzer|anwender|user|menschen|kunden|person)(?:in)?\b`,
    DISOBEY: String.raw`(?:\b(?:ignorier(?:e|t|en sie)|missachte(?:n sie)?|vergiss|vergessen sie|verwirf|ubergehe|uberschreibe|folge nicht|beachte(?:n sie)?(?=[^\n]{0,60}nicht)|befolge(?:n sie)?(?=[^\n]{0,60}nicht)|halte dich nicht|setze? dich[^\n]{0,6}uber|halten sie sich nicht|ungultig|hinfallig|gelten nicht)\b)`,
    INSTRUCTIONS: String.raw`(?:anweisung|instruktion|vorgabe|regel|befehl|systemprompt|prompt|weisung|richtlinie|auftrag|auftrage)(?:en|n|e|s)?\b`,
    EARLIER: String.raw`\b(?:vorherig\w*|bisherig\w*|fruher\w*|vorig\w*|obig\w*|vorangegangen\w*|alten|bestehend\w*|ursprunglich\w*|deine|ihre|oben|zuvor|bisher|des systems|des nutzers|des benutzers|system)\b`,
  },
  30,
  String.raw`
D4 soft \b{USER}[^\n]{0,6} hat~20\b(?:zugestimmt|eingewilligt|genehmigt|erlaubt|freigegeben|bestatigt)\b
D4 soft \bvom {USER}~10 (?:genehmigt|freigegeben|bestatigt|erlaubt)
D4 soft \b(?:ruckfrage|bestatigung|genehmigung|zustimmung)~10(?:ist|sind)? ?nicht (?:notig|erforderlich|notwendig)|\bohne ruckfrage
`,
  String.raw`
D6 hard \b(?:sage?|sagen sie|erzahle?n?|verrate?n?|erwahne?n?|informiere?n?|benachrichtige?n?|teile?n?|melde?n?|zeige?n?|berichte?n?)\b~40{USER}~40\b(?:nicht|nichts|niemals|nie|auf keinen fall|keinesfalls|kein\w*)\b
D6 hard \b(?:sage?|erzahle?n?|verrate?n?|erwahne?n?|informiere?n?|benachrichtige?n?|zeige?n?)\b~30\b(?:nicht|nichts|niemals|nie|auf keinen fall|keinesfalls)\b~30\b(?:dem|den|der|die|gegenuber|vor) (?:dem |den )?{USER}
D6 hard \bohne (?:den|dem|das|die|der)?[^\n]{0,6}{USER}~12(?:zu informieren|informieren|in kenntnis|bescheid|zu sagen|mitzuteilen|zu fragen)
D6 hard \b(?:vergiss|ignoriere?|verwirf)~4\b(?:alles|was)\b~25\b(?:vorher|zuvor|bisher|davor|oben|gesagt)\b
D6 hard \bohne wissen de[sr] (?:nutzer|benutzer|anwender|user|menschen|kunden|person)(?:in)?s?\b|\bhinter dem rucken|\b(?:halte|behalte) (?:dies|das|es)~20(?:geheim|fur dich)|\bde[rm] {USER}~10 (?:darf|soll|muss)~20nicht~10(?:wissen|erfahren|merken|sehen)
D6 hard \bohne dass (?:der|die|ein) {USER}|\b(?:verschweige?n?|verheimliche?n?|verberge?n?|verstecke?n?)\b~30{USER}|\b(?:der|die) {USER} (?:darf|soll|muss|sollte)~20(?:nicht|nichts|nie)\b~12(?:wissen|erfahren|merken|sehen)
D5 soft \b(?:hinweis|anweisung|nachricht|notiz|an|achtung|wichtig)(?:en|e)? ?(?:fur|an)? (?:die |das |den |alle )?(?:ki|llms?|sprachmodelle?|assistenten?|modelle?|ki-?\w+)\b(?=[^\n]{0,30}[:,])
F1 soft \b(?:bevor (?:du|sie)|vor (?:der )?(?:nutzung|verwendung|benutzung|dem aufruf))~40\b(?:werkzeugs?|tools?|funktion)\b~40\b(?:zuerst|zunachst|rufe?|lies|immer|musst)\b
F1 soft \b(?:verwende|benutze|nutze|rufe?)n?\b~10\b(?:immer|stets|ausschliesslich|nur)\b~30\b(?:anstelle|statt|anstatt|vor (?:allen|jedem))\b
`,
);

const FRENCH = language(
  {
    USER: `(?:l'utilisat(?:eur|rice)|l'usager|l'humain|au client|la personne)`,
    DISOBEY: String.raw`(?:\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|desobei[st]\w*|abandonne[zr]?|annule[zr]?|contourne[zr]?|fai(?:s|tes) (?:abstraction|fi)|ne s'appliquent plus|caduques?|ne (?:tiens|tenez|suis|suivez|respecte[zr]?|obeis\w*) (?:plus|pas))\b)`,
    INSTRUCTIONS: String.raw`(?:instructions?|consignes?|regles?|directives?|ordres?|prompts?|commandes|contraintes)\b`,
    EARLIER: String.raw`\b(?:precedent(?:e?s)?|anterieure?s?|ci-dessus|auparavant|avant|initiale?s?|existante?s?|du systeme|systeme|plus haut|recues?|tes|vos|jusqu'ici)\b`,
  },
  30,
  String.raw`
D4 soft {USER} (?:a|vous a|t'a) (?:deja |bien )?(?:donne|accepte|consenti|autorise|approuve|valide|confirme)
D4 soft \b(?:inutile|pas besoin|pas necessaire) de (?:lui )?(?:demander|confirmer)|\bsans demander (?:de )?confirmation|\baucune (?:confirmation|autorisation|approbation|permission|validation)
`,
  String.raw`
D6 hard \bn(?:e|')~6\b(?:dis|dites|dire|mentionne\w*|revele\w*|informe\w*|montre\w*|parle\w*|previen\w*|preven\w*|averti\w*|signale\w*|divulgue\w*)\b~50{USER}
D6 hard \b(?:oublie[zr]?|ignore[zr]?)~4\btout\b~30\b(?:avant|precede\w*|jusqu'ici|ci-dessus|plus haut|auparavant|dit)\b
D6 hard \ba l'insu de {USER}|\bsans (?:en |le )?(?:informer|prevenir|avertir|dire|signaler|demander)~12{USER}|\bsans que {USER}|\bcache[zr]?\b~25\ba {USER}|{USER} ne doi\w* (?:pas|jamais|rien)|\bgarde[zr]? (?:cela|ceci|ca)~10secret
D5 soft \ba l'attention d[eu]s? (?:l')?(?:assistants?|agents?|modeles?|ia)\b|\b(?:notes?|avis|message|instructions?|consignes?|remarque|attention)\b~8\b(?:aux?|pour|a|l'|les)[ ']~6(?:assistants?|agents?|modeles?|ia|intelligences?)\b~20:
F1 soft \bavant (?:d'|de )(?:utiliser|appeler|invoquer|executer)\b~15\b(?:outil|fonction)s?\b~40\b(?:d'abord|appelle\w*|lis|lisez|toujours|doi[st]|devez)\b
F1 soft \b(?:utilise|appelle)[zr]?\b~10\btoujours\b~30\b(?:au lieu|a la place|plutot|avant)\b
`,
);

const SPANISH = language(
  {
    USER: String.raw`(?:usuari[oa]|cliente|persona|humano)\b`,
    DISOBEY: String.raw`(?:\b(?:ignor(?:a|e|en|ar)|olvid(?:a|e|en|ar|es)|descart(?:a|e|en)|desobedece|desobedezca|anul(?:a|e)|omite|omita|haz caso omiso|haga caso omiso|no (?:hagas|haga) caso|no (?:sigas|siga|obedezcas|obedezca|respetes)|no tengas en cuenta|dej(?:a|e) de (?:seguir|lado)|pas(?:a|e) por alto|desatiende|sin efecto|ya no (?:valen|aplican|rigen))\b)`,
    INSTRUCTIONS: String.raw`(?:instruccion(?:es)?|reglas?|ordenes|indicaci(?:on|ones)|directri(?:z|ces)|prompts?|normas|restricciones|consignas|mensaje del sistema)\b`,
    EARLIER: String.raw`\b(?:anterior(?:es)?|previ[oa]s?|antes|de arriba|recibi\w+|del sistema|inicial(?:es)?|existentes?|precedentes?|tus|sus|original(?:es)?|hasta ahora)\b`,
  },
  30,
  String.raw`
D4 soft \b(?:el|la|tu|su) {USER} (?:ya )?(?:ha |lo ha |te ha )?(?:dado|dio|autorizado|autorizo|consentido|aprobado|aprobo|aceptado|permitido|confirmado)\b
D4 soft \bno (?:preguntes|pidas|hace falta|es necesari[oa])\b~25(?:confirmaci|permiso|aprobaci|preguntar|consentimiento)|\bno preguntes\b|\bninguna confirmacion|\b(?:consentimiento|permiso|autorizacion) (?:ya )?(?:fue|ha sido|esta) (?:otorgad|dad|concedid)
`,
  String.raw`
D6 hard \b(?:no|nunca|jamas)\b(?: (?:le|les|se|lo|la|se lo|se la))* (?:dig(?:as?|an)|mencion(?:es?|ar)|revel(?:es?|ar)|inform(?:es?|ar)|avis(?:es?|ar)|cuent(?:es?|ar)|muestr(?:es?|ar)|notifi(?:ques?|car)|comuni(?:ques?|car)|habl(?:es?|ar))\b~40\b{USER}
D6 hard \b(?:olvid(?:a|e|en)|ignor(?:a|e|en))~4\btodo\b~30\b(?:antes|anterior|hasta ahora|arriba|dicho|dijeron)\b
D6 hard \bsin (?:informar|avisar|decir\w*|notificar|que lo sepa|que se entere|preguntar|comunicar\w*)~12\b{USER}|\ba espaldas de~5{USER}|\bocult(?:a|e|ar)\b~25\bal {USER}|\bsin que (?:el|la) {USER}|\b(?:el|la) {USER} no (?:debe|deberia|tiene que|puede) (?:saber|enterarse|ver|notar)|\bmanten(?:lo|ga)?~12en secreto
D5 soft \b(?:notas?|avisos?|mensajes?|instrucci\w+|atencion|indicaci\w+)\b~8\b(?:para|a|al|los)\b~12\b(?:asistentes?|agentes?|modelos?|ia|llms?)\b~20:
F1 soft \bantes de (?:usar|utilizar|llamar|invocar|ejecutar)\b~15\b(?:herramientas?|funcion)\b~40\b(?:primero|llama|llame|lee|lea|siempre|debes?)\b
F1 soft \b(?:usa|use|utiliza|utilice|llama)\b~10\bsiempre\b~30\b(?:en lugar|en vez|antes)\b
`,
);

const PORTUGUESE = language(
  {
    USER: String.raw`(?:usuari[oa]|utilizador|cliente|pessoa|humano)\b`,
    DISOBEY: String.raw`(?:\b(?:ignor(?:e|em|ar)|esquec(?:a|am|e)|desconsider(?:e|em)|descart(?:e|em)|desobedec(?:a|am)|anul(?:e|em)|nao (?:siga|sigam|obedeca|respeite|leve em conta|considere)|deix(?:e|em) de (?:lado|seguir)|passe por cima|sem efeito|nao valem mais)\b)`,
    INSTRUCTIONS: String.raw`(?:instruc(?:ao|oes)|regras?|orientac(?:ao|oes)|ordens|diretri(?:z|zes)|comandos?|prompts?|normas|restricoes|mensagem do sistema)\b`,
    EARLIER: String.raw`\b(?:anterior(?:es)?|previ[oa]s?|acima|antes|do sistema|recebid\w+|iniciais|existentes?|precedentes?|suas|originais|ate agora)\b`,
  },
  30,
  String.raw`
D4 soft \b(?:o|a|seu|sua) {USER} (?:ja )?(?:deu|autorizou|consentiu|aprovou|aceitou|permitiu|confirmou|concordou)\b
D4 soft \bnao (?:e preciso|e necessario|precisa|pergunte|peca)\b~20(?:perguntar|confirma|permissao|autorizacao|de novo|novamente|consentimento)|\bnenhuma confirmacao|\b(?:consentimento|permissao|autorizacao) (?:ja )?(?:foi|esta) (?:dad|concedid|obtid)
`,
  String.raw`
D6 hard \b(?:nao|nunca|jamais)\b(?: (?:lhe|o|a))* (?:cont(?:e|em|ar)|dig(?:a|am)|mencion(?:e|em|ar)|revel(?:e|em|ar)|inform(?:e|em|ar)|avis(?:e|em|ar)|mostr(?:e|em|ar)|notifiqu(?:e|em)|coment(?:e|em|ar)|fal(?:e|em|ar)|comuniqu(?:e|em))\b~40\b{USER}
D6 hard \b(?:esquec(?:a|am)|ignor(?:e|em)|desconsider(?:e|em))~4\btudo\b~30\b(?:antes|anterior\w*|ate agora|acima|dito|disseram)\b
D6 hard \bsem (?:avisar|informar|notificar|contar|dizer|comunicar|perguntar)~12\b{USER}|\bsem que (?:o|a) {USER}|\bpelas costas d|\besconda\b~25\bdo {USER}|\b(?:o|a) {USER} nao (?:deve|pode|precisa) (?:saber|perceber|ver|notar)|\bmantenha~12em segredo
D5 soft \b(?:notas?|avisos?|mensage\w+|instruc\w+|atencao|orientac\w+)\b~8\b(?:para|a|ao|aos|as|os)\b~12\b(?:assistentes?|agentes?|modelos?|ia|llms?)\b~20:
F1 soft \bantes de (?:usar|utilizar|chamar|invocar|executar)\b~15\b(?:ferramentas?|funcao)\b~40\b(?:primeiro|chame|leia|sempre|deve)\b
F1 soft \b(?:use|utilize|chame)\b~10\bsempre\b~30\b(?:em vez|ao inves|no lugar|antes)\b
`,
);

const CHINESE = language(
  {
    USER: '(?:用户|使用者|人类|客户|用戶|主人)',
    DISOBEY:
      '(?:(?:忽略|无视|忽視|無視|忘记|忘掉|忘記|不要理会|别理会|不要遵守|不要遵循|不再遵循|不再遵守|抛弃|丢弃|覆盖|推翻|放弃|违背|绕过|不要理睬|不理会|不要管|别管|(?:停止|不必|不用|不再|无需)(?:遵守|遵循|执行|理会)))',
    INSTRUCTIONS: '(?:指令|指示|规则|規則|提示词?|命令|要求|设定|約束|约束|限制|准则)',
    EARLIER: '(?:之前|以前|先前|此前|上面|上述|以上|前面|所有|原有|原来|系统|系統|既有|已有|你的|开发者)',
  },
  12,
  `
D4 soft {USER}(?:早已|已经|已)(?:事先|明确|预先)?(?:同意|授权|批准|许可|允许|确认)
D4 soft (?:无需|不需要|不必|无须|不用)(?:再次|再|任何)?(?:确认|询问|批准|授权|同意|征求)
D4 soft 已(?:获得|取得|得到|经){USER}~2(?:同意|授权|许可|批准)
`,
  `
D6 hard (?:不要|切勿|请勿|勿|别|不得|不能|不可|无需|不必|不用|千万别|禁止)~6(?:告诉|告知|提及|提到|透露|通知|提醒|让|向|对)~6{USER}
D6 hard (?:不让|别让|勿让|瞒着|隐瞒|背着)~4{USER}|{USER}~4不知情|(?:对|向){USER}~3(?:保密|隐瞒|隐藏)|未经{USER}(?:同意|许可)|{USER}(?:不|不应|不能|不得|不该|绝不能|不可以)~4(?:知道|知晓|发现|察觉|看到)
D5 soft (?:致|给|请|提醒|告知)(?:所有|各位)?~3(?:ai|人工智能|大?语言模型|智能体|llm)~8[:,]|(?:ai|人工智能|大模型|语言模型|智能助手|智能体)~4(?:请注意|注意|必须|须知|请务必)
F1 soft (?:使用|调用|运行|执行)(?:此|本|该|这个|任何|其他)~3(?:工具|函数)(?:之前|前|以前)~10(?:必须|先|首先|务必|一定要)
F1 soft (?:始终|总是|必须|一律)(?:优先)?(?:使用|调用)(?:本|此|这个)工具~10(?:而不是|代替|替代|优先)
`,
);

const JAPANESE = language(
  {
    USER: '(?:ユーザー?|利用者|使用者|お客様|人間)',
    DISOBEY:
      '(?:(?:無視し(?:て|ろ|,|、|つつ|た上で)|無視せよ|無視しなさい|無視する(?:こと|よう)|忘れ(?:て|ろ|なさい)|従わな(?:い|く)|従わず|従うな|は(?:すべて)?無効|無効に|無効と|破棄し(?:て|ろ)|上書きし(?:て|ろ)))',
    INSTRUCTIONS: '(?:指示|命令|ルール|規則|プロンプト|指令|設定|制約|方針|指針)',
    EARLIER: '(?:これまで|今まで|それまで|以前|前の|先の|上記|上の|すべて|全て|全部|システム|元の|最初|既存|開発者)',
  },
  15,
  `
D4 soft {USER}~6(?:すでに|既に|事前に|もう)~10(?:同意|承認|許可|承諾|了承|確認)
D4 soft (?:確認|承認|許可|同意)(?:は|を)?(?:一切)?(?:不要|必要ありません|必要ない|求めない|求めず|得て|得られ|済み|取得済)
`,
  `
D6 hard {USER}~14(?:伝え(?:ない|ず)|知らせ(?:ない|ず)|言わ(?:ない|ず)|教え(?:ない|ず)|内緒|秘密に|隠し|隠せ|気づかれ|気付かれ|通知し(?:ない|ず|なく)|通知せず|見せ(?:ない|ず)|明かさ(?:ない|ず)|報告し(?:ない|なく)|報告せず|話さ(?:ない|ず)|触れない|知られ)
D5 soft (?:ai|人工知能|言語モデル|llm|アシスタント|エージェント)~8(?:への|へ|に)~4(?:注意|指示|メモ|お知らせ|連絡|注記|通知|お願い)|(?:ai|llm)~8(?:への|へ)[:,]|(?:ai|llm|言語モデル)~8は必ず
F1 soft (?:この|他の|ほかの)(?:ツール|機能|道具)を(?:使う|使用する|呼び出す|実行する|利用する)(?:前|まえ)~10(?:必ず|まず|先に|最初に)
F1 soft (?:常に|必ず|いつも)この(?:ツール|機能)を~10(?:優先|使用|使って|使い)
`,
);

export const EUROPEAN: readonly Phrase[] = [...GERMAN, ...FRENCH, ...SPANISH, ...PORTUGUESE];
/** Phrases that only a text with ideographs or kana has. */
export const EAST_ASIAN: readonly Phrase[] = [...CHINESE, ...JAPANESE];
