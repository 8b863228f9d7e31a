/** Words of tool names: verbs, and words without a topic. Lower case. */

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** Verbs at any place in a name: `create_issue`, `droplet-create`, `apps-get-logs`. */
export const PLAIN_VERBS = words(`
  add apply approve assign attach cancel change check clear close convert copy create delete describe detach disable
  discover download drop duplicate edit enable ensure erase evaluate execute explain fetch find generate get insert
  install invite list manage modify move open patch perform post preview publish put query read refresh register
  remove rename replace replay reset resize resolve restart restore resume retrieve retry revoke rotate save search
  send set show start stop submit subscribe suggest sync terminate transfer trigger unarchive unassign undo uninstall
  unpublish unsubscribe update upgrade upload upsert validate verify write
`);

/** Verbs at the front of a name only: elsewhere they are nouns (`pull_request`, `create_project_update`, `tests`). */
export const LEADING_VERBS = words(`
  abort accept activate adjust analyze append archive ask auto batch begin block bookmark build bulk calculate
  checkout choose click commit compare complete compose compress compute configure confirm connect consume count
  debug decode decrypt define deploy deprecate detect deny diff disconnect dismiss display drag draw encode encrypt
  end enhance enter estimate examine expand explore export extend extract fill filter finalize finish fix follow fork
  format forward generate grant guide handle hide highlight hover import include increment index inspect
  integrate introspect invoke join kill label launch leave link load lock log login logout look make map mark match
  measure merge mock monitor mount mute navigate normalize notify observe optimize orchestrate parse pause pin ping
  plan play poll power press preprocess print process profile promote protect provision pull purge push reboot
  rebuild record recover recycle redeploy redirect reference reindex reject release reload remember render reorder
  reply report request reserve respond return review revert rewrite rollback rotate run sample scale scan schedule
  score scrape screenshot scroll select serve share shutdown sign simulate skip snapshot snooze sort split stage
  stream style subscribe summarize swap swipe switch tag take tap test toggle touch trace track trade train transform
  transition translate traverse trim type unapprove unblock unfollow unhide unlink unlock unmute unpin unprotect
  unshare unwatch use view visit vote wait wake watch zip
`);

/** Prepositions. The noun after one is not the topic: `add_issue_to_cycle`. */
export const PREPOSITIONS = words(
  'about across after and as at before between by for from in inside into of off on onto or out over per through to under until using via when where with within without',
);

/** Words for a number or a choice. */
export const QUALIFIERS = words(
  'a active all an any async available batch bulk by complete current custom detailed each every existing full given id ids its latest live many me multi multiple my new old own raw recent single specific the this tool your',
);

/** Verbs that only read. */
export const READING_VERBS = words(`
  analyze ask check compare count describe detect diff discover download estimate evaluate examine explain explore
  export extract fetch find get inspect introspect list look lookup measure monitor navigate observe preview query
  read recover reference report retrieve review search select show summarize suggest track validate verify view watch
`);

/** Pairs of words that mean one thing. The second is never a topic of its own after the first. */
export const COMPOUNDS = words(`
  access-key access-request access-token action-item alert-policy api-key audit-log bank-transaction block-storage
  business-unit calendar-event code-block credit-note custom-domain custom-field data-set data-source emoji-reaction
  env-var environment-variable feature-flag hosted-zone jest-test key-value knowledge-base line-item load-balancer
  log-group merge-request node-pool oauth-application oauth-client oauth-grant oauth-token object-schema
  payment-method phone-number pipeline-schedule pull-request purchase-order recycle-bin release-note saved-view
  security-group service-account service-binding short-code signing-key spec-file status-page tax-rate test-case
  test-plan test-run test-suite text-box time-entry time-zone user-story web-hook wiki-page work-item
`);

/** Adjectives, which mean nothing without the next word. Words in `-ed` and `-ing` count as adjectives too. */
export const ADJECTIVES = words(`
  client draft google hidden incoming mobile manual outgoing primary private public remote secondary shared short side upcoming
`);

/** Nouns that look like adjectives. */
export const NOUNS_IN_ING = words(`
  billing binding building embed embedding engineering feed finding listing mapping meeting monitoring painting
  pricing rating reading recording ring seed setting speed spring string testing thing training need
`);

/** Nouns without a plural. */
export const MASS_NOUNS = words(`
  access accessibility advice ai analytics audio auth authentication authorization billing browser cache calendar chat ci clipboard
  code compute config configuration content context copilot core css data debugging design dns documentation feedback
  gmail graphql hardware health help history html http info information infra infrastructure input insight iot json kafka
  keyboard kubernetes lds log logging lwc markdown media memory metadata money monitoring mouse music network oauth
  output payroll pdf performance persona postgres power privacy progress quality r2 redis security seo slack sms software source sql status storage support sync telemetry test text time tracing traffic training translation travel usage
  video voice weather web wiki work xml yaml youtube
`);

/** Words of three letters. Other words of that length are mostly abbreviations, without a plural. */
export const SHORT_NOUNS = words(
  'app bin bot box bug day doc job key lab law log map net org pod row set tab tag tax url',
);
