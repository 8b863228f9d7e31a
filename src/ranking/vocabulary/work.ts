/** Planning, documents, calendars, messages, customers and people. */
export const WORK = `
# planning
task, todo, to_do, item, ticket, issue, story, action_item, card, chore~, reminder~, job~~
todo, to_do, task, item, checklist~
tasks, todos, to_dos, to_do_list, items, action_items, things_to_do
issue, ticket, task, story, bug, item~, work_item, card~
work_item, issue, ticket, task, story, backlog_item
story, user_story, ticket, issue, work_item
card, ticket, task, item
ticket, issue, card, request, case, task
case, ticket, issue, support_request
epic, initiative, feature, theme, large_story
initiative, program, epic, project
subtask, child_task, sub_issue, child, step~, break_down
break_down, split, expand, decompose, subtask, breakdown
checklist, subtasks, steps, check_items, list~
backlog, unscheduled, queue, ideas
sprint, iteration, cycle, timebox
iteration, sprint, cycle
cycle, sprint, iteration
milestone, goal, deadline, target, phase
goal, objective, target, okr, aim, key_result
okr, goal, objective, key_result
roadmap, plan, timeline
deadline, due_date, due, overdue, late, target_date
due_date, deadline, due, when_due
overdue, late, past_due, behind_schedule, delayed
postpone, push_back, reschedule, delay, defer, move~, snooze, later
reschedule, move, change_the_date, postpone, new_time, update~
priority, importance, urgency, severity, urgent, important
urgent, high_priority, critical, important
severity, priority, level, criticality
status, state, progress, stage, column~, phase
status_update, progress_report, update, standup, weekly_update
standup, daily, status_update
progress, status, completion, how_far, percent_done
blocked, blocker, dependency, stuck, waiting_on, depends_on
depends_on, dependency, prerequisite, blocked_by
assignee, owner, responsible, assigned_to, in_charge
owner, assignee, responsible, author~, lead~
lead, owner, manager
stakeholder, follower, watcher
watcher, follower, subscriber
time_tracking, track_time, log_time, worklog, time_entry, hours, timesheet, timer
worklog, time_spent, hours, time_entry, log_time
hours, time, timesheet
timesheet, hours, time_entry, payroll~
estimate, story_points, points, effort, size
velocity, burndown, progress, throughput
board, kanban, project, list~
column, list, status, stage
swimlane, group, row
group, section, category, list
section, group, heading, category
project, board, workspace, initiative, repository~
portfolio, projects, program
template, blueprint, preset, layout~
automation, rule, workflow, trigger, zap, scenario, recipe
workflow, automation, process, flow, pipeline
flow, workflow, process
rule, automation, policy, filter~
filter, saved_view, view, custom_view, query
custom_view, saved_view, filter, view, saved_search
label, tag, category
category, type, tag, group, class
comment, remark, note, reply, feedback, update~, annotation
mention, tag_someone, notify
attachment, file, document, upload, image~
intake_form, form, survey, questionnaire
form, survey, questionnaire, poll~, intake
survey, form, questionnaire, poll, feedback
poll, vote, survey
question, field~, prompt~, query~
response, answer, submission, reply
submission, response, entry, form_response

# documents and notes
doc, document, page, file, note~, write_up
page, document, doc, note~, article~, site~
note, page, memo, document~, jotting, entry~
notes, pages, documents, vault~
vault, notes, obsidian
notebook, notes
article, post, page, blog_post, story~
wiki, knowledge_base, pages, confluence
blog, post, article, publish
paragraph, block, text, section
block, paragraph, section, content, element~
heading, title, header, section
title, name, heading, subject~
name, title, label~
text, content, body, string, words
content, text, body, material
bullet, list, item
bold, italic, format, style, underline, font
style, format, appearance, look, design, theme
font, typeface, typography, style, text~
footnote, reference, citation
table_of_contents, outline, headings
outline, structure, headings, table_of_contents
slide, presentation, deck
slides, presentation, deck, powerpoint
presentation, slides, deck, slideshow, powerpoint, pptx
powerpoint, presentation, slides
speaker_notes, presenter_notes, notes
pdf, document, file
word, document, docx
google_doc, gdoc, document, docs
google_drive, gdrive, drive, files
gdrive, google_drive, drive
share, sharing, permission, access, collaborate
shared_drive, team_drive
daily_note, journal, diary, today
backlink, reference, link
frontmatter, metadata, properties, tags~
tag, label, category, keyword~
emoji, reaction, icon
reaction, emoji, like, thumbs_up, react
react, reaction, emoji

# calendar
calendar, schedule, events, agenda, appointments, diary
event, appointment, meeting, booking, calendar_entry
meeting, event, appointment, call, calendar_event, invite~, sync~~
appointment, event, meeting, booking
agenda, schedule, calendar, events, my_day
free, available, availability, free_busy, busy, open_slot, slot, free_time, free_slot
busy, availability, free_busy, occupied
availability, free_busy, free_time, open_slots, stock~
rsvp, respond, accept, decline, attend, invitation
invitation, invite, event
attendee, participant, guest, invitee
participant, attendee, member, guest
time, clock, hour, date~, now
now, current, current_time, at_the_moment
today, current, this_day, date~, daily~
tomorrow, date, next_day
yesterday, date, last
date, day, time, when
day, date
weekday, day_of_week, date
week, week_number, period, days
month, period, days
year, period, annual
convert_time, timezone, time_difference > convert, time, timezone
what_time_is_it, current_time, time_now > current, time
timezone, local_time, time_zone, utc
relative_time, ago, from_now
weekend, days
holiday, vacation, time_off, leave, pto, absence
vacation, time_off, leave, holiday, trip~

# messages
message, chat, text, post, dm, sms~, email~, note~
text, sms, message
sms, text_message, text, message
whatsapp, message, chat
email, mail, message, inbox, e_mail, newsletter~
mail, email, message
inbox, mailbox, emails, unread, messages
unread, new_messages, not_read, inbox
draft, unsent, unsent_email, prepare
spam, junk
newsletter, broadcast, campaign, mailing, email_campaign
broadcast, mass_email, newsletter, announcement, campaign, everyone~
campaign, broadcast, marketing, newsletter, ad~
mailing_list, audience, list, subscribers, contacts
subscriber, contact, follower, member, recipient
recipient, to, addressee, contact
sender, from, author
bounce, undelivered, delivery_failure, bounced
delivered, delivery, status, arrived
open_rate, click_rate, engagement, statistics
unsubscribe, opt_out, suppression
suppression, blocklist, unsubscribe
template, layout, email_template
subject, title, topic
signature, sign
attachment, file
thread, conversation, replies, discussion
conversation, thread, chat, discussion
channel, room, group_chat, conversation, chat~
channels, rooms, conversations
server, guild, community
guild, server
role, permission, rank
direct_message, dm, private_message, message
group_chat, channel, room, group
bot, app, assistant
slack, chat, channel, workspace~
discord, chat, channel, guild, server~
teams, microsoft_teams, chat, channel
telegram, chat, message
line, messaging, official_account
rich_menu, menu
flex, rich_message, card, layout~
call, phone, dial, ring, voice, telephone
phone_call, call, dial, voice
phone, telephone, call, number
phone_number, number, telephone, dial
caller, call, phone
voicemail, recording, message
conference, conference_call, meeting, call, group_call
recording, record, audio, call_recording
transcript, transcription, captions, subtitles, what_was_said, spoken
subtitles, captions, transcript
push_notification, notification, push, alert

# customers, people
customer, client, buyer, account~, user~, contact~, shopper
client, customer, app~
contact, person, lead, customer~, people, address_book
contacts, people, address_book, leads
person, contact, people, individual, human, someone
people, persons, users, contacts, members
company, organization, account, business, firm, employer
lead, prospect, contact, opportunity~
prospect, lead, opportunity
deal, opportunity, sale, pipeline~
opportunity, deal, sale
pipeline, stages, funnel, sales~
sales, revenue, deals, crm
crm, customers, contacts, deals, hubspot~, salesforce~, attio~
engagement, activity, interaction, note~, call~
owner, rep, account_manager, assignee
support, help, ticket, customer_service, helpdesk
helpdesk, ticket, support
feedback, review, comment, rating, opinion
review, rating, feedback
rating, score, review, stars
employee, staff, worker, team_member, personnel, colleague
colleague, teammate, coworker, collaborator, user, member
teammate, colleague, member, collaborator, user
staff, employees, team
manager, boss, lead, supervisor
hire, recruit, candidate, applicant
candidate, applicant, option
job_opening, vacancy, position, role
salary, payroll, wage, pay, compensation
payroll, salary, wage, pay_run
onboarding, new_hire, setup
user_group, group, team, segment

# names
jira, issue, ticket, atlassian~
confluence, wiki, atlassian
linear, issue, ticket~
asana, task, project
trello, board, card
todoist, task, todo
clickup, task
shortcut, story, iteration~
monday, board, item
notion, page, wiki, workspace~
airtable, base, spreadsheet~, table~
gmail, email, google_mail, inbox
gcal, google_calendar, calendar
outlook, email, calendar, microsoft
office_365, microsoft_365, m365, o365, outlook
sharepoint, files, site, documents
onedrive, files, drive
dropbox, files, drive
hubspot, crm, contact~
sfdc, salesforce
salesforce, crm, sobject~, soql~
soql, salesforce, query
apex, salesforce, code
attio, crm
zendesk, intercom, freshdesk > ticket, support
stripe, payment
paypal, payment
paddle, payment, billing
xero, quickbooks, accounting
twilio, sms, call, phone
sendgrid, resend, mailgun, postmark, email
mailchimp, campaign, newsletter
zoom, meeting, call
zapier, make, n8n, automation, workflow
typeform, form, survey
calendly, booking, appointment
`;
