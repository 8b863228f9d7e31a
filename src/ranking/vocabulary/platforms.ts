/** What people call the things that platforms have: capability by capability, in the words of their users. */
export const PLATFORMS = `
# hosting, servers, databases as a service
restart_my_app, bounce_the_app > restart, dynos, service, deployment
dynos, processes, workers, instances
config_var, env_var, environment_variable, variable, secret~
add_on, addon, extension, plugin, marketplace
buildpack, builder, runtime
slug, build, release
custom_domain, own_domain, domain, hostname
ssl_certificate, certificate, https
volume, persistent_disk, disk, storage
ssh_key, key_pair, public_key
snapshot, image, backup
reserved_ip, floating_ip, static_ip
firewall, inbound, outbound, open_port, allow_port
kernel, boot, image
resize_machine, bigger_machine, more_ram, more_cpu, upgrade_server > resize, scale, plan, size
power_cycle, hard_reset, reboot
connection_pool, pool, pgbouncer
blocking, locks, waiting_queries, stuck_queries
kill_query, stop_query, terminate_query > kill, terminate, backend, cancel
read_only_user, database_user, db_user > user, database, create
failover, replica, standby, high_availability
maintenance_window, upgrade_window, maintenance
online_migration, migrate_database
trusted_sources, allowed_ips, ip_access_list, network_access, allowlist, firewall
kubeconfig, cluster_credentials, credentials
autoscaler, autoscale, scaling
rolling_restart, rollout_restart, restart_deployment, recycle_pods > rollout, restart
drain, cordon, evict
daemonset, statefulset, replicaset, deployment, workload
ingress, route, expose, gateway
configmap, config, configuration
crd, custom_resource, resource
taint, toleration, node
apply_yaml, apply_manifest, deploy_yaml > apply, create, manifest
static_site, pages, site, website
redirect_rule, redirects, rewrite, forwarding
purge_cache, clear_cache, flush_cache, invalidate_cache, stale_content > cache, purge, invalidate
edge_database, sqlite_database, d1 > database, sql
queue_consumer, consumer, worker
durable_object, stateful, object
cron_trigger, scheduled_trigger, schedule
page_rule, rule, redirect
access_log, request_log, traffic_log > logs, requests
spending, usage, invoice, billing, balance, credits
credits, balance, usage, quota, allowance
account_balance, remaining_credit, prepaid > balance, credits, account
invoices, billing_history, bills, receipts
team_seat, seat, member, license
ssh_into, connect_to_server, remote_shell > ssh, exec, connect
object_permissions, bucket_policy, public_access > policy, permission, acl, iam
lifecycle_rule, expire_objects, auto_delete > lifecycle, expiration, retention

# telephony, mail, chat
voice_call, outbound_call, dial_number, place_a_call, make_a_call > call, create
hang_up, end_the_call, drop_the_call > call, update, delete, complete
put_on_hold, mute_participant > participant, update, mute, hold
phone_numbers_for_sale, buy_a_number, get_a_number, new_number > phone_number, available, incoming, create
caller_id, outgoing_caller, verified_number
opt_outs, stop_keyword, unsubscribed > unsubscribe, suppression
short_code, sender_id, sender
delivery_receipt, message_status, delivery_status > status, message, delivery
call_recording, recordings, taped_call > recording, call
call_log, call_history, recent_calls > calls, list
contact_list, audience, segment, mailing_list
drip, sequence, automation, campaign
email_domain, sending_domain, dkim, spf, domain_verification > domain, verify
sent_mail, outbox, outgoing_mail, mails_sent > sent, emails, list
star_email, flag_email, mark_important, mark_as_read, mark_as_unread > modify, label, mark, flag
vacation_responder, out_of_office, auto_reply > vacation, auto, reply, settings
email_rule, mail_filter, mail_rule, sort_incoming > filter, rule, create
email_signature, signature
attachments_of_mail, attached_file > attachment, download
emoji_reaction, react_with, thumbs_up > reaction, add
pinned_message, pin
slow_mode, moderation, moderate, automod > moderation, timeout, ban
time_out, timeout_member, mute_member > timeout, moderate, member
voice_channel, stage, voice
server_members, guild_members, people_on_the_server > members, list
who_reacted, reactions_on > reactions, get
canned_response, saved_reply, quick_reply, macro > template, reply

# issues, boards, notes
story_points, estimate, effort, points
parent_issue, sub_issue, epic, hierarchy > parent, subtask, epic, relation
duplicate_of, related_to, link_issues, linked_issue > relation, link, duplicate
triage, inbox, intake, unsorted
swimlane, lane, column, list
wip_limit, limit
board_column, list, column, status, group
due_this_week, due_today, due_soon > due, date, filter, upcoming
recurring_task, repeating_task, every_monday > recurring, due, task, schedule
sections_of_project, headings, section
completed_tasks, finished_tasks, what_did_i_finish, done_this_week > completed, tasks, activity
productivity, stats, karma
custom_status, workflow_state, states, statuses
time_in_status, cycle_time, lead_time
release_train, release_pipeline, release
roadmap_item, initiative, project
customer_request, customer_need, request
doc_page, wiki_page, page
page_history, revisions, versions
block, paragraph, content
child_pages, subpages > children, pages, block
database_entry, database_row, database_item > page, row, record, item
linked_record, linked_field, relation > link, relation, field
form_field, question
daily_note, periodic_note, journal
backlinks, incoming_links, mentions
template_note, template
pull_out_tags, tag_list, all_tags > tags, list
vault_search, note_search > search, notes
checkbox, checklist_item, check_item, tick_box > checklist, item, check
cover_image, banner, cover
card_members, who_is_on_the_card > members, card
archive_card, close_card > archive, card, close
move_card, move_to_done, drag_to > move, card, update
wall, pinboard, board

# sales and accounts
pipeline_stage, deal_stage, stage, status
close_deal, won, lost > deal, update, stage, close
associate_contact, link_contact, attach_contact > association, create, link
call_note, log_a_call, log_a_meeting > note, create, activity, engagement
custom_object, object, schema
record_type, object
picklist, dropdown, options, select
soql_query, query_records > query, records
permission_set, profile, permission
sandbox, scratch_org, org
org, organization, environment
apex_test, test_class, unit_test
deploy_metadata, push_metadata, metadata > deploy, metadata
flow, automation
quote, estimate, offer, proposal
bill, supplier_invoice, payable
payable, bill, owe
receivable, invoice, owed
payslip, payroll, salary
pay_run, payroll, pay_period
leave_balance, vacation_days, holiday_days, days_off > leave, balance, payroll
tracking_category, cost_center, department
chart_of_accounts, ledger_accounts > accounts, list
reconcile, match_transactions > bank, transaction
manual_journal, journal_entry > journal, create
price_list, prices, price
one_off_charge, one_time_charge, extra_charge > charge, subscription, invoice_item, create
prorate, proration, preview
change_plan, upgrade_plan, downgrade_plan, switch_subscription > subscription, update
cancel_at_period_end, end_subscription > cancel, subscription
dunning, failed_payment, payment_failed, past_due > payment, failed, transaction, subscription
tax_rate, vat_rate, sales_tax
checkout_page, payment_page, hosted_checkout > checkout, payment_link
product_variant, variant, sku
stock_level, inventory_level, in_stock, out_of_stock > inventory, stock
abandoned_cart, checkout
order_status, fulfillment, shipped
gift_card, voucher

# monitoring and quality
open_problems, current_problems, active_incidents, what_is_broken, what_is_on_fire > problems, incidents, list, alerts, issues
silence_alert, mute_monitor, stop_alerting, quiet_the_alert > mute, downtime, silence, monitor
scheduled_downtime, planned_downtime > downtime, schedule
error_budget, slo, objective
service_map, dependencies, topology > services, entities
host_list, hosts, infrastructure, servers
slowest_endpoint, slow_requests, slow_endpoint > latency, traces, spans, performance
log_query, search_logs, find_in_logs > logs, search, query
metric_names, which_metrics, available_metrics > metrics, list, descriptors, metadata
label_values, tag_values > labels, values, tags
scrape_target, target, exporter > targets
range_query, over_last_hour > query, range
occurrence, event, instance
assign_error, error_owner > issue, assign, update
release_health, crash_free > release, session
replays, session_replay, user_session
flaky_tests, unstable_tests > flaky, tests
rerun_failed, rerun_build, retry_build, run_it_again > rerun, workflow, retry, pipeline
cancel_build, stop_build, abort_pipeline > cancel, pipeline, build
build_logs, ci_logs, failure_logs > logs, job, build, failure
test_on_real_devices, real_phone, device_farm, device_cloud > device, app, live, session, test
visual_test, visual_regression, screenshot_comparison, percy > visual, percy, snapshot
accessibility_scan, a11y_scan > accessibility, scan
manual_test, test_case, test_management > test_case, create
code_owner, owner
false_positive, wont_fix, ignore_finding > issue, resolve, status, mute
security_hotspot, hotspot
new_code, leak_period
coverage_report, uncovered_lines, untested_lines > coverage
pr_analysis, pull_request_issues > pull_request, analysis, issues
rule_set, quality_profile, rules
toggle_flag, flip_the_flag, flag_on, flag_off > toggle, flag, feature_flag
flag_cleanup, stale_flags, old_flags, remove_flag > flag, archive, stale, removal
rollout_percentage, gradual_rollout > rollout, targeting, flag

# browsers, phones, pictures, drawings
fake_user_agent, user_agent, emulate
incognito, isolated, new_context > context, page, session
open_tabs, tabs, pages
switch_tab, other_tab > select, tab, page
fill_login_form, log_in_on_the_page > fill, form, type
cookies_banner, popup > click, dialog
wait_for_element, until_it_shows > wait
page_as_pdf, print_page, save_as_pdf > pdf, save, print
network_tab, requests_made, api_calls_of_page > network, requests
cpu_throttling, slow_cpu > emulate, throttle, performance
boot_simulator, start_simulator, launch_emulator > boot, simulator, open
install_app, sideload > install, app
launch_app, open_app, start_app > launch, app
uninstall_app, delete_app > uninstall, app
home_button, back_button, hardware_button > press, button
screen_rotation, landscape, portrait, orientation > orientation, set
view_hierarchy, ui_hierarchy, elements_on_screen > elements, ui, describe, list
clean_build, derived_data, build_folder > clean
build_settings, schemes, targets
record_video, film_the_screen > record, video, recording
background_removal, remove_background, cut_out > transform, image
image_search_by_tag, find_assets > search, assets
folder_of_images, media_library > folder, assets, list
thumbnail, resize_image
auto_layout, layout_mode, padding
component_instance, instance, override
selected_layer, current_selection, what_is_selected > selection, get
text_layer, text_node > text, node
prototype_link, interaction, reaction
flow_arrow, connector, connection
export_frame, save_as_png > export, image, node
isometric, 3d, model
tilemap, tileset, mesh
game_scene, scene_tree > scene, node
run_the_game, play_the_game > run, project
world_map, country_map, choropleth > map
pin_map, markers, points_on_map > map, pin, static
travel_route_map, route_map > map, path, route
trip_optimization, best_order, visit_order, traveling_salesman > optimization, route
drive_time_area, reach_in, within_minutes > isochrone
great_circle, bearing, heading
street_view, panorama
category_search, gas_stations, coffee_shops > category, search, places
static_map, map_image, picture_of_map > static, map, image

# searching, scraping, models, knowledge
answer_with_sources, cited_answer, ask_the_web > ask, search, answer, research
deep_research, long_report, in_depth > research, deep, agent
structured_data_from_page, fields_from_page, json_from_page > extract, scrape
watch_page, notify_of_changes, page_changes, changes_on_page > monitor, watch, track
whole_site, entire_site, every_page > crawl, map, site
run_scraper, actor, scraper > actor, call, run
results_of_run, output_of_run, dataset_items > dataset, items, get, output
local_business, shops_near, restaurants_near > local, search, places
spellcheck, suggestion, autocomplete
related_questions, people_also_ask > search
stored_facts, what_you_know, memory_graph > graph, read, entities
link_two_people, knows, relationship > relations, create
model_details, model_info > model, show, info
loaded_models, running_models, models_in_memory > running, list, ps
pull_model, get_a_model, download_model > pull, model
push_model, share_model > push, model
embedding_of_text, vectorize, embed > embed, embedding, generate
upsert_vectors, add_records, index_records > upsert, records
namespaces, partitions
index_stats, how_full_is_the_index > stats, index, describe
explain_query, why_is_query_slow > explain, plan
sample_documents, example_documents, a_few_documents > find, sample, documents
distinct_values, unique_values > distinct, aggregate, values
field_types, inferred_schema, shape_of_documents > schema, collection
index_usage, missing_index, unused_index, speed_up_queries > index, performance_advisor, advisor, create
time_bucket, downsample, average_per_hour > aggregate, query, window
retention_policy, keep_data_for > retention, bucket, create
line_protocol, data_points, measurements > write, points
spaces, demos, apps
daily_papers, new_papers > papers, search
playlist, videos, channel
captions_of_video, video_text > transcript
sunrise, daylight
severe_weather, storm_warning > alerts, weather
next_days, week_ahead, weekend_weather > forecast
leaderboard, segment_leaderboard
training_log, workouts, activities
heart_rate_zones, zones
saved_routes, routes
personal_best, best_effort
club, clubs, group
gear, equipment, shoes, bike
`;
