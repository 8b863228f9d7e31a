/** Other trades and their tools: offices, sites, shops, homes, studios, laboratories. */
export const TRADES = `
# office suites
worksheet_range, used_range, cells > range, cells, worksheet
chat_message, teams_message > message, chat, send
online_meeting, meeting_link, video_call > meeting, online, event, create
shared_mailbox, delegate, on_behalf > mailbox, shared
mail_folder, folder_of_mail > folder, mail
plan_bucket, planner, bucket_of_tasks > planner, bucket, task
notebook_section, onenote > notebook, section, page
site_list, sharepoint_list > list, site, items
drive_item, cloud_file > drive, item, file
contact_photo, profile_picture, avatar > photo, profile
room_booking, meeting_room, free_room > room, places, availability
distribution_list, mail_group > group, list
sign_a_document, for_signature, signing_request > signature, envelope, sign
fill_in_template, merge_fields, mail_merge > template, merge, document
page_numbers, margins, paper_size > page, setup
track_changes, suggestions, redline > suggestion, revision
conditional_formatting, color_scale > format, conditional
freeze_panes, sticky_header, keep_header_visible > freeze, rows
merge_cells, span_cells > merge, cells
data_validation, allowed_in_cell, dropdown_in_cell > validation, data
named_range, range_name > named, range
sort_rows, sort_sheet > sort, range
speaker_notes, notes_of_slide > notes, slide
slide_background, slide_theme > slide, background, theme

# sites and content
blog_entry, write_a_post, new_article > post, create, article, page
go_live_with_site, publish_site > publish, site
collection_item, cms_item, content_entry > item, collection, entry
content_type, content_model > model, type, collection
draft_post, unpublished > draft, post
media_file, featured_image > media, upload, asset
taxonomy, categories, tags > category, tag, taxonomy
menu_item, navigation > menu, navigation
site_theme, look_of_site > theme, template
plugin, extension, app
comment_moderation, spam_comments > comment, moderate, approve
meta_description, page_title_for_google > seo, meta, description
broken_links, dead_links > link, check, audit
cookie_consent, privacy_banner > consent, cookie

# shops
product_page, item_for_sale, listing > product, listing, create
restock, stock_up, adjust_stock > inventory, adjust, quantity, update
back_order, sold_out > inventory, stock
order_number, purchase_number > order, get
ship_the_order, send_out_order, mark_as_shipped > fulfillment, order, create
return_goods, send_back, rma > return, refund, order
best_sellers, top_products, most_sold > products, report, sales, analytics
customer_tags, loyal_customers > customer, tag, segment
collection_of_products, product_category > collection, product, category
shipping_zone, delivery_area > shipping, zone, rate
tracking_link, where_is_my_order > tracking, shipment, order
point_of_sale, till, cash_register > order, payment, location

# people at work
days_off, time_off_request, request_vacation > leave, time_off, create
who_is_away, who_is_off > leave, time_off, calendar, list
onboard_employee, new_starter > employee, create, onboarding
org_structure, who_manages > organization, manager, employee
applicants, job_candidates > candidate, application, list
job_ad, open_position, vacancies > job, posting, list
performance_review, appraisal > review, performance
expense_report, reimbursement > expense, report, create

# homes and devices
turn_on_the_light, lights_on > light, turn_on, switch
make_it_warmer, warmer, colder, room_temperature > thermostat, temperature, climate, set
lock_the_door, front_door > lock, door
vacuum, robot > vacuum, start
is_the_window_open, motion, door_sensor > sensor, state
scene, mood, routine > scene, automation
what_devices, smart_devices > devices, entities, list
camera_picture, door_camera > camera, snapshot
garage, gate, blinds, shutters > cover, open, close
3d_printer, print_a_part, print_job > printer, print

# studios
play_the_song, put_on_music, next_song, skip_song > play, track, playback, next
what_is_playing, current_song > current, track, playback
add_to_playlist, queue_song > playlist, add, queue, track
volume_up, volume_down, louder, quieter > volume, set
similar_songs, music_like > recommendation, tracks, similar
render_scene, render_image > render, scene
add_cube, add_sphere, primitive > object, create, mesh
material, texture, shader
camera_angle, viewpoint > camera
keyframe, animate > animation, keyframe
export_model, obj, stl, gltf > export, model
cut_video, trim_clip, shorten_video > trim, video, cut
join_clips, stitch_videos > concatenate, merge, video
extract_sound, audio_track > audio, extract
change_format, mp4, convert_video > convert, video, format
background_music, soundtrack > music, audio
clone_a_voice, custom_voice > voice, clone
sound_effect, noise > sound, effect, generate
upscale, higher_resolution > upscale, image
edit_picture, photoshop, retouch > image, edit, transform

# laboratories and libraries
cite, bibliography, references, bibtex > citation, reference, export
who_cited, cited_by, citing_papers > citations, paper
papers_by, publications_of > author, papers, search
full_text, pdf_of_paper > paper, download, read, pdf
related_work, similar_papers > related, papers, recommendation
clinical_study, medical_trial > trial, study, search
drug_interaction, side_effects > drug, interaction
gene_variant, mutation > variant, gene
protein_structure, molecule > structure, protein
star_chart, planets, night_sky > astronomy
species, animal, plant > species, search
statute, law_text, court_ruling > law, case, search
company_filing, annual_report, 10_k > filing, report, company
balance_of_wallet, how_many_coins > wallet, balance
gas_price, transaction_fee > gas, fee
smart_contract, contract_call > contract, read, call
token_price, price_of_coin > price, token, coin
nft, collectible > nft, token
swap_tokens, exchange_coins > swap, quote
block_number, latest_block > block

# selling and telling
ad_spend, campaign_cost > campaign, cost, spend, insights
ad_performance, how_did_the_ads_do > campaign, ads, insights, report
keyword_ideas, search_volume > keyword, volume, ideas
who_links_to_us, backlinks, inbound_links > backlinks
rank_for, position_for_keyword > ranking, keyword, position
post_on_social, tweet_this, share_on > post, create, tweet, publish
followers, who_follows > followers, list
reach, engagement, likes_of_post > insights, analytics, engagement
direct_mail, private_message > message, direct, send
trending, viral, hot_topics > trending, topics, popular
subreddit, thread_on_reddit > subreddit, posts, comments
support_case, customer_complaint, help_request > ticket, conversation, create, case
reply_to_customer, answer_the_customer > reply, conversation, ticket, message
escalate, hand_to_team > assign, escalate, ticket
satisfaction, nps, csat > survey, rating, satisfaction
canned_answers, help_articles, help_center > article, search, knowledge_base

# identity and safety
reset_password, forgot_password > password, reset, user
block_user, disable_account, lock_account > user, block, disable, suspend, deactivate
who_logged_in, sign_in_history, failed_logins > logs, sign_in, audit, events
two_step, second_factor > mfa, factor, authenticator
api_client, oauth_app > client, application
user_roles, which_roles > role, list, assign
invite_to_tenant, add_to_organization > invite, organization, member
rotate_key, new_api_key, regenerate_key > rotate, key, create, api_key
store_a_secret, save_password > secret, put, create, item
expiring_certificates, certificate_expiry > certificate, list, expiration
suspicious, malicious, phishing > threat, scan, detection
scan_file, is_it_a_virus > scan, malware, file
open_ports, port_scan > port, scan
`;
