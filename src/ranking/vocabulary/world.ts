/** The web, browsers, design, media, places and everyday life. */
export const WORLD = `
# web and search
web, internet, online, website
web_search, search_the_web, google_it, google~~, look_up_online, search_online, internet_search, browse~
internet, web, online
website, site, web_page, url, domain~
site, website, project~
page, web_page, url, website, document~
url, link, address, web_page, page
link, url, hyperlink, reference
links, urls
sitemap, site_map, urls, pages
site_structure, map, sitemap, all_pages, crawl
scrape, crawl, extract, fetch_page, web_data, spider
crawl, scrape, spider, index_site
web_page_content, page_content, article_text > content, extract, fetch, scrape
markdown, md, text
html, markup, page_source, web_page
news, headlines, current_events, articles, latest~
headline, title, news
current_events, news, what_happened
image_search, pictures, photos, find_images
video_search, videos, clips
local_search, nearby, businesses, places
encyclopedia, wikipedia, encyclopedic, article
wikipedia, encyclopedia, article
seo, search_engine_optimization, ranking, google_search_console~, search_performance
keyword, search_term, query, phrase
ranking, position, rank
impressions, views, visibility
click, clicks, press, tap
clicks, visits, traffic
visitors, users, traffic, sessions, audience
page_views, views, visits, pageviews
bounce_rate, engagement
conversion, goal, purchase
indexed, indexing, in_google, url_inspection, crawled
search_console, gsc, search_performance
ga4, ga, google_analytics, analytics
google_analytics, ga4, traffic, visitors
heatmap, clicks, user_behavior
competitor, competition, rival
social_media, post, tweet, share
tweet, post, x, twitter
like, reaction, favorite, heart
follower, subscriber, audience
hashtag, tag, topic
rss, feed, news
api_call, http_request, request, curl
curl, http_request, fetch, request

# browser
browser, web_page, chrome, tab, page
chrome, browser
tab, page, window, browser_tab
window, tab, viewport
viewport, window_size, screen_size, resize, dimensions
navigate, go_to, visit, open, browse, open_url, load_page
go_to, visit, navigate, open
go_back, back, previous_page
reload, refresh, navigate
click, tap, press, push_button, select~
tap, click, press, touch
double_click, double_tap, click
long_press, hold, press
press, key, keyboard, button, hit
keyboard, keys, press, type
type, enter_text, fill, write, input, keyboard, key_in
fill, enter, complete, type, input
fill_in, fill_out, complete_form, form > fill, form, type
form, fields, inputs, fill
hover, mouse_over, move_mouse, pointer, cursor
mouse, cursor, pointer
mouse_over, move_the_mouse, hover
scroll, swipe, page_down
swipe, scroll, drag, gesture
drag, drag_and_drop, move, drop
drag_and_drop, drag
dropdown, select_option, option, choose
select_option, dropdown, choose
element, button, node, control, selector
button, control, element, key~
selector, xpath, css, locator, element
dom, html, page_structure, elements, accessibility_tree
accessibility_tree, snapshot, page_structure, dom
snapshot, page_state, capture
screenshot, screen_capture, picture_of_the_page, snapshot, image, capture, what_it_looks_like
capture, record, screenshot, grab
alert_box, dialog, popup, confirm
dialog, popup, modal, alert, prompt
javascript, js, script, code, evaluate
run_javascript, execute_javascript, evaluate_script, run_js > evaluate, javascript, script
evaluate, execute, run, calculate
cookie, cookies, session
local_storage, browser_storage, cookies
network_requests, http_requests, api_calls, traffic, xhr > network, requests
network, requests, http
headers, http_headers
emulate, simulate, throttle, device~, network_conditions
throttle, slow_network, 3g, slow_down, network_conditions, emulate
dark_mode, color_scheme, theme, appearance
geolocation, location, gps, position
page_speed, performance, lighthouse, web_vitals, load_time, core_web_vitals
lighthouse, performance, accessibility, audit
web_vitals, performance, lcp, cls, trace
accessibility, a11y, screen_reader, wcag
cross_browser, browsers, compatibility
real_device, device, cloud_device
headless, browser, automation
browser_automation, playwright, puppeteer, selenium
selenium, webdriver, browser_automation, automate
upload_a_file, file_upload, file_chooser > upload, file
download_a_file > download, file
wait_for, until, appear

# design
design, mockup, layout, figma~, ui, prototype
figma, design, mockup
mockup, wireframe, design, prototype
prototype, mockup, interaction
frame, artboard, container, box
layer, node, element, object
shape, rectangle, circle, ellipse, figure
rectangle, box, square, shape
color, fill, paint, background, hue
background, fill, backdrop
border, stroke, outline, edge
stroke, border, outline
corner, radius, rounded
rounded_corners, corner_radius, border_radius
padding, spacing, margin
spacing, gap, padding, margin, distance~
layout, arrangement, auto_layout, grid
align, position, justify
opacity, transparency, alpha
shadow, effect
icon, symbol, svg, glyph
svg, vector_graphic, icon, image
instance, component, copy
override, customization
variant, version, variation
canvas, board, page
whiteboard, canvas, board, diagram
theme, style, colors, palette
palette, colors, theme
logo, brand, icon
brand, branding, logo
annotation, comment, note, markup
flow_chart, flowchart, diagram

# media
image, picture, photo, graphic, screenshot~, illustration, pic
photo, picture, image, photograph
picture, image, photo
photos, pictures, images
video, clip, movie, footage, recording~, film~
clip, video
movie, film, video, cinema
film, movie
footage, video, recording
screen_recording, screen_capture, record_screen, video~
audio, sound, voice, music~
sound, audio, noise
voice, speech, audio
music, song, track, audio
song, track, music, tune
album, record, music
artist, musician, singer, band, performer
playlist, songs, tracks
lyrics, words, song
podcast, episode, audio
youtube, video, clip
transcribe, transcript, speech_to_text
thumbnail, preview, image
crop, resize, transform
watermark, overlay
asset, file, media, image, resource
media, images, videos, assets, files
gallery, images, album
camera, photo, video
game, play, gaming
player, character, user
animation, motion, transition
3d, model, mesh, three_dimensional
book, novel, reading, literature
author, writer, creator
recipe, cooking, meal, dish, food
food, meal, dish, restaurant~, nutrition~
restaurant, food, eat, dining, dinner, lunch
eat, food, restaurant
drink, beverage, cocktail
nutrition, calories, diet, food
calories, nutrition, energy
joke, humor, funny, laugh
quote, saying, citation
dictionary, definition, meaning, word
definition, meaning, describe
meaning, definition
synonym, thesaurus, similar_word
quiz, trivia, question
education, learning, course, school, lesson
learn, study, education, course, tutorial
course, class, lesson, training

# places and travel
map, location, place, geography
place, location, poi, venue, point_of_interest
location, place, address, position, coordinates, area
address, location, street, place
coordinates, latitude, longitude, location, gps, lat_long, geocode
latitude, coordinates, longitude
gps, location, coordinates, position
geocode, address_to_coordinates, coordinates_of, address
reverse_geocode, address_of, what_is_at, coordinates
directions, route, navigation, way, how_to_get, drive
route, directions, path, way, trip
drive, driving, route, directions, car
walk, walking, route, on_foot, hike~
bike, cycling, bicycle, ride
how_far, distance, miles, kilometers, away
distance, how_far, length, proximity
travel_time, how_long_does_it_take, duration, eta, commute, matrix~
nearby, near_me, close_to, around, nearest, in_the_area, closest
nearest, closest, nearby
reachable, isochrone, within_minutes
isochrone, reachable_area, how_far_can_i_get, within_minutes
elevation, altitude, height, how_high
altitude, elevation, height
area, region, surface, polygon
polygon, area, boundary, shape
boundary, border, area
city, town, place
country, nation
neighborhood, area, district
travel, trip, journey, vacation, tourism
trip, travel, journey, vacation, itinerary
itinerary, trip, plan, travel
flight, plane, airline, fly, airfare
airport, flight, plane
train, railway, rail
hotel, accommodation, lodging, stay, room, place_to_stay
stay, accommodation, hotel, lodging, listing~, place_to_stay
accommodation, hotel, stay, rental, apartment, listing~
place_to_stay, accommodation, hotel, lodging, airbnb~
rental, rent, lease, airbnb~
airbnb, accommodation, vacation_rental
apartment, flat, accommodation, real_estate
real_estate, property, house, housing
house, home, property
parking, car_park
traffic, congestion
weather, forecast, temperature, rain, climate, sunny, umbrella, conditions
forecast, weather, prediction
temperature, weather, warm, cold, degrees, hot
rain, weather, precipitation, umbrella, wet
umbrella, rain, weather
snow, weather, precipitation
wind, weather, gust
storm, weather_alert, severe_weather, warning
air_quality, pollution, aqi, smog
tide, sea_level, waves
sunrise, sunset, daylight, sun
uv, sun

# body and home
fitness, workout, exercise, training, sport, activity
workout, exercise, activity, training, session
run, running, jog, activity
jog, run, activity
ride, cycling, bike, activity
climb, segment, ascent, hill
segment, climb, stretch
strava, run, ride, activity, workout
heart_rate, pulse, zones, bpm
pace, speed, tempo
personal_record, pr, best_time, effort
athlete, runner, cyclist, me~
race, event, competition
kudos, like, praise
shoes, gear, equipment
steps, walking, activity
sleep, rest, bedtime
health, medical, wellness, fitness~
doctor, physician, medical, appointment
medicine, drug, medication, treatment
symptom, disease, illness
smart_home, home_automation, device, light
light, lamp, switch
thermostat, temperature, heating
alarm, timer, reminder
shopping, buy, product, purchase
gift, present
clothes, fashion, outfit
pet, dog, cat, animal
event, concert, show, festival
ticket, admission, booking
sport, game, match, team
score, result, points
`;
