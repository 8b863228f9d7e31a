/** What people say when they do not use the words of the trade: a phrase on the left, what it asks for on the right. */
export const IDIOMS = `
# of work
on_my_plate, assigned_to_me, waiting_for_me, my_work, my_to_do > my, task, assigned, issue, user~
what_should_i_do_next, what_is_next, next_thing, work_on_next, what_now > next, task, recommend~
what_is_left, still_to_do, remaining_work, not_done_yet, unfinished > open, incomplete, task, remaining, status
what_is_going_on, what_happened, what_is_new, catch_me_up, catch_up > activity, history, summary, recent, list
who_is_working_on, working_on, in_charge_of > assignee, owner, assigned
who_can_see, who_has_access, allowed_to_see > permission, access, list, members, sharing
who_broke, whose_fault, who_introduced, who_touched > blame, history, commit, author
has_to_wait, waits_for, waiting_on, cannot_start_until, comes_after > dependency, blocked, depends
comes_first, prerequisite_of > dependency, blocks
break_into_smaller, smaller_pieces, into_steps, split_up > subtask, expand, breakdown, split
get_done, is_done, i_finished, mark_off, check_off, cross_off, tick_off > complete, close, done, resolve, update
put_off, push_to, push_back, move_to_next_week, kick_down_the_road, do_it_later, later_this_week > reschedule, postpone, update, move, due_date, event~
bring_forward, earlier_date > reschedule, update, move
running_late, behind, off_track, on_track, at_risk > status, overdue, project_status
hand_off, pass_to, give_to > assign, reassign, transfer
sign_off_on, give_the_green_light, green_light, thumbs_up, lgtm > approve, review
turn_down, say_no > reject, decline
say_yes > accept, approve
leave_a_note, leave_a_comment, chime_in, write_under, say_on > comment, add, create, note
get_back_to, write_back > reply, respond
let_the_team_know, let_everyone_know, tell_the_team, give_a_heads_up, heads_up, shout_out > send, message, post, notify, announce
drop_a_line, shoot_a_message, drop_a_message, write_to, reach_out > send, message, email
ping_someone, ping_me > notify, message, send
ring, give_a_call, phone_someone, get_on_the_phone > call, create~
text_someone, text_me > sms, send, message
blast, mass_mail > broadcast, campaign, send, batch
cc, loop_in > add, recipient, invite
keep_me_posted, let_me_know_when, tell_me_when > notify, watch, subscribe, monitor, alert
set_a_reminder, do_not_let_me_forget, remind_me > reminder, create, task
jot_down, make_a_note, put_on_paper > note, create
do_i_have_time, am_i_free, any_gaps, is_anyone_free, when_can_we_meet, find_a_time, time_slot > free_busy, availability, calendar
whats_on_today, my_day, on_my_calendar, coming_up, agenda_for > events, calendar, list, upcoming
get_together, catch_up_call, sit_down_with, one_on_one, 1_on_1 > meeting, event, calendar
call_off > cancel, delete, event~
let_in, give_access_to, let_edit, can_edit, let_someone_in, give_permission > share, permission, invite, add, access
lock_out, keep_out, shut_out, no_longer_allowed, take_away_access > revoke, remove, block, permission, ban
stop_people_from, keep_people_from, nobody_can > protect, lock, restrict, permission
sign_me_out, log_me_out, sign_out_everywhere > logout, sessions, revoke
who_am_i > whoami, current_user, me, user, profile
fired, left_the_company, quit_the_team, no_longer_with_us > deactivate, remove, delete, user
new_colleague, new_teammate, new_hire, joined_the_team, joins_the_team > invite, add, create, user, member
turn_into, make_it_a > convert, create, rename~
same_as, another_one_like, just_like > duplicate, copy, clone
sum_up, in_a_nutshell, the_short_version, boil_down, key_points, tldr > summarize, summary
make_sense_of, what_does_it_mean, in_plain_english > explain, describe, analyze
get_my_head_around, wrap_my_head_around > explain, docs
put_together, come_up_with > create, generate
keep_track_of > track, log, monitor
clean_slate, start_over, from_scratch, start_fresh > reset, create, delete, new
by_accident, accidentally, by_mistake, oops > restore, undo, revert, recover
bring_back, get_back, want_back > restore, recover, undelete, revert
gone, disappeared, missing > restore, search, find
lost_commit, lost_commits > reflog, recover
stored_somewhere_safe, keep_a_copy, safe_copy, save_a_copy > backup, snapshot, export, copy
as_it_was, how_it_was, yesterday_version, older_state, previous_state, back_in_time > restore, revision, version, revert, history
what_did_it_look_like > history, version, snapshot
who_signed_up, sign_ups > users, subscribers, list, registration
in_bulk, all_at_once, in_one_go, at_once, several, batch, mass > batch, bulk, multiple
one_by_one > single
as_soon_as > trigger, automation, webhook
every_time, whenever, each_time > automation, webhook, trigger, rule
call_my_endpoint, hit_my_endpoint, hit_my_server, post_to_my_server, tell_my_server > webhook, create
in_the_background > async, job, process
again > rerun, retry, repeat~~
out_of_the_way, not_needed_now, for_safekeeping > archive, move, hide
turn_off_the_lights > light, off

# of machines and code
is_down, went_down, not_responding, not_reachable, fell_over, unavailable, cannot_reach > status, health, incident, logs
is_it_up, still_running, still_alive, up_and_running > status, health
keeps_crashing, blew_up, blows_up, falls_over, crash_loop, crashlooping, died, dies > logs, error, crash, describe, events
went_wrong, goes_wrong, is_broken, does_not_work, not_working, fails, failing > error, logs, failure, diagnose, debug
turned_red, went_red, is_red, is_green, did_it_pass, has_it_passed > build, pipeline, status, test, failure
spat_out, what_did_it_print, said, printed, prints > logs, output
is_hanging, hangs, got_stuck, frozen > process, status, restart, locks
is_slow, takes_forever, takes_long, sluggish, laggy, janky, lagging, stutter, choppy > performance, slow, profile, trace, latency
main_thread, frames_per_second > performance, trace, profile
eating_memory, eats_memory, memory_hog, out_of_memory > memory, usage, heap, metrics, process
eating_space, takes_up_space, eats_disk, takes_space, is_eating_the_space > size, disk, usage
running_out_of, almost_full, room_left, space_left, how_much_is_left, left_over > usage, quota, limit, balance, disk
too_many_people, more_traffic, handle_more_traffic, under_load, beef_up, more_power, more_machines, more_memory > scale, resize, replicas
save_money, cut_costs, too_expensive > cost, pause, scale, optimize, billing
turn_it_off_and_on, kick_the_server > restart, reboot
put_live, push_live, ship_it, bring_online, into_production, to_production, make_it_live, put_on_the_internet > deploy, publish, release, create~
take_offline, take_down, pull_the_plug > stop, delete, disable, unpublish
take_back, roll_it_back, last_good_version > rollback, revert, restore
half_of_the_users, some_users, percent_of_users, few_users, only_beta_users, beta_testers > feature_flag, rollout, targeting, segment, percentage
switch_on_for, turn_on_for > feature_flag, enable, targeting
put_in_front_of, spread_traffic, distribute_traffic, share_the_load > load_balancer
point_to, points_to, point_my_domain, my_domain > dns, domain, record
where_does_it_point, resolve_name > dns, record, lookup
from_outside, from_my_machine, from_my_laptop, on_localhost, to_localhost > port_forward, tunnel, expose
padlock, https_working, not_secure > certificate, ssl, tls
inside_the_container, in_the_container, inside_the_pod, get_into > exec, shell, ssh
on_my_box, on_my_laptop, on_my_machine, on_my_computer, locally, local > local, install~, pull~
set_aside, park_my_changes, put_aside > stash
get_the_latest, latest_changes, bring_up_to_date > pull, fetch, update, sync
save_my_changes, save_my_work > commit, save
what_did_i_change, my_changes, not_yet_committed > status, diff
send_my_changes, put_my_changes_up > push
start_a_new_line_of_work, separate_line > branch, create
ask_for_review, propose_my_changes, propose_a_change, up_for_review > pull_request, create, merge_request
bring_together, fold_into > merge, combine
bits_of_code, piece_of_code > snippet
where_is_it_used, who_calls, used_anywhere, where_do_we_use > search, code, references, usages
mentions_of, occurrences > search, grep
what_does_it_depend_on > dependencies
out_of_date, too_old, newer_one > outdated, upgrade, version
look_up_the_docs, official_docs, read_the_docs, the_manual, how_does_one > documentation, search, docs
accept, accepts, takes, allowed_values, valid_values, which_values > options, schema, fields, explain, arguments, enum
what_fields, what_columns, shape_of, what_does_it_look_like, layout_of > schema, describe, fields, columns
tracked_in_history > migration
typo > fix, update, rename
holes, security_holes, weak_spots, hackable, anyone_break_in, break_in > vulnerability, security, scan
leak, leaked > secret, scan, rotate, leak
messy, ugly_code, clean_code > lint, refactor, format, quality
how_well_tested, tested_enough > coverage
does_it_compile, will_it_build > build, compile, diagnostics
phone_thinks, pretend_to_be > emulate, simulate, set, mock
fake_location, pretend_to_be_in > location, geolocation, set, emulate
on_a_phone, on_an_iphone, small_screen, phone_size, mobile_size > device, emulate, resize, viewport
without_network, without_internet, airplane_mode > offline, network, emulate
see_what_it_looks_like, looks_like, how_does_it_look, take_a_picture, what_is_on_the_screen, on_screen > screenshot, capture, snapshot
push_the_button, hit_the_button > click, press
key_in, fill_out > type, fill, form
pick_from, pick_from_the_list > select, option, dropdown
further_down, scroll_down > scroll
what_is_on_the_page > snapshot, content, text
did_the_browser_request, which_requests, calls_home > network, requests
pops_up, popped_up > dialog, alert
what_was_printed_in_the_console > console, messages

# of data and money
how_many_of, how_many_are_there, headcount > count, aggregate, list
who_owes, owes_us, not_paid, has_not_paid, still_open_bills, outstanding > invoice, overdue, unpaid, receivable, balance
give_the_money_back, money_back, want_their_money_back > refund, create
ask_for_money, send_a_bill, bill_someone > invoice, create, payment_link, send
collect_money, take_a_payment, get_paid, take_money > payment, payment_link, checkout, charge
what_did_we_earn, how_much_did_we_make, make_this_month, bring_in > revenue, profit, income, report, sales
what_did_we_spend, where_does_the_money_go > expense, cost, spending, report
how_much_do_we_have, credit_left, money_left, left_on_my_account > balance, account, fetch~
cheaper, price_cut, money_off, percent_off, off_for > discount, coupon, promotion
stops_paying, no_longer_wants, quit_their_plan, leaves_us, churn > cancel, subscription
moves_to_a_bigger_plan, bigger_plan, switch_plan > update, subscription, upgrade
manage_their_own, own_card, update_their_card > customer_portal, payment_method
worth, going_for, trading_at > price, quote, market
in_dollars, in_euros, to_euros, to_dollars > convert, currency, exchange_rate
side_by_side > compare
over_the_years, over_the_months, developed_over, development_of, went_up, went_down, grow, grew > trend, line, history, timeseries
makes_up, is_made_up_of, slices, split_between, share_of > pie, breakdown, proportion
who_reports_to > organization_chart, manager
how_related, how_connected, connected_to > relations, network, graph
steps_of_a_process > flowchart, flow
which_pages_do_people_visit, people_visit, where_do_visitors_come_from, how_do_people_find_us, bring_us_visitors > analytics, traffic, search, page
found_on_google, show_up_in_google, show_up_on_google, appear_in_google > indexed, inspect, search_analytics, url_inspection
search_terms, searched_for, people_google > queries, search_analytics, keyword
did_they_open, who_opened, was_it_read, opened_it, did_it_arrive, did_it_go_through > delivered, opened, status, statistics
looks_like_this_one, more_like_this, find_similar, closest_match > similar, vector, search
stands_in, written_in, what_does_it_say, what_is_in > read, content, get
in_my_files, somewhere_in_my > search, files
top_row, first_row, header_row > header, row, freeze~, range
add_up > sum, total, calculate
in_bold, stand_out, make_it_pretty, look_nice > format, style
red_background, in_red, in_green > color, format, fill, background

# verbs with their prepositions
comment_on, comment_under, reply_under > add, create, comment
put_on, put_into, put_onto, stick_on > add, attach, create~
take_off, take_out, take_from > remove, delete
turn_into, make_into, change_into > convert, generate, create, transform
split_into, cut_into, divide_into, break_into > split, divide, breakdown
move_into, bring_into, drag_into > move, add
belong_to, belongs_to, part_of, is_in, is_on, are_in > list, members, get~
who_is_in, who_is_on, who_belongs, who_works > members, users, list
which_arguments, which_parameters, what_parameters, which_options > arguments, parameters, details, schema, options
how_many_are_stored, how_many_are_there, how_many_do_we_have > count, stats, list
drive_from, drive_to, walk_to, get_from, travel_from, way_from > directions, route, distance
stop_over_the_weekend, overnight, outside_office_hours > pause, stop, schedule
wait_until, wait_for, hold_on_until > wait
look_like, looks_like > screenshot, preview, get~
apply_to, use_for > apply, set, assign
log_in_with, sign_in_with, use_another_account > login, account, authenticate, manage
charge_for, bill_for, invoice_for > charge, invoice, create
ask_about, question_about > ask, search, chat
talk_to, chat_with > chat, message, conversation
run_against, run_on > run, execute, query

# of people and places
how_do_i_get_to, way_to, get_from, get_there, how_to_reach > directions, route
how_long_to, how_long_does_it_take_to_get > duration, directions, distance, matrix
what_is_around, around_here, around_me, close_by, in_walking_distance, within_reach > nearby, search, places, isochrone
where_is, whereabouts > location, geocode, find, search
which_address, what_is_at_this_point > reverse_geocode, address
somewhere_to_sleep, place_to_sleep, spend_the_night > hotel, accommodation, listing
somewhere_to_eat, place_to_eat, hungry > restaurant, food
do_i_need_a_jacket, need_an_umbrella, will_it_rain, going_to_rain, nice_outside, is_it_cold > weather, forecast
how_far_did_i, how_far_have_i, how_many_miles, how_many_kilometers > distance, stats, activity, athlete
how_fit, how_fast_was_i > stats, activity, performance
what_time_is_it, time_is_it > current, time, timezone
how_many_days_until, days_until, how_long_until > days, relative, time
said_in_the_video, said_in_this_video, talk_about_in > transcript, captions
what_people_say > reviews, feedback, comments
words_in_another_language, how_do_you_say > translate
keep_in_mind, do_not_forget, remember_that, bear_in_mind, remember_for_later, know_about_me > memory, remember, entities, observations, add, store
what_do_you_know_about, what_do_i_know_about, did_i_tell_you > memory, search, entities, knowledge
forget_about, no_longer_true > delete, observation, memory
ask_an_expert, second_opinion > ask, chat, research
read_up_on, dig_into, deep_dive, find_out, find_out_about, research_on > research, search
what_is_it_about, who_was, what_is_a > wikipedia, search, summary~
`;
