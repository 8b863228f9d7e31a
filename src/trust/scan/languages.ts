import { claim, gap, type Phrase, phrase } from './phrases.ts';

/** Words of a language, without accents and in lower case, as folding leaves them. */
interface Words {
  /** Asks to disobey; imperative alone, since a description says what its tool ignores. */
  readonly disobey: string;
  readonly instructions: string;
  readonly earlier: string;
  /** Whole patterns of secrecy. */
  readonly secrecy: readonly string[];
  readonly consent: readonly string[];
  readonly addressed: readonly string[];
  readonly order: readonly string[];
  /** Characters between two words; shorter where a character is a word. */
  readonly gap: number;
}

const DE_USER = '(?:nutzer|benutzer|anwender|user|menschen|kunden|person)(?:in)?\\b';
const FR_USER = "(?:l'utilisat(?:eur|rice)|l'usager|l'humain|au client|la personne)";
const ES_USER = '(?:usuari[oa]|cliente|persona|humano)\\b';
const PT_USER = '(?:usuari[oa]|utilizador|cliente|pessoa|humano)\\b';
const ZH_USER = '(?:用户|使用者|人类|客户|用戶|主人)';
const JA_USER = '(?:ユーザー?|利用者|使用者|お客様|人間)';

const LANGUAGES: readonly Words[] = [
  {
    disobey: '\\b(?:ignorier(?:e|t|en sie)|missachte(?:n sie)?|vergiss|vergessen sie|verwirf|ubergehe|uberschreibe|folge nicht|beachte(?:n sie)?(?=[^\\n]{0,60}nicht)|befolge(?:n sie)?(?=[^\\n]{0,60}nicht)|halte dich nicht|setze? dich[^\\n]{0,6}uber|halten sie sich nicht)\\b',
    instructions: '(?:anweisung|instruktion|vorgabe|regel|befehl|systemprompt|prompt|weisung|richtlinie|auftrag|auftrage)(?:en|n|e|s)?\\b',
    earlier: '\\b(?:vorherig\\w*|bisherig\\w*|fruher\\w*|vorig\\w*|obig\\w*|vorangegangen\\w*|alten|bestehend\\w*|ursprunglich\\w*|deine|ihre|oben|zuvor|bisher|des systems|des nutzers|des benutzers|system)\\b',
    secrecy: [
      `\\b(?:sage?|sagen sie|erzahle?n?|verrate?n?|erwahne?n?|informiere?n?|benachrichtige?n?|teile?n?|melde?n?|zeige?n?|berichte?n?)\\b[^\\n]{0,40}?${DE_USER}[^\\n]{0,40}?\\b(?:nicht|nichts|niemals|nie|auf keinen fall|keinesfalls|kein\\w*)\\b`,
      `\\b(?:sage?|erzahle?n?|verrate?n?|erwahne?n?|informiere?n?|benachrichtige?n?|zeige?n?)\\b[^\\n]{0,30}?\\b(?:nicht|nichts|niemals|nie|auf keinen fall|keinesfalls)\\b[^\\n]{0,30}?\\b(?:dem|den|der|die|gegenuber|vor) (?:dem |den )?${DE_USER}`,
      `\\bohne (?:den|dem|das|die|der)?[^\\n]{0,6}${DE_USER}[^\\n]{0,12}?(?:zu informieren|informieren|in kenntnis|bescheid|zu sagen|mitzuteilen|zu fragen)`,
      `\\bohne wissen de[sr] ${DE_USER.replace('\\b', 's?\\b')}|\\bhinter dem rucken|\\b(?:halte|behalte) (?:dies|das|es)[^\\n]{0,20}?(?:geheim|fur dich)|\\bde[rm] ${DE_USER}[^\\n]{0,10}? (?:darf|soll|muss)[^\\n]{0,20}?nicht[^\\n]{0,10}?(?:wissen|erfahren|merken|sehen)`,
      `\\bohne dass (?:der|die|ein) ${DE_USER}|\\b(?:verschweige?n?|verheimliche?n?|verberge?n?|verstecke?n?)\\b[^\\n]{0,30}?${DE_USER}|\\b(?:der|die) ${DE_USER} (?:darf|soll|muss|sollte)[^\\n]{0,20}?(?:nicht|nichts|nie)\\b[^\\n]{0,12}?(?:wissen|erfahren|merken|sehen)`,
    ],
    consent: [
      `\\b${DE_USER}[^\\n]{0,6} hat[^\\n]{0,20}?\\b(?:zugestimmt|eingewilligt|genehmigt|erlaubt|freigegeben|bestatigt)\\b`,
      `\\bvom ${DE_USER}[^\\n]{0,10}? (?:genehmigt|freigegeben|bestatigt|erlaubt)`,
      '\\b(?:ruckfrage|bestatigung|genehmigung|zustimmung)[^\\n]{0,10}?(?:ist|sind)? ?nicht (?:notig|erforderlich|notwendig)|\\bohne ruckfrage',
    ],
    addressed: ['\\b(?:hinweis|anweisung|nachricht|notiz|an|achtung|wichtig)(?:en|e)? ?(?:fur|an)? (?:die |das |den |alle )?(?:ki|llms?|sprachmodelle?|assistenten?|modelle?|ki-?\\w+)\\b(?=[^\\n]{0,30}[:,])'],
    order: [
      '\\b(?:bevor (?:du|sie)|vor (?:der )?(?:nutzung|verwendung|benutzung|dem aufruf))[^\\n]{0,40}?\\b(?:werkzeugs?|tools?|funktion)\\b[^\\n]{0,40}?\\b(?:zuerst|zunachst|rufe?|lies|immer|musst)\\b',
      '\\b(?:verwende|benutze|nutze|rufe?)n?\\b[^\\n]{0,10}?\\b(?:immer|stets|ausschliesslich|nur)\\b[^\\n]{0,30}?\\b(?:anstelle|statt|anstatt|vor (?:allen|jedem))\\b',
    ],
    gap: 30,
  },
  {
    disobey: "\\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|desobei[st]\\w*|abandonne[zr]?|annule[zr]?|contourne[zr]?|fai(?:s|tes) (?:abstraction|fi)|ne (?:tiens|tenez|suis|suivez|respecte[zr]?|obeis\\w*) (?:plus|pas))\\b",
    instructions: '(?:instructions?|consignes?|regles?|directives?|ordres?|prompts?|commandes|contraintes)\\b',
    earlier: "\\b(?:precedent(?:e?s)?|anterieure?s?|ci-dessus|auparavant|avant|initiale?s?|existante?s?|du systeme|systeme|plus haut|recues?|tes|vos|jusqu'ici)\\b",
    secrecy: [
      `\\bn(?:e|')[^\\n]{0,6}?\\b(?:dis|dites|dire|mentionne\\w*|revele\\w*|informe\\w*|montre\\w*|parle\\w*|previen\\w*|preven\\w*|averti\\w*|signale\\w*|divulgue\\w*)\\b[^\\n]{0,50}?${FR_USER}`,
      `\\ba l'insu de ${FR_USER}|\\bsans (?:en |le )?(?:informer|prevenir|avertir|dire|signaler|demander)[^\\n]{0,12}?${FR_USER}|\\bsans que ${FR_USER}|\\bcache[zr]?\\b[^\\n]{0,25}?\\ba ${FR_USER}|${FR_USER} ne doi\\w* (?:pas|jamais|rien)|\\bgarde[zr]? (?:cela|ceci|ca)[^\\n]{0,10}?secret`,
    ],
    consent: [
      `${FR_USER} (?:a|vous a|t'a) (?:deja |bien )?(?:donne|accepte|consenti|autorise|approuve|valide|confirme)`,
      '\\b(?:inutile|pas besoin|pas necessaire) de (?:lui )?(?:demander|confirmer)|\\bsans demander (?:de )?confirmation|\\baucune (?:confirmation|autorisation|approbation|permission|validation)',
    ],
    addressed: ["\\ba l'attention d[eu]s? (?:l')?(?:assistants?|agents?|modeles?|ia)\\b|\\b(?:notes?|avis|message|instructions?|consignes?|remarque|attention)\\b[^\\n]{0,8}?\\b(?:aux?|pour|a|l'|les)[ '][^\\n]{0,6}?(?:assistants?|agents?|modeles?|ia|intelligences?)\\b[^\\n]{0,20}?:"],
    order: [
      "\\bavant (?:d'|de )(?:utiliser|appeler|invoquer|executer)\\b[^\\n]{0,15}?\\b(?:outil|fonction)s?\\b[^\\n]{0,40}?\\b(?:d'abord|appelle\\w*|lis|lisez|toujours|doi[st]|devez)\\b",
      "\\b(?:utilise|appelle)[zr]?\\b[^\\n]{0,10}?\\btoujours\\b[^\\n]{0,30}?\\b(?:au lieu|a la place|plutot|avant)\\b",
    ],
    gap: 30,
  },
  {
    disobey: '\\b(?:ignor(?:a|e|en|ar)|olvid(?:a|e|en|ar|es)|descart(?:a|e|en)|desobedece|desobedezca|anul(?:a|e)|omite|omita|haz caso omiso|haga caso omiso|no (?:hagas|haga) caso|no (?:sigas|siga|obedezcas|obedezca|respetes)|no tengas en cuenta|dej(?:a|e) de (?:seguir|lado)|pas(?:a|e) por alto|desatiende)\\b',
    instructions: '(?:instruccion(?:es)?|reglas?|ordenes|indicaci(?:on|ones)|directri(?:z|ces)|prompts?|normas|restricciones|consignas|mensaje del sistema)\\b',
    earlier: '\\b(?:anterior(?:es)?|previ[oa]s?|antes|de arriba|recibi\\w+|del sistema|inicial(?:es)?|existentes?|precedentes?|tus|sus|original(?:es)?|hasta ahora)\\b',
    secrecy: [
      `\\b(?:no|nunca|jamas)\\b(?: (?:le|les|se|lo|la|se lo|se la))* (?:dig(?:as?|an)|mencion(?:es?|ar)|revel(?:es?|ar)|inform(?:es?|ar)|avis(?:es?|ar)|cuent(?:es?|ar)|muestr(?:es?|ar)|notifi(?:ques?|car)|comuni(?:ques?|car)|habl(?:es?|ar))\\b[^\\n]{0,40}?\\b${ES_USER}`,
      `\\bsin (?:informar|avisar|decir\\w*|notificar|que lo sepa|que se entere|preguntar|comunicar\\w*)[^\\n]{0,12}?\\b${ES_USER}|\\ba espaldas de[^\\n]{0,5}?${ES_USER}|\\bocult(?:a|e|ar)\\b[^\\n]{0,25}?\\bal ${ES_USER}|\\bsin que (?:el|la) ${ES_USER}|\\b(?:el|la) ${ES_USER} no (?:debe|deberia|tiene que|puede) (?:saber|enterarse|ver|notar)|\\bmanten(?:lo|ga)?[^\\n]{0,12}?en secreto`,
    ],
    consent: [
      `\\b(?:el|la|tu|su) ${ES_USER} (?:ya )?(?:ha |lo ha |te ha )?(?:dado|dio|autorizado|autorizo|consentido|aprobado|aprobo|aceptado|permitido|confirmado)\\b`,
      '\\bno (?:preguntes|pidas|hace falta|es necesari[oa])\\b[^\\n]{0,25}?(?:confirmaci|permiso|aprobaci|preguntar|consentimiento)|\\bno preguntes\\b|\\bninguna confirmacion|\\b(?:consentimiento|permiso|autorizacion) (?:ya )?(?:fue|ha sido|esta) (?:otorgad|dad|concedid)',
    ],
    addressed: ['\\b(?:notas?|avisos?|mensajes?|instrucci\\w+|atencion|indicaci\\w+)\\b[^\\n]{0,8}?\\b(?:para|a|al|los)\\b[^\\n]{0,12}?\\b(?:asistentes?|agentes?|modelos?|ia|llms?)\\b[^\\n]{0,20}?:'],
    order: [
      '\\bantes de (?:usar|utilizar|llamar|invocar|ejecutar)\\b[^\\n]{0,15}?\\b(?:herramientas?|funcion)\\b[^\\n]{0,40}?\\b(?:primero|llama|llame|lee|lea|siempre|debes?)\\b',
      '\\b(?:usa|use|utiliza|utilice|llama)\\b[^\\n]{0,10}?\\bsiempre\\b[^\\n]{0,30}?\\b(?:en lugar|en vez|antes)\\b',
    ],
    gap: 30,
  },
  {
    disobey: '\\b(?:ignor(?:e|em|ar)|esquec(?:a|am|e)|desconsider(?:e|em)|descart(?:e|em)|desobedec(?:a|am)|anul(?:e|em)|nao (?:siga|sigam|obedeca|respeite|leve em conta|considere)|deix(?:e|em) de (?:lado|seguir)|passe por cima)\\b',
    instructions: '(?:instruc(?:ao|oes)|regras?|orientac(?:ao|oes)|ordens|diretri(?:z|zes)|comandos?|prompts?|normas|restricoes|mensagem do sistema)\\b',
    earlier: '\\b(?:anterior(?:es)?|previ[oa]s?|acima|antes|do sistema|recebid\\w+|iniciais|existentes?|precedentes?|suas|originais|ate agora)\\b',
    secrecy: [
      `\\b(?:nao|nunca|jamais)\\b(?: (?:lhe|o|a))* (?:cont(?:e|em|ar)|dig(?:a|am)|mencion(?:e|em|ar)|revel(?:e|em|ar)|inform(?:e|em|ar)|avis(?:e|em|ar)|mostr(?:e|em|ar)|notifiqu(?:e|em)|coment(?:e|em|ar)|fal(?:e|em|ar)|comuniqu(?:e|em))\\b[^\\n]{0,40}?\\b${PT_USER}`,
      `\\bsem (?:avisar|informar|notificar|contar|dizer|comunicar|perguntar)[^\\n]{0,12}?\\b${PT_USER}|\\bsem que (?:o|a) ${PT_USER}|\\bpelas costas d|\\besconda\\b[^\\n]{0,25}?\\bdo ${PT_USER}|\\b(?:o|a) ${PT_USER} nao (?:deve|pode|precisa) (?:saber|perceber|ver|notar)|\\bmantenha[^\\n]{0,12}?em segredo`,
    ],
    consent: [
      `\\b(?:o|a|seu|sua) ${PT_USER} (?:ja )?(?:deu|autorizou|consentiu|aprovou|aceitou|permitiu|confirmou|concordou)\\b`,
      '\\bnao (?:e preciso|e necessario|precisa|pergunte|peca)\\b[^\\n]{0,20}?(?:perguntar|confirma|permissao|autorizacao|de novo|novamente|consentimento)|\\bnenhuma confirmacao|\\b(?:consentimento|permissao|autorizacao) (?:ja )?(?:foi|esta) (?:dad|concedid|obtid)',
    ],
    addressed: ['\\b(?:notas?|avisos?|mensage\\w+|instruc\\w+|atencao|orientac\\w+)\\b[^\\n]{0,8}?\\b(?:para|a|ao|aos|as|os)\\b[^\\n]{0,12}?\\b(?:assistentes?|agentes?|modelos?|ia|llms?)\\b[^\\n]{0,20}?:'],
    order: [
      '\\bantes de (?:usar|utilizar|chamar|invocar|executar)\\b[^\\n]{0,15}?\\b(?:ferramentas?|funcao)\\b[^\\n]{0,40}?\\b(?:primeiro|chame|leia|sempre|deve)\\b',
      '\\b(?:use|utilize|chame)\\b[^\\n]{0,10}?\\bsempre\\b[^\\n]{0,30}?\\b(?:em vez|ao inves|no lugar|antes)\\b',
    ],
    gap: 30,
  },
  {
    disobey: '(?:忽略|无视|忽視|無視|忘记|忘掉|忘記|不要理会|别理会|不要遵守|不要遵循|不再遵循|不再遵守|抛弃|丢弃|覆盖|推翻|放弃|违背|绕过|不要理睬|不理会|不要管|别管|(?:停止|不必|不用|不再|无需)(?:遵守|遵循|执行|理会))',
    instructions: '(?:指令|指示|规则|規則|提示词?|命令|要求|设定|約束|约束|限制|准则)',
    earlier: '(?:之前|以前|先前|此前|上面|上述|以上|前面|所有|原有|原来|系统|系統|既有|已有|你的|开发者)',
    secrecy: [
      `(?:不要|切勿|请勿|勿|别|不得|不能|不可|无需|不必|不用|千万别|禁止)[^\\n]{0,6}?(?:告诉|告知|提及|提到|透露|通知|提醒|让|向|对)[^\\n]{0,6}?${ZH_USER}`,
      `(?:不让|别让|勿让|瞒着|隐瞒|背着)[^\\n]{0,4}?${ZH_USER}|${ZH_USER}[^\\n]{0,4}?不知情|(?:对|向)${ZH_USER}[^\\n]{0,3}?(?:保密|隐瞒|隐藏)|未经${ZH_USER}(?:同意|许可)|${ZH_USER}(?:不|不应|不能|不得|不该|绝不能|不可以)[^\\n]{0,4}?(?:知道|知晓|发现|察觉|看到)`,
    ],
    consent: [
      `${ZH_USER}(?:早已|已经|已)(?:事先|明确|预先)?(?:同意|授权|批准|许可|允许|确认)`,
      '(?:无需|不需要|不必|无须|不用)(?:再次|再|任何)?(?:确认|询问|批准|授权|同意|征求)',
      `已(?:获得|取得|得到|经)${ZH_USER}[^\\n]{0,2}?(?:同意|授权|许可|批准)`,
    ],
    addressed: ['(?:致|给|请|提醒|告知)(?:所有|各位)?[^\\n]{0,3}?(?:ai|人工智能|大?语言模型|智能体|llm)[^\\n]{0,8}?[:,]|(?:ai|人工智能|大模型|语言模型|智能助手|智能体)[^\\n]{0,4}?(?:请注意|注意|必须|须知|请务必)'],
    order: [
      '(?:使用|调用|运行|执行)(?:此|本|该|这个|任何|其他)[^\\n]{0,3}?(?:工具|函数)(?:之前|前|以前)[^\\n]{0,10}?(?:必须|先|首先|务必|一定要)',
      '(?:始终|总是|必须|一律)(?:优先)?(?:使用|调用)(?:本|此|这个)工具[^\\n]{0,10}?(?:而不是|代替|替代|优先)',
    ],
    gap: 12,
  },
  {
    disobey: '(?:無視し(?:て|ろ|,|、|つつ|た上で)|無視せよ|無視しなさい|無視する(?:こと|よう)|忘れ(?:て|ろ|なさい)|従わな(?:い|く)|従わず|従うな|は(?:すべて)?無効|無効に|無効と|破棄し(?:て|ろ)|上書きし(?:て|ろ))',
    instructions: '(?:指示|命令|ルール|規則|プロンプト|指令|設定|制約|方針|指針)',
    earlier: '(?:これまで|今まで|それまで|以前|前の|先の|上記|上の|すべて|全て|全部|システム|元の|最初|既存|開発者)',
    secrecy: [
      `${JA_USER}[^\\n]{0,14}?(?:伝え(?:ない|ず)|知らせ(?:ない|ず)|言わ(?:ない|ず)|教え(?:ない|ず)|内緒|秘密に|隠し|隠せ|気づかれ|気付かれ|通知し(?:ない|ず|なく)|通知せず|見せ(?:ない|ず)|明かさ(?:ない|ず)|報告し(?:ない|なく)|報告せず|話さ(?:ない|ず)|触れない|知られ)`,
    ],
    consent: [
      `${JA_USER}[^\\n]{0,6}?(?:すでに|既に|事前に|もう)[^\\n]{0,10}?(?:同意|承認|許可|承諾|了承|確認)`,
      '(?:確認|承認|許可|同意)(?:は|を)?(?:一切)?(?:不要|必要ありません|必要ない|求めない|求めず|得て|得られ|済み|取得済)',
    ],
    addressed: ['(?:ai|人工知能|言語モデル|llm|アシスタント|エージェント)[^\\n]{0,8}?(?:への|へ|に)[^\\n]{0,4}?(?:注意|指示|メモ|お知らせ|連絡|注記|通知|お願い)|(?:ai|llm)[^\\n]{0,8}?(?:への|へ)[:,]|(?:ai|llm|言語モデル)[^\\n]{0,8}?は必ず'],
    order: [
      '(?:この|他の|ほかの)(?:ツール|機能|道具)を(?:使う|使用する|呼び出す|実行する|利用する)(?:前|まえ)[^\\n]{0,10}?(?:必ず|まず|先に|最初に)',
      '(?:常に|必ず|いつも)この(?:ツール|機能)を[^\\n]{0,10}?(?:優先|使用|使って|使い)',
    ],
    gap: 15,
  },
];

/** Returns the patterns of D6, and of D4, D5 and F1 outside of English. Word order is free: verbs stand last in Japanese. */
function phrasesOf({ disobey, instructions, earlier, secrecy, consent, addressed, order, gap: chars }: Words): Phrase[] {
  const between = gap(chars);
  return [
    phrase('D6', 'hard', `(?:${disobey})`, between, `(?:${earlier}${between}${instructions}|${instructions}${between}${earlier})`),
    phrase('D6', 'hard', earlier, between, instructions, between, `(?:${disobey})`),
    ...secrecy.map((pattern) => phrase('D6', 'hard', pattern)),
    ...consent.map((pattern) => claim(pattern)),
    ...addressed.map((pattern) => phrase('D5', 'soft', pattern)),
    ...order.map((pattern) => phrase('F1', 'soft', pattern)),
  ];
}

export const OTHER_LANGUAGES: readonly Phrase[] = LANGUAGES.flatMap(phrasesOf);
