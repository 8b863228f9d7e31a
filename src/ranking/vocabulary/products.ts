/** Products by what they are for: a query names the one, a tool speaks of the other. */
export const PRODUCTS = `
# source, delivery, quality
bitbucket, gitea, codeberg, sourcehut, gerrit, azure_repos > git, repository, pull_request, branch
jenkins, teamcity, buildkite, travis, bamboo, drone, concourse > build, pipeline, job, ci
circleci, github_actions, gitlab_ci > pipeline, workflow, build, ci
snyk, dependabot, trivy, semgrep, checkmarx, veracode > vulnerability, scan, security
sonar, sonarcloud, sonarqube, codacy, codeclimate > code_quality, issue, quality_gate
eslint, prettier, biome, ruff, pylint, rubocop > lint, format
jest, vitest, mocha, pytest, junit, cypress > test, spec
npm, pnpm, yarn, pip, pypi, cargo, maven, gradle, nuget, composer > package, dependency, install
dockerfile, docker_compose, podman, containerd > container, image, docker
ansible, puppet, chef, saltstack, pulumi, cloudformation, bicep > infrastructure, deploy, configuration
flux, spinnaker, argo > deploy, rollout, gitops
nx, turborepo, bazel, lerna > build, workspace, project
swagger, postman, insomnia, bruno, hoppscotch > api, request, collection
vscode, intellij, jetbrains, vim, neovim > editor, ide
react, vue, svelte, angular, solid, astro > component, framework, frontend
next, nuxt, remix, gatsby > framework, app
tailwind, bootstrap, material_ui, chakra, shadcn, radix > component, css, style
django, flask, rails, laravel, spring, express, fastapi, hono > framework, backend, web
typescript, javascript, python, java, golang, rust, kotlin, ruby, php > code, language, script

# running things
netlify, vercel, render, railway, heroku, fly, coolify > deploy, app, service, hosting
cloud_run, app_engine, fargate, ecs, lightsail, beanstalk > service, container, deploy
ec2, compute_engine, gce > vm, instance
rds, aurora, cloud_sql, neon, planetscale, supabase, cockroachdb > database, postgres, sql
route53, namecheap, godaddy, porkbun > domain, dns
cloudfront, fastly, akamai > cdn, cache
nginx, caddy, traefik, haproxy, envoy > proxy, load_balancer
kafka, rabbitmq, nats, pulsar, sqs, sns, eventbridge, kinesis > queue, topic, message, event
airflow, dagster, prefect, temporal > workflow, schedule, task, dag
proxmox, vmware, esxi, hyper_v, virtualbox > vm, virtual_machine
portainer, rancher, openshift > container, kubernetes
grafana, datadog, new_relic, dynatrace, honeycomb, splunk, kibana, loki, cloudwatch > logs, metrics, dashboard, monitoring
sentry, rollbar, bugsnag, crashlytics, airbrake > error, crash, issue, exception
pagerduty, opsgenie, victorops, statuspage > incident, on_call, alert, status
uptime_robot, pingdom, checkly, better_stack > uptime, monitor
launchdarkly, optimizely, split, unleash, flagsmith > feature_flag, experiment
hashicorp_vault, doppler, infisical, onepassword, bitwarden, lastpass > secret, password, vault
okta, auth0, keycloak, clerk, cognito, entra_id, active_directory > user, login, identity, sso, authentication
cloudflare, waf > dns, cdn, worker, firewall

# data
snowflake, bigquery, redshift, databricks, clickhouse, duckdb > data_warehouse, sql, query, table
dbt, fivetran, airbyte, stitch > model, pipeline, sync, transform
neo4j, cypher, arangodb > graph, node, relationship, query
cassandra, dynamodb, couchdb, firestore, firebase > nosql, document, collection, database
pinecone, weaviate, qdrant, chroma, milvus, lancedb, pgvector > vector, embedding, index, similarity
elasticsearch, opensearch, solr, algolia, meilisearch, typesense > search, index
tableau, looker, power_bi, metabase, superset > dashboard, report, chart, question
posthog, mixpanel, amplitude, segment, heap, plausible, matomo, umami > analytics, event, funnel
google_analytics, ga4 > traffic, visitor, report
clarity, hotjar, fullstory > session, heatmap, recording
openai, gpt, chatgpt, anthropic, claude, gemini, mistral, llama > model, completion, chat, llm
replicate, stability, midjourney, dalle, flux, fal > image, generate, model
elevenlabs, whisper, deepgram, assemblyai > voice, speech, transcribe, audio
langsmith, langfuse, weights_and_biases, wandb, mlflow > trace, run, experiment, evaluation
kaggle, hugging_face > dataset, model
jupyter, colab, databricks > notebook, cell

# work
jira, linear, shortcut, youtrack, redmine, azure_boards, plane, height > issue, ticket, sprint, project
asana, trello, clickup, monday, wrike, basecamp, smartsheet > task, project, board
todoist, ticktick, things, omnifocus, google_tasks, microsoft_todo, any_do > task, todo, reminder
notion, confluence, coda, slite, gitbook, outline, nuclino > page, document, wiki, note
obsidian, roam, logseq, evernote, bear, apple_notes, onenote, joplin > note, vault, notebook
google_docs, google_doc > document, docs
google_slides > presentation, slide
slack, discord, teams, mattermost, rocket_chat, zulip, google_chat > message, channel, chat
telegram, whatsapp, signal, messenger, imessage, viber, wechat, line > message, chat
zoom, google_meet, webex, whereby > meeting, call, recording
fireflies, otter, gong, fathom > transcript, meeting, call
outlook, exchange, fastmail, protonmail, imap, smtp > email, mail, mailbox
google_calendar, ical, caldav, fantastical, calendly, cal_com > event, calendar, availability
dropbox, box, onedrive, google_drive, sharepoint, nextcloud, icloud > file, folder, share
miro, figjam, mural, lucidchart, whimsical, excalidraw, draw_io, tldraw > board, diagram, shape, canvas
figma, sketch, framer, penpot, canva, adobe_xd > design, frame, component
typeform, google_forms, jotform, tally, surveymonkey > form, survey, response
zapier, make, n8n, ifttt, pipedream, power_automate > workflow, automation, scenario, trigger
toggl, harvest, clockify, timely > time_entry, timer, timesheet
docusign, dropbox_sign, pandadoc > document, signature, envelope
bamboohr, workday, personio, gusto, rippling, deel > employee, payroll, leave
greenhouse, lever, ashby, workable > candidate, job, interview
zendesk, intercom, freshdesk, help_scout, front, gorgias, servicenow > ticket, conversation, customer, support
hubspot, salesforce, pipedrive, attio, zoho, close, dynamics > crm, contact, deal, company
apollo, clearbit, zoominfo, hunter > contact, company, enrich, lead
mailchimp, klaviyo, brevo, convertkit, customer_io, activecampaign > campaign, email, audience, list
sendgrid, mailgun, postmark, resend, ses > email, send, template
twilio, vonage, messagebird, plivo > sms, call, phone_number
google_ads, facebook_ads, meta_ads, linkedin_ads > campaign, ad, budget, keyword
semrush, ahrefs, moz, dataforseo > keyword, backlink, ranking, seo
wordpress, ghost, contentful, sanity, strapi, webflow, drupal, squarespace, wix > post, page, content, site, cms
twitter, mastodon, bluesky, threads, linkedin, facebook, instagram, tiktok, reddit, hacker_news > post, comment, follower, feed

# money
stripe, paypal, square, adyen, braintree, mollie, razorpay, klarna > payment, charge, refund, customer
paddle, chargebee, recurly, lemon_squeezy, gumroad > subscription, product, price, payment
quickbooks, xero, freshbooks, sage, wave, zoho_books > invoice, account, expense, accounting
plaid, teller, truelayer, mercury, brex, ramp, wise, revolut > bank, account, transaction, balance
shopify, woocommerce, magento, bigcommerce, etsy, amazon, ebay > product, order, customer, inventory, store
shippo, easypost, shipstation, ups, fedex, dhl, usps > shipment, label, rate, tracking
coinbase, binance, kraken, coingecko, coinmarketcap > crypto, price, coin, trade
ethereum, solana, polygon, etherscan, alchemy, infura > blockchain, transaction, wallet, contract, token
yahoo_finance, alpha_vantage, polygon_io, finnhub, bloomberg, nasdaq > stock, price, quote, market
sec, edgar > filing, company, report

# the world
google_maps, mapbox, openstreetmap, osm, here_maps, waze > map, place, route, geocode, directions
openweather, accuweather, noaa, weatherapi > weather, forecast
uber, lyft, taxi, cab > ride, trip, car
booking, expedia, kayak, skyscanner, amadeus > hotel, flight, travel
airbnb, vrbo > stay, listing, rental
yelp, tripadvisor, foursquare, opentable > restaurant, review, place, booking
doordash, grubhub, instacart > order, food, grocery
spotify, apple_music, tidal, deezer, soundcloud, last_fm > song, track, playlist, artist, album, music
youtube, vimeo, twitch > video, channel, transcript, stream
netflix, hulu, imdb, tmdb, rotten_tomatoes > movie, film, show
steam, xbox, playstation, nintendo > game
unity, unreal, godot, roblox > scene, game, script, node
blender, maya, fusion_360, freecad, onshape > model, 3d, object, render
home_assistant, hue, smartthings, homekit, zigbee, nest > device, light, smart_home, switch, sensor
strava, garmin, fitbit, whoop, oura, apple_health > activity, workout, health, sleep
wikipedia, britannica, wikidata > article, summary, encyclopedia
arxiv, pubmed, semantic_scholar, google_scholar, crossref, zotero > paper, article, research, citation
duckduckgo, bing, google, kagi, brave, searxng, tavily, exa, perplexity, serper > web_search, search, results
firecrawl, apify, scrapy, browserless, jina, crawl4ai > scrape, crawl, extract, page
playwright, puppeteer, selenium, browserbase, stagehand > browser, page, click, screenshot
duolingo, anki, quizlet > card, deck, learn
deepl, google_translate > translate, language
`;
