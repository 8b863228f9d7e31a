/** Source code, its hosting, review, building, testing and debugging. */
export const DEVELOPMENT = `
# hosting and review
pull_request, pr, merge_request, mr, change_request~, code_review~
prs, mrs > pull_request, merge_request
mr, merge_request
pr, pull_request
repository, repo, project~, codebase
branch, branches, fork~~
commit, changeset, revision, check_in, sha~
push, upload_commits
clone, checkout~, copy
checkout, switch_branch, switch
stash, shelve, set_aside, put_aside > stash
rebase, replay
cherry_pick, apply_commit, port_commit, backport
squash, merge, combine
blame, annotate, who_wrote, who_last_changed > blame
tag, release, version
release, version, tag, launch~, changelog
changelog, release_notes, release_note, what_is_new, history~
merge_conflict, conflict, diverged
default_branch, main_branch, master, main
upstream, remote, origin
working_tree, working_copy, uncommitted, unstaged, modified_files, dirty > status, diff, changes
stage, index, add
gitignore, ignored_files
submodule, nested_repository
worktree, working_directory
ticket, issue, bug, defect, task~, problem~
bug, issue, defect, error~, ticket
bug_report, issue, file_a_bug, report_a_bug, raise_a_ticket > create_issue, issue, bug, create
feature_request, enhancement, issue, idea~
review, code_review, feedback, comments~, approve~
reviewer, approver, assignee~
comment, note, remark, reply, feedback, annotation, discussion~, message~~
thread, discussion, conversation, comments
label, tag, category, badge~
milestone, release~, deadline~, version~
snippet, gist, code_sample, paste~
collaborator, member, contributor, maintainer, teammate
contributor, author, committer
star, bookmark, favorite
source, code, source_code, file~
file_contents, source_of_a_file, file_content > file, contents, get, read
license, open_source, copyright
code_owner, codeowners, maintainer
wiki, knowledge_base, documentation, pages~
template, blueprint, boilerplate, preset~
security_alert, vulnerability, dependabot, advisory, cve
vulnerability, security_issue, cve, weakness, security_hole, exploit, insecure, security~
secret_scanning, leaked_credentials, leaked_secret, hardcoded~ > secret, scan, security
static_analysis, code_quality, lint, code_scan, analyzer, sast
lint, linter, style_violation, code_style, static_analysis, eslint~
code_smell, quality, maintainability, issue~
technical_debt, tech_debt, quality
quality_gate, gate, threshold, pass_or_fail
coverage, test_coverage, untested, covered_lines
duplicate_code, duplication, duplicated, clone~, copy_paste
complexity, cyclomatic
hotspot, security_hotspot, risk
dead_code, unused
sbom, bill_of_materials, dependency_list

# building and delivery
pipeline, workflow, ci, build, job, ci_cd, action~
ci, continuous_integration, pipeline, build, workflow
build, pipeline_run, workflow_run, job_run
job, task, run, step~, batch~
runner, agent, executor, build_machine
artifact, build_output, binary, build_result, download~
failing_build, broken_build, red_build, build_failed, build_failure > build, failure, logs, failed, pipeline
flaky, unstable, intermittent, sometimes_fails, nondeterministic
test, tests, spec~, unit_test, e2e~
test_case, test_scenario, scenario
test_run, test_execution, test_session, test_cycle
test_plan, test_suite, test_set
test_results, test_report, failing_tests, failed_tests
unit_test, tests
e2e, end_to_end, integration_test
regression, broke
assertion, expectation, check
fixture, test_data, mock_data, sample_data, dummy_data, seed
mock, stub, fake, simulate
deployment, release, rollout, deploy
rollout, gradual, canary, percentage~, release
blue_green, canary
environment, stage, deployment_target
production, live, prod
staging, test_environment, preview~, pre_production
preview, preview_deployment, deploy_preview
approval, sign_off, gate
version, release, revision, tag~
dependency, package, library, module, third_party
outdated, out_of_date, old_version, upgrade~
package, library, module, dependency, npm~, bundle~
package_json, manifest
plugin, extension, add_on, addon, integration~, module
component, widget, element~, ui~
ui_component, component, shadcn~
component_library, registry, design_system
documentation, docs, api_reference, reference, manual, guide, help, readme, handbook
library_docs, framework_docs, up_to_date_docs, api_docs > documentation, docs, library
example, sample, code_example, demo, snippet
best_practice, guideline, recommendation, convention
tutorial, guide, how_to, walkthrough, lesson
readme, documentation
function, method, procedure, lambda~
class, type
variable, constant
schema, structure, definition, model~, fields, types~
type, kind, category
interface, contract
api, endpoint, rest, service~
endpoint, route, url, path~
route, path, endpoint
request, call, http~
graphql, gql, query
mutation, write
sdk, client_library, library
rest, http, api
openapi, swagger, api_definition, api_spec
api_spec, api_specification, api_definition, openapi, swagger
collection, folder, set~
mock_server, fake_api, stub_server
framework, library
compile, build, transpile
transpile, compile
bundle, package, pack
minify, compress
typecheck, type_check, type_errors, compile_errors, diagnostics
diagnostics, errors, problems, warnings
error, exception, failure, crash, fault, issue~, problem~, bug~
exception, error, crash, stack_trace
crash, error, exception, failure, panic
stack_trace, stacktrace, traceback, backtrace, error_details
warning, caution, alert
breakpoint, debug, pause
debugger, debug, inspect
profiler, profile, performance, flame_graph
memory_leak, leak, heap, memory
heap, memory, snapshot
console, terminal, log~, output~
console_messages, console_output, browser_console, console_logs, js_errors
terminal, shell, command_line, console, bash, cmd, prompt~
command, shell, terminal, cli, script~, execute
script, program, code
process, program, running_program, pid, task~
running_processes, what_is_running > process, list
session, connection~, context~
interactive, repl
regex, regular_expression, pattern
grep, search_in_files, search_code, text_search, find_in_files, ripgrep > search, code, content, grep
codemod, refactor, rewrite, restructure
refactor, restructure, rewrite, clean_up
rename_symbol, refactor
snapshot, backup, capture~, copy~
feature_flag, toggle, feature_toggle, flag, switch, experiment~, gate~
experiment, ab_test, a_b_test, split_test, variation~
variation, variant, version
targeting, rule, segment, audience
segment, audience, cohort, group
simulator, emulator, virtual_device, device
emulator, simulator, virtual_device
device, phone, handset, mobile, tablet, smartphone
xcode, ios, swift~, simulator~, apple~
ios, iphone, ipad, apple, xcode~
iphone, ios, simulator~, mobile
android, mobile, phone, adb~, apk~
apk, ipa, app_bundle, app
scheme, target
game_engine, godot, unity, unreal
scene, level, map~
sprite, texture, image
node, element, object
storybook, component
notebook, jupyter, colab
migration, schema_change, upgrade~
seed, initial_data
orm, database
code_review, review, pull_request
todo, task, to_do, item~
kanban, board
scrum, agile, sprint
`;
