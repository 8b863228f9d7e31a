/** Asking for a capability of widely used servers without its name. */
export const CAPABILITIES = `
# files, memory, git
biggest_files, largest_files, file_sizes, how_much_space, disk_hog > directory, sizes, list
folders_allowed, where_may_you_write, may_access > allowed, directories, list
several_files, many_files, both_files, these_files > multiple, files, read
first_lines, last_lines, beginning_of_file, end_of_file > read, file, head, tail
picture_file, audio_file, base64_file > media, read
wipe_memory, everything_you_know, whole_graph > graph, read
people_and_things, concepts > entities, nodes
who_wrote_this_line, line_by_line, last_touched > blame
take_one_commit, pick_a_commit, single_commit > cherry_pick
throw_away_changes, discard_my_changes, undo_local_changes > reset, checkout, restore, clean
untracked_files, leftover_files > clean, status
put_aside, save_for_later, shelve, unfinished_changes > stash
previous_head, lost_work, dangling_commit > reflog
two_branches_at_once, parallel_checkout, second_working_copy > worktree
mark_a_version, version_mark > tag
get_others_changes, what_colleagues_pushed, remote_changes > fetch, pull
start_a_repo, new_repo, empty_repo > init, create_repository, repository
remote_url, origin_url > remote
what_did_this_commit_change, changes_in_commit > show, diff, commit
checks_on_pull_request, did_checks_pass, ci_status > status, pull_request, checks
files_touched_by, files_changed_in > files, diff, pull_request
behind_main, out_of_date_branch, update_with_main > update, branch, rebase, merge
request_changes, approve_pr, leave_a_review > review, create, pull_request
inline_comment, line_comment, review_comment > comment, review, thread
find_developers, find_people_on > users, search

# maps and weather
in_between, half_way, meet_in_the_middle > midpoint
middle_of_area, center_of, centre_of > centroid
surround, zone_around, within_radius, radius_around > buffer
overlap_of_areas, common_area > intersect
combine_areas, join_areas > union
how_large_is_the_area, square_kilometers, acreage > area
which_direction, compass, heading, angle > bearing
straight_line, crow_flies > distance
inside_the_area, inside_zone, falls_within > points, within, polygon
clean_up_gps, noisy_gps, gps_track, recorded_track > map_matching
best_order_of_stops, delivery_round, many_stops, errands > optimization, route
travel_times_between, many_to_many > matrix
how_high, height_above, sea_level > elevation
opening_hours, phone_number_of_place, reviews_of_place > place, details

# project work
things_assigned, what_is_mine, my_open_work, my_issues, my_tickets > my, tasks, assigned, get, cards
next_task, what_to_work_on, pick_up_next > next
too_big, chop_up, split_a_task > expand, subtask, breakdown
how_hard, how_complex, difficulty > complexity, analyze
make_harder, more_thorough > scope_up, update
make_simpler, less_work > scope_down, update
requirements_document, spec_document, product_brief > prd, parse, requirements
circular_dependencies, broken_dependencies > dependencies, validate, fix
how_productive, my_streak, how_much_done > productivity, stats, completed
is_the_project_healthy, project_health > health, project, analyze
undo_complete, not_done_after_all, put_back_on_list > uncomplete, reopen
who_else_is_on, shared_with, people_in_project > collaborators, members, users
follow_card, keep_me_updated_on > watch, subscribe
current_sprint, running_sprint, this_sprint > active, iteration, cycle, sprint, current
next_sprint, coming_sprint > upcoming, iteration, cycle, sprint
branch_name_for, name_for_branch > branch, name
parent_task, belongs_under, nest_under > parent, set, subtask
saved_search, saved_filter > filter, views, saved
pull_in_reviewer, reviewers > reviewer, pull_request
sprint_capacity, team_capacity, days_available > capacity
backlog_items, product_backlog > backlog, work_items

# selling and books
who_has_not_paid, late_payers, owing_customers, overdue_customers > aged, receivables, overdue, invoices
what_we_owe, unpaid_bills > aged, payables, bills
hours_worked, log_hours, working_hours > timesheet, hours, time_entry
days_of_leave, holidays_left, vacation_left > leave, balances, employee
kinds_of_leave, leave_policy > leave, types
what_would_it_cost, cost_before, before_charging, price_preview > preview, estimate
store_credit, customer_credit > credit, balance, customer
lower_price, reduce_the_price, seasonal_sale > discount, create, price
correct_a_bill, partial_refund, adjust_a_charge > adjustment, credit_note, refund
pdf_of_invoice, invoice_pdf, download_invoice > invoice, transaction, pdf
send_out_the_invoice, issue_the_invoice, finish_invoice > finalize, invoice, send
fight_a_chargeback, respond_to_dispute > dispute, update
company_details, our_legal_name, our_tax_number > organisation, details, business
next_bill, upcoming_invoice, what_will_they_pay > preview, invoice, subscription
who_is_it_from, person_behind > contact, customer, search
companies_like, accounts_in > company, search, records, filter
talked_to, last_contacted, emails_with, calls_with > interactions, engagement, activity
which_values_can, allowed_options, possible_values, choices > options, attribute, enum, values
possible_fields, which_fields > attributes, properties, fields, schema

# runtime and cloud
what_is_deployed, which_version_is_live, current_deployment > deployments, list, status, version
is_the_deploy_finished, deployment_progress, deploy_done > deployment, status, get
why_did_the_deploy_fail, deploy_errors > deployment, logs, events
release_to_production, move_to_production, from_staging_to_production > promote, pipeline, deploy
closed_for_maintenance, under_construction, be_right_back > maintenance, on
open_again_after, back_from_maintenance > maintenance, off
one_off_command, run_once > one_off, run, dyno, job
talk_to_database, database_shell > psql, sql, query
slow_queries, heaviest_queries, most_expensive_queries > outliers, slow, queries
running_queries, active_queries > ps, processes, queries
copy_variables, same_variables > variable, copy, env
public_port, reach_from_outside, tcp > proxy, tcp, expose
desired_state, reconcile > sync
what_belongs_to, objects_of_app > resource, tree, managed
recreate_from_git, apply_from_git > sync, application
underused, oversized, wasting_money, too_large_machine > underused, resource, cost, usage
which_permissions, may_i, am_i_allowed > permissions, iam, check
store_a_value, set_a_value, remember_value > put, set, kv, key
look_up_a_key, value_of_key > get, kv, key
list_workers, scripts > worker, list
wake_up_later, alarm > alarm, set
hand_off_to_background, background_queue > queue, send, create
data_center, where_is_it_stored > location, region, bucket
who_changed_the_flag, flag_history > audit, log, flag
where_in_code, flag_in_code > code, references, flag
flag_status_everywhere, across_environments > flag, status, environments
most_frequent_errors, top_errors, worst_errors > top, items, errors
how_often_did_it_happen, each_occurrence > occurrences, events
what_did_the_user_do, before_the_crash, watch_the_user > replay, session
downtime_window, planned_outage > downtime, schedule
slow_pages, page_load_times > page, performance, rum
how_many_machines, how_many_hosts > hosts, count, active
plain_english_to_query, natural_language, in_words_to_query > generate, natural_language
what_does_query_do, explain_a_query > explain, query
is_the_query_valid, check_query > verify, validate, query
find_thing_by_name, which_entity > entity, find, name

# browser, phone, pictures, automation
where_am_i_on_the_web, current_address > url, get
choose_file, file_dialog, attach_on_page > file, upload
accept_the_dialog, dismiss_the_popup, are_you_sure > dialog, handle
what_went_over_the_wire, server_response, response_body > network, request, get
errors_in_console, red_messages > console, messages
memory_snapshot, what_uses_memory > heap, snapshot, memory
css_of, styles_of, which_font > css, styles, get
film_the_browser, video_of_browser > screencast, start, record
turn_the_phone, sideways, rotate_the_screen > orientation, set
which_app_is_open, app_in_front > foreground, app, current
send_app_to_phone, put_app_on > install, app
hold_finger, press_and_hold > long_press
clipboard, copied_text, paste > clipboard
crash_reports, app_crashed > crash, list, get
logs_of_phone, device_log > device, logs
how_big_is_the_screen > screen, size
things_on_screen, buttons_on_screen > elements, list, screen, ui
look_for_similar_pictures, picture_like_this > visual, search
new_picture, make_a_picture, ai_image > generate, image
zip_of_images, bundle_images > archive, generate
get_old_version_of_image > backup, asset
round_the_corners, rounded > corner_radius, set
line_around, outline > stroke, border
distance_between_items, gap > spacing, item, set
change_the_words, change_the_text, replace_text > text, set, content
what_have_i_selected, my_selection > selection, get
leave_remark_on_design, design_note > annotation, set
past_runs, previous_runs, run_history > executions, runs, history
does_the_workflow_work, is_workflow_ok > validate, workflow, test
ready_made_workflow, example_workflow > template, search, deploy
logins_of_workflow, connection_secrets > credentials, manage
every_sheet, list_sheets, tabs_in_file > sheets, describe
color_cells, bold_cells, cell_style > format, range, cells
parts_of_the_whole > pie, chart, treemap
ups_and_downs, gain_and_loss, step_by_step_change > waterfall, chart
money_flow, energy_flow, from_to_flow > sankey
causes_of_problem, why_why > fishbone
two_scales, bars_and_line > dual_axes
rich_text_menu, menu_at_bottom > rich_menu
messages_left, message_allowance > quota, message
search_my_site_on_google, performance_in_google > search_analytics
easy_improvements, low_hanging > quick_wins
right_now_visitors, currently_online > active, users, realtime
license_of_model, size_of_model > details, repo, model
`;
