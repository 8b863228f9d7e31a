/** Databases, search, tables, numbers and models. */
export const DATA = `
# databases
database, db, data_store, schema~, postgres~~, mysql~~, mongodb~~
databases, dbs
table, relation, sheet~, base~~
row, record, entry, line, tuple
rows, records, entries, data
record, row, entry, item, object~, document~
column, field, attribute, property, variable~
field, column, attribute, property, custom_field, key~
custom_field, custom_property, property, attribute, field
attribute, property, field, column
property, attribute, field, setting~
schema, structure, layout, columns, definition, table_definition, fields, model~
columns, fields, schema
sql, query, select, statement
query, sql, select, search~, statement, execute~
select, query, read, choose
statement, query, command
run_sql, sql_query, execute_sql, query_database, select_statement > query, sql, execute
insert_into, update_statement, delete_from > execute, sql, insert, write
explain_plan, query_plan, execution_plan, explain, slow_query
slow_query, query_performance, explain, bottleneck
index, search_index, indexes~
indexes, indices
collection, table, documents
document, record, item, file~, page~
aggregate, aggregation, group_by, pipeline, sum_up
aggregation, group_by, totals, pipeline
join, combine, relation
relation, relationship, association, link, edge
foreign_key, relation, reference
primary_key, id
view, saved_query, saved_filter
transaction, commit
replica, read_replica, follower, standby
follower, replica, subscriber~
connection_string, connection_url, dsn, database_url, uri, credentials~
connection_pool, pooler, pgbouncer, pool
locks, blocking_queries, deadlock > locks, blocking, pg
vacuum, bloat, cleanup
dump, export, backup
migrate, migration, move
branch, copy_of_database
trigger, automation
stored_procedure, function, procedure
null, missing, empty, blank
duplicate_records, duplicates, dedupe, deduplicate, merge~
dedupe, deduplicate, duplicates, merge

# search and vectors
full_text_search, search, text_search
vector, embedding, similarity
vectors, embeddings
embedding, vector, semantic
similarity, nearest, semantic_search, similar, alike
semantic_search, vector_search, similarity_search, nearest_neighbors, similar
nearest_neighbor, similarity, closest
rag, retrieval, knowledge_base, semantic_search
rerank, reorder, relevance
knowledge_base, documents, docs, articles, kb
knowledge_graph, memory, entities, relations, graph
graph, network, nodes, relations, chart~
entity, object, thing, node, person~
observation, fact, note, piece_of_information
fact, observation, knowledge
memory, remember, knowledge, recall
relations, connections, relationships, links

# tables and numbers
spreadsheet, sheet, excel, workbook, worksheet, xlsx, google_sheets, table~
excel, spreadsheet, workbook, xlsx, xls
workbook, spreadsheet, excel, file
worksheet, sheet, tab
sheet, worksheet, spreadsheet, tab
google_sheets, gsheet, gsheets, spreadsheet, sheets
cell, cells, range, field~
range, cells, interval
formula, calculation, expression
pivot_table, pivot, summary
csv, tabular, comma_separated, spreadsheet~
chart, graph, plot, visualization, diagram
graph, chart, plot, diagram
plot, chart, graph
diagram, chart, drawing, figure, visualization, flowchart~
visualization, chart, graph, plot
bar_chart, column_chart, histogram~, bars, bar_graph
pie_chart, pie, donut, doughnut, share_of, proportion, percentages
line_chart, line_graph, trend, over_time, curve
area_chart, stacked
scatter, scatter_plot, correlation, relationship_between
histogram, distribution, frequency
boxplot, box_plot, quartiles, distribution, spread
violin, distribution
heatmap, heat_map, density
radar, radar_chart, spider, spider_chart, spider_plot, multidimensional
funnel, conversion, drop_off, stages
sankey, flow, flows
treemap, tree_map, hierarchy
word_cloud, wordcloud, tag_cloud, frequent_words, word_frequency
venn, overlap, intersection
mind_map, mindmap, brainstorm, ideas
fishbone, cause_and_effect, ishikawa, root_cause
flowchart, flow_chart, process_diagram, flow_diagram, process~
org_chart, organization_chart, organizational, hierarchy, reporting_structure
network_graph, relationships
gantt, timeline, schedule, roadmap
timeline, roadmap, chronology, history, gantt
sequence_diagram, uml, interaction
uml, class_diagram, diagram
liquid_chart, percentage, progress
candlestick, stock_chart
dual_axes, combo_chart, two_axes
trend, over_time, trends, history, change_over_time
percent, percentage, share, ratio, rate
ratio, rate, share, percentage
rate, ratio, percentage, speed~
average, mean, avg
sum, total, add_up
total, sum, overall, count
distribution, spread, histogram, breakdown
breakdown, split, by_category, distribution, segment~
correlation, relationship
statistic, stat, number, metric, figure
statistics, stats, numbers, metrics, figures, analytics
analytics, statistics, insights, metrics, reports, traffic~, performance~
insight, analysis, finding, takeaway
report, summary, analysis, statistics, overview
etl, pipeline, ingest, data_load
data_pipeline, etl, workflow
data_warehouse, bigquery, snowflake, redshift
bigquery, data_warehouse, sql
dataset, data, table, collection
json, structured, object
xml, markup
yaml, manifest, config
parse, read, interpret, extract
base64, encode, decode
unit, units, measurement
sample, example, preview, few_rows
random, arbitrary, pick_any
unique, distinct, different

# models
model, llm, ai_model, weights~
llm, language_model, model, ai, chat_model
ai, artificial_intelligence, llm, model, ml
machine_learning, ml, model, training
ml, machine_learning, model
training, train, fine_tune, learn
fine_tune, finetune, train, customize
inference, predict, run_model, generate
prompt, instruction, system_message, question~
completion, generate, chat, response
chat, conversation, message, completion~
token_count, tokens, usage
hugging_face, huggingface, hf, model_hub, models, datasets
model_hub, huggingface, models
ollama, local_llm, local_model, local_models
gguf, quantized, local_model
paper, papers, research, publication, arxiv, study, article, scholarly, academic
research, study, papers, investigate, deep_research, literature
agent, assistant, bot, ai
assistant, agent, bot, helper
tool, function, action, capability
evaluation, eval, benchmark, score, assess
text_to_speech, tts, speech_synthesis, voice, speak, read_aloud
speech_to_text, transcribe, transcription, dictation, stt
image_generation, text_to_image, generate_image, draw, picture, illustration
classify, categorize, label, tag
sentiment, opinion, emotion, mood, feeling
ocr, text_recognition, read_text_from_image, extract_text
`;
