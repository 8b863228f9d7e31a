/** What developers and office workers do to things, in all the words they use for it. */
export const VERBS = `
# to see
get, fetch, retrieve, read, obtain~, pull~
list, enumerate, browse, show~, all~~, overview~~
show, display, view, see, present~, look_at
search, find, look_up, lookup, look_for, query~, seek, hunt~, discover, locate
look, glance, peek > view, show, get, list~
check > verify, validate, test~, inspect~, status~, get~~
inspect, examine, look_into, look_inside > describe, details, get, inspect, info
describe, explain, details, info, information, about~, summary~
details, info, information, specifics, particulars, metadata~
tell_me, know, learn_about > get, info, describe~
which, what > list~, get~, search~~
who > user, member, owner, assignee, author~, contact~, collaborator~
whose > owner, user, assignee
who_am_i, logged_in_as, my_account, my_user, current_user, myself, whoami, authenticated_user, me~~
my > me~, current~, own~~
where > location, path, find~, url~
when > time, date, schedule, calendar~
how_many, number_of, count, total, amount~, tally, how_much~
how_much > cost, price, amount, usage, total, balance~
how_long > duration, time, elapsed
how_often > frequency, count, rate
how_do_i, how_to, how_does > documentation, docs, guide, help, instructions
how_fast, how_slow > performance, speed, latency, duration
why > error, logs, reason, diagnose, debug, explain, failure~
is_there, are_there, exists, exist, any > list, check, exists, search
latest, newest, recent, most_recent, last~, current~
history, past, previous, earlier, over_time, timeline, changelog~, activity~, log~
changed, what_changed, who_changed, recent_changes > history, activity, log, audit, diff
watch, monitor, observe, keep_an_eye, track, follow~
follow, subscribe, watch
summarize, summarise, summary, digest, recap, tldr, sum_up, overview, gist~, abstract~
compare, diff, difference, versus, changes_between, contrast
analyze, analyse, analysis, insight, investigate, study~, assess, evaluate
investigate, diagnose, debug, troubleshoot, root_cause, figure_out > analyze, diagnose, debug, inspect, logs, trace
verify, validate, confirm, check, assert, ensure, make_sure
audit, review, assess, inspect~
calculate, compute, work_out, determine, evaluate~, sum~
estimate, predict, forecast, projection, guess~
measure, benchmark, profile, gauge~
count, aggregate, group_by, statistics~
recommend, suggest, recommendation, suggestion, advice, tips~
ask, question, answer, query~, chat~
translate, translation, convert~, in_another_language
preview, draft~, mock_up~
explore, browse, navigate, walk_through
download, export, save_locally, pull_down, fetch~, get_file
extract, scrape, parse, pull_out, get_data_from
scan, inspect, audit~, check_for

# to make
create, add, make, new, insert, generate~, build~, set_up, open~, start~, register~, provision~, spin_up, draft~, compose~, initialize~
set_up, setup, configure, initialize, bootstrap, scaffold, init, install~, get_started
configure, config, configuration, settings, setting, preference, option, options~, set~
generate, produce, create, make, render~
scaffold, boilerplate, template, starter, skeleton, bootstrap
register, sign_up, enroll, onboard, join~, create_account
write, save, store, put, persist, record~, set
write_down, jot_down, note_down, take_note, remember, memorize, keep_in_mind, store~ > note, create, save, memory, observation, add, remember
insert, append, add, put_in, place~
attach, upload, add_file, include~
draw, sketch, plot, illustrate, visualize, diagram~, render
compose, draft, write, author~
schedule, plan, arrange, book, set_up_a_meeting, timetable, postpone~
duplicate, copy, clone, replicate, make_a_copy, fork~
fork > clone, copy
import, load, ingest, bring_in, upload~, bulk_add
upload, push, put, send_file, publish~
embed, embedding, insert~

# to change
update, edit, change, modify, alter, set, adjust, amend, revise, patch, correct, fix, tweak, rewrite~, overwrite~, replace~, put~~
rename, change_the_name, retitle, new_name, call_it > rename, update, name, title, move~
replace, swap, substitute, overwrite, exchange
move, relocate, transfer, migrate, shift, drag~, put_in~, reorder~
reorder, rearrange, sort, order, rank~, prioritize~
sort, order_by, rank, arrange
merge, combine, join, unify, consolidate, concatenate, squash~
split, divide, separate, break_up, partition
convert, transform, turn_into, change_to, export_as, translate~, format~
format, prettify, beautify, style, pretty_print
resize, scale, enlarge, shrink, grow, bigger, smaller, dimension~, size
crop, trim, cut
increase, raise, grow, scale_up, expand, bump, extend
decrease, reduce, lower, shrink, scale_down, cut~
extend, prolong, lengthen, renew
renew, renewal, extend, refresh
refresh, reload, sync, update~, invalidate~
sync, synchronize, synchronise, mirror, replicate, refresh
mark, flag, set_status, tag, label > update, set, mark, status
mark_as_done, check_off, tick_off, finish, complete, done, close, resolve, finalize, wrap_up
reopen, undo_complete, uncomplete, open_again
assign, give_to, hand_over, allocate, delegate, set_owner, assignee
reassign > assign, update
unassign, take_off > remove, unassign
link, connect, associate, relate, attach, tie
unlink, disconnect, detach, dissociate, remove_link
bind, map, associate
approve, accept, sign_off, allow, ok~, confirm~
reject, decline, deny, refuse, turn_down, dismiss~
dismiss, ignore, skip, suppress, mute, snooze~
mute, silence, quiet, suppress, snooze, pause_notifications, unsubscribe~, do_not_disturb
enable, turn_on, switch_on, activate, start~, allow~
disable, turn_off, switch_off, deactivate, stop~, suspend~
toggle, switch, flip > toggle, enable, disable, set, update
activate, enable, go_live, publish
pin, star, favorite, favourite, bookmark
lock, freeze, protect, block~
unlock, unfreeze, release~
hide, conceal, invisible, archive~
archive, put_away, retire, hide~
restore, recover, bring_back, undelete, unarchive, undo_delete, get_back, rollback~
undo, revert, roll_back, rollback, restore, go_back, previous_version, cancel~, reset~
reset, clear, restart~, reinitialize
upgrade, update, bump, newer_version, migrate~
downgrade, older_version, rollback~

# to remove
delete, remove, erase, destroy, drop, purge, get_rid_of, wipe, discard, throw_away, trash, clean_up, cleanup, eliminate, clear~, take_down, tear_down, decommission, nuke, forget, scrap~, bin~, unregister~, cancel~~
clear, empty, flush, wipe, purge, reset~, clean
clean_up, cleanup, prune, tidy, garbage_collect > delete, clear, prune, remove
uninstall, remove_package, remove_app
kick, kick_out, expel, boot, ban, remove_from, throw_out > remove, kick, delete, ban
ban, block, blacklist, blocklist, deny
revoke, withdraw, invalidate, remove_access, expire~
evict, expire, invalidate

# to run
run, execute, invoke, launch, call, perform, trigger, start, kick_off, do~
start, begin, launch, boot, power_on, run, bring_up, wake_up, resume~
stop, halt, end, terminate, kill, shut_down, shutdown, power_off, abort, cancel, quit~, close~
kill, terminate, end, stop, force_quit
restart, reboot, bounce, relaunch, power_cycle, cycle~, reset~
pause, suspend, hold, freeze, put_on_hold, halt~
resume, unpause, continue, wake, restart~, pick_up_again
cancel, abort, stop, call_off, revoke~, void~
retry, rerun, run_again, re_run, repeat, redo, try_again, trigger~
rerun, re_run, run_again, retry
wait, wait_for, until, poll
trigger, fire, dispatch, kick_off, run
deploy, release, ship, publish, roll_out, go_live, push_to_production, launch, put_online
publish, release, post, make_public, go_live, announce~
install, add_package, set_up, get~
build, compile, make, bundle, assemble
test, try_out, try, check, verify
simulate, emulate, mock, pretend, fake, imitate
open, launch, start, view~, load~
close, shut, end, resolve~, dismiss~
connect, attach, join, log_in, login, link
disconnect, detach, leave, log_out
log_in, login, sign_in, authenticate, auth, authorize, authorise, credentials~, log_on
log_out, logout, sign_out, end_session
send, deliver, transmit, dispatch, post, message~, email~
post, publish, send, write~
reply, respond, answer, write_back, comment~
forward, pass_on, redirect, relay, send~
share, give_access, invite, permission, publish~, collaborate~
invite, add_member, add_user, onboard, give_access, bring_in
join, enter, become_a_member
leave, exit, quit, part
notify, alert, ping, warn, announce, tell~, notification, remind~
remind, reminder, nudge, follow_up
announce, broadcast, tell_everyone, send_to_all, mass_message
grant, give_access, permission, allow, authorize, give_permission
select, choose, pick, option
filter, narrow, only_those, where~
listen, subscribe, stream, watch, tail
stream, live, real_time, realtime, tail
buy, purchase, order, get~, acquire, checkout~, bought
sell, offer, list_for_sale
pay, payment, charge, settle, transfer~, paid
reserve, book, reservation, booking, hold
rotate, roll, renew, regenerate, cycle, change
encrypt, cipher, encode~
decrypt, decode, decipher
compress, zip, archive, shrink, optimize~, pack
decompress, unzip, extract, unpack
optimize, optimise, improve, speed_up, tune, enhance, better
improve, enhance, refine, polish, better
prevent, avoid, stop, block, protect
think, reason, reflect, think_through, step_by_step, chain_of_thought, brainstorm, ponder, sequential_thinking, problem_solving~
decide, choose, decision
approve, review
report, summary, analytics~, overview
recall, remember, memory, what_do_you_know
`;
