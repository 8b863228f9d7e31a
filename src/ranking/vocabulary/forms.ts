/** Forms that a stemmer cannot bring together, and short forms of common words. */
export const FORMS = `
sent, send
paid, pay
bought, buy
sold, sell
spent, spend
ran, run
built, build
written, wrote, write
broken, broke, break, fail~
lost, lose
found, find
made, make
hidden, hide
shown, show
drawn, drew, draw
taken, took, take
given, gave, give
chosen, chose, choose
stolen, steal
forgotten, forgot, forget
told, tell
held, hold
kept, keep
left, leave
met, meet
begun, began, begin
bound, bind
stuck, stick, hang~, blocked~
slept, sleep
flew, flown, fly, flight
drove, drive
ridden, rode, ride
swum, swam, swim
won, win
worn, wear
children, child
people, person
men, man
women, woman
indices, index, indexes
vertices, vertex
matrices, matrix
analyses, analysis
criteria, criterion
media, medium
metadata, meta_data
filename, file_name
username, user_name, login~
login, log_in
logout, log_out
signup, sign_up
setup, set_up
backup, back_up
checkout, check_out
lookup, look_up
rollback, roll_back
website, web_site, site
webpage, web_page, page
homepage, home_page, landing_page
timezone, time_zone
timestamp, time_stamp
timesheet, time_sheet
payroll, pay_roll
subtask, sub_task, child_task
subfolder, sub_folder
codebase, code_base
hostname, host_name
email, e_mail, mail
inbox, in_box, mailbox
online, on_line
offline, off_line
popup, pop_up, dialog, modal
dropdown, drop_down, select~, combobox
checkbox, check_box
screenshot, screen_shot, screen_capture, snapshot~, screen_grab
webhook, web_hook, callback~, event_notification
workflow, work_flow, automation~
dataset, data_set
database, db, data_base
datatype, data_type
filesystem, file_system
directory, folder, dir
admin, administrator
app, application
apps, applications
auth, authentication, authorization
config, configuration, conf
doc, document, documentation~
docs, documentation
repo, repository
repos, repositories
org, organization, organisation
info, information
params, parameters, args, arguments
param, parameter
env, environment
env_var, env_vars, environment_variable, environment_variables, config_var, config_vars, settings~
var, variable
lib, library
dep, dependency
deps, dependencies
pkg, package
img, image
pic, picture, photo, image
vid, video
msg, message
msgs, messages
num, number
id, identifier
ids, identifiers
acct, account
addr, address
attr, attribute
col, column
cols, columns
ctx, context
desc, description
dest, destination
dev, development, developer
prod, production
staging, stage, preproduction
diff, difference, changes~
exec, execute
func, function
lang, language
max, maximum
min, minimum
mgmt, management
perf, performance
perms, permissions
pref, preference
prev, previous
proc, process
qty, quantity
ref, reference
req, request
res, response
spec, specification
specs, specification
stats, statistics
sync, synchronize
temp, temporary
tmp, temporary
txn, transaction
vuln, vulnerability
vulns, vulnerabilities
calc, calculate
cal, calendar
appt, appointment
async, asynchronous
convo, conversation
creds, credentials
demo, demonstration
est, estimate
freq, frequency
img, picture
intl, international
mins, minutes
secs, seconds
hrs, hours
wk, week
mth, month
yr, year
asap, urgent
eta, arrival, time~
faq, questions
dm, direct_message
dms, direct_messages
ok, okay
colour, color
organise, organize
organisation, organization
catalogue, catalog
centre, center
licence, license
favourite, favorite
behaviour, behavior
cancelled, canceled
labelled, labeled
grey, gray
cheque, check
analyse, analyze
programme, program
`;
