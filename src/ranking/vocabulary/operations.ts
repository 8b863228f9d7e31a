/** Machines, clouds, networks, storage, observability and who may do what. */
export const OPERATIONS = `
# machines and containers
server, machine, instance, host, vm, node~, box
vm, virtual_machine, instance, droplet, compute, server, ec2~
droplet, vm, server, instance
instance, machine, server, vm, replica~
host, machine, server
compute, vm, instance, cpu~
dyno, process, worker, container~
container, docker, pod~, workload~
image, container_image, docker_image
container_registry, image_registry, docker_registry, container_images, acr, ecr, gcr, repository~
registry, repository, catalog~
volume, disk, mount, storage, persistent_storage
disk, drive, volume, storage, ssd~
disk_space, free_space, storage_left, disk_usage, how_full
block_storage, volume, disk
pod, container, workload
pods, workloads, containers
kubernetes, k8s, kubectl, cluster~, k3s~
k8s, kubernetes, kubectl
helm, chart, release~
namespace, project~, scope~
manifest, yaml, resource_definition
replica, instance, copy, pod~
scale, autoscale, autoscaling, replicas, number_of_instances, horizontal, resize, size, capacity
cluster, node_pool, nodes
node_pool, nodes, workers
worker, node, agent, job~
port_forward, tunnel, forward_port, proxy~, expose~
tunnel, port_forward, proxy, vpn~
port, socket
expose, publish, public, open
exec, shell, run_command_in, ssh, execute
ssh, shell, remote_access, terminal~, keys~
compose, stack, multi_container
orchestrate, coordinate, workflow
argo, argocd, gitops, application~
out_of_sync, drift, diff, sync
infrastructure, infra, resources, terraform~, cloud
infrastructure_as_code, iac, terraform
terraform, tf, hcl, iac, infrastructure
provider, vendor, supplier~
module, package
state, status, condition
status, state, health, progress, condition, phase, alive~, running~
health, status, healthy, alive, up, working~, health_check, ok~~
health_check, healthcheck, probe, liveness, heartbeat, uptime
is_it_up, down, outage, unavailable, reachable > status, health, uptime, incident, availability
uptime, availability, monitor, status~
outage, incident, downtime, disruption, problem~
incident, outage, problem, alert~, on_call
on_call, oncall, pager, incident, escalation, rotation
postmortem, incident_report, retrospective, root_cause
maintenance, maintenance_window, scheduled_downtime, upgrade~
quota, limit, allowance, headroom, usage~, remaining, cap
limit, quota, cap, maximum, threshold, restriction
rate_limit, throttle, quota, too_many_requests
usage, consumption, utilization, used, spend~, metering
resource_usage, cpu, memory, load, utilization
cpu, processor, load, compute
memory, ram
load, traffic, cpu, utilization
capacity, size, limit, headroom
cost, price, spend, billing, expense, charge, budget~, pricing
billing, invoice, cost, payment, plan~, subscription~, bill
price, pricing, cost, rate, fee, how_much
budget, spending_limit, cost
plan, tier, subscription, pricing, sku
tier, plan, size, sku
region, location, zone, datacenter, area~
availability_zone, zone, region
datacenter, data_center, region
resource, asset, object~
resource_group, group
subscription, account, plan~
tenant, organization, directory, account
serverless, function, lambda, edge_function
function, lambda, edge_function, serverless, cloud_function
edge_function, function, worker, serverless
worker, edge_function, script, serverless
app_platform, app, application, service
service, app, application, microservice, deployment~
microservice, service
web_app, app, site, service
cron, cron_job, schedule, scheduled_job, periodic, recurring, every_day, nightly~, timer
recurring, repeat, repeating, periodic, every, schedule~
job, task, run, workload, batch~
queue, message_queue, broker, topic, backlog~
message_broker, queue, topic, kafka, rabbitmq
topic, subject, channel, category~
consumer, subscriber, listener
publish, produce, emit, send
event, message, notification, occurrence
pub_sub, pubsub, topic, subscription

# network
domain, dns, hostname, site~, domain_name
dns, domain, record, name_server, zone, nameserver
dns_record, a_record, cname, mx, txt_record, record, domain
nameserver, dns, domain
subdomain, domain, hostname
whois, registrar, domain
ssl, tls, certificate, https, cert
certificate, cert, ssl, tls, https
firewall, security_group, access_rule, network_rule, waf, allowed_traffic, block~
waf, firewall, rule
security_group, firewall, rule
ip, ip_address, address~, addresses~
ip_address, ip
floating_ip, reserved_ip, static_ip, elastic_ip
allowlist, whitelist, access_list, allowed_ips, trusted
blocklist, blacklist, denylist, blocked
load_balancer, lb, balancer, traffic_distribution, balance~
vpc, virtual_network, private_network, network, subnet~
network, vpc, connection, traffic~
subnet, network, cidr
cdn, edge, cache, content_delivery
proxy, gateway, forward, tunnel~
gateway, proxy, router
redirect, forward, rewrite
latency, response_time, slow, delay, speed, performance, duration
slow, latency, performance, slow_query, bottleneck, duration, throttle~
fast, speed, performance
speed, performance, velocity, pace
throughput, bandwidth, requests_per_second, traffic
bandwidth, traffic, transfer, throttle~
traffic, requests, visits, visitors, analytics
connectivity, network, ping, reachable
ping, reachability, alive
offline, no_connection, disconnected

# storage
bucket, object_storage, blob_storage, container, s3, gcs, r2, spaces
blob, object, file, binary
object, file, blob
object_storage, bucket, s3, blob
s3, bucket, object_storage
storage, bucket, disk, volume, blob, files, space
upload_file, put_object, store_file
presigned_url, signed_url, temporary_link, shareable_link, download_link, expiring_link
signed_url, presigned_url, temporary_link
backup, snapshot, restore_point, dump, copy~, save~, safe_copy
restore, recover, rollback, import_backup
point_in_time, recovery, restore
retention, lifecycle, expiration, ttl, keep_for, how_long_kept
expiration, expiry, ttl, expire, expires, lifetime, valid_until
ttl, expiration, expire
cache, redis~, invalidate, purge, cached
key_value, kv, redis, store
key, entry, name~
keys, entries
value, entry, content
file, document, attachment, blob~
folder, directory, path, subfolder
directory, folder, path, dir
path, location, directory, file
directory_tree, folder_structure, tree, hierarchy, project_structure
tree, hierarchy, structure
symlink, link, shortcut
permission, access, role, rights, privilege, acl, who_can, sharing, allowed~, authorization
file_size, size, how_big, large_files
how_big, how_large > size, info, stats
checksum, hash, md5, sha256, digest
archive, zip, tar, compress
trash, recycle_bin, bin, deleted_items
drive, storage, files, cloud_storage

# observability
log, logs, event~, trace~, output, record~
logs, log_entries, output, messages~, events~, stderr, stdout
stderr, stdout, output, logs, console
log_entries, logs, log_messages
tail, follow, stream, logs
metric, measurement, statistic, gauge, timeseries, time_series, kpi, counter~
metrics, measurements, statistics, timeseries, stats, kpis, monitoring~
timeseries, time_series, metrics, measurements, data_points
stats, statistics, metrics, numbers, analytics, usage~
kpi, metric, indicator
dashboard, report, overview, board~, panel, charts~
panel, widget, chart
monitor, alert, watch, check, detector
alert, alarm, notification, warning, monitor, alerting_policy, alert_rule, incident~, pager~
alert_rule, alerting_policy, alarm, monitor, detector, alert
alerting, alerts, alarms, notifications
threshold, limit, condition
trace, span, distributed_tracing, request_path, transaction~
span, trace, segment
observability, monitoring, telemetry, metrics, logs, traces
telemetry, metrics, tracing, observability
apm, performance_monitoring, tracing
slo, service_level, error_budget, sla, objective
sla, service_level, slo
promql, prometheus, metrics, query
dql, dynatrace, query
error_rate, failures, errors, crash_rate
error_tracking, exceptions, crashes, sentry, rollbar
issue, problem, error
real_user_monitoring, rum, user_sessions
session_replay, recording, session, replay
audit_log, audit_trail, activity_log, who_did_what, change_history, audit
activity, history, events, log, audit~, feed, timeline
synthetic, monitor, check
notification_channel, alert_destination, contact_point
anomaly, outlier, unusual, spike, abnormal
spike, surge, anomaly, peak

# access and secrets
user, account, person, member, profile, customer~, people~
account, user, profile, organization~, tenant~
profile, user, account, bio, me~
role, permission, privilege, access_level, rights
access, permission, role, login~, authorization
access_token, token, api_key, credential, pat, secret
token, api_key, credential, secret, key, access_token
api_key, token, secret, credential, access_key, key
secret, credential, password, token, key, sensitive, vault
password, credential, secret, passphrase, passcode, pin~
credential, secret, token, key, login
service_account, bot, machine_user, robot
iam, permission, role, policy, access_control
rbac, role, permission
policy, rule, guideline, permission~
acl, permission, access
two_factor, 2fa, mfa, otp, verification_code, authenticator
otp, verification_code, one_time_code, passcode, 2fa
verification, verify, confirm, identity~
sso, single_sign_on, saml, oauth, login
oauth, authorize, login, authentication
identity, user, whoami, profile
group, team, department, squad
team, group, squad, members, people~, department~
member, user, teammate, participant, person
members, users, people, participants, team
organization, company, workspace, account, tenant, team~
workspace, organization, team, project~, site~
ssh_key, public_key, deploy_key
encryption, encrypt, kms, key
compliance, policy, audit, gdpr, regulation
gdpr, privacy, personal_data, compliance
privacy, personal_data, consent
threat, attack, malware, intrusion, security
malware, virus, threat
penetration_test, pentest, security_test
vault, secrets, secret_manager

# names of clouds and tools
aws, amazon, amazon_web_services
gcp, google_cloud, gcloud
google_cloud, gcp, gcloud
azure, microsoft_cloud, entra~
digitalocean, digital_ocean, droplet~
hetzner, digitalocean, hostinger, linode > server, vm, vps
vps, virtual_server, vm, server
gh, github
gl > gitlab
bb, bitbucket
ado, azure_devops, vsts, tfs
gha, github_actions > github, workflow, actions
eks, gke, aks, kubernetes
lambda, function, aws
es, elastic, elasticsearch
kibana, elasticsearch
opensearch, elasticsearch
grafana, dashboard, prometheus~
splunk, logs
newrelic, new_relic, apm
pagerduty, opsgenie > incident, on_call, alert
cf, cloudflare
d1, cloudflare_database > cloudflare, database, sql
r2, bucket, object_storage
tf, terraform
psql, postgres, postgresql, pg
postgres, postgresql, pg, sql~, relational_database~
mysql, mariadb, sql~, relational_database~
sqlite, sql, local_database
mssql, sql_server, sql
mongo, mongodb, document_database, nosql, atlas~
redis, valkey, cache, key_value, in_memory
dynamo, dynamodb, nosql
influx, influxdb, time_series, timeseries
`;
