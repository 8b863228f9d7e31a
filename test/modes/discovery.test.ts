import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GATEWAY_TOOLS } from '../../src/modes/shared/gatewayTools.ts';
import { analyzeWord, eachRawWord, isStopWord } from '../../src/ranking/words/text.ts';

/**
 * Copilot hides MCP tools behind an embedding search over names and descriptions and shows the first five. A model must
 * find `tool_browse` there for any intent (M5.1). The test ranks tools like such a search, with the word table, next to
 * tools of a real window.
 */
const OTHERS: readonly (readonly [string, string])[] = [
  ['configure_python_environment', 'Set up a Python environment in the workspace before running Python.'],
  ['install_python_packages', 'Install Python packages into the selected environment with pip or conda.'],
  ['get_python_executable_details', 'Get the path and version of the selected Python interpreter.'],
  ['run_notebook_cell', 'Run a code cell of a Jupyter notebook in the editor and show its output.'],
  ['edit_notebook_file', 'Edit the cells of an existing notebook file in the workspace.'],
  ['get_notebook_summary', 'Get the list of cells of a notebook with their ids, types and line ranges.'],
  ['create_and_run_task', 'Create and run a build or watch task of the workspace in a terminal.'],
  ['get_terminal_output', 'Get the output of a terminal command that was started before.'],
  ['test_failure', 'Include the information on the last failed unit test in the prompt.'],
  ['get_vscode_api', 'Get documentation of the VS Code API for developing extensions.'],
  ['install_extension', 'Install an extension in VS Code as part of a new workspace creation.'],
  ['create_new_workspace', 'Get the steps to create a complete project structure in a new workspace.'],
  ['mermaid_diagram_validator', 'Validate the syntax of a Mermaid diagram before it is shown.'],
  ['mermaid_diagram_preview', 'Preview a Mermaid diagram in an editor.'],
  ['open_simple_browser', 'Preview a website or open a URL in the editor.'],
  ['container_tools_config', 'Get the command line to run containers with Docker or Podman.'],
  ['java_upgrade_plan', 'Generate an upgrade plan for a Java project to a newer JDK.'],
  [
    'azure_get_auth_state',
    'Get whether the user is signed in to an account of the cloud and which subscription is in use.',
  ],
];

const INTENTS = [
  'create a github issue',
  'list my open pull requests',
  'search code in a repository',
  'comment on an issue',
  'read a file from another folder',
  'list the files of a directory',
  'query a postgres database',
  'describe the tables of a database',
  'run a sql statement',
  'send an email',
  'search my mail',
  'post a message to a slack channel',
  'find a free slot in my calendar',
  'schedule a meeting',
  'search the web',
  'fetch a web page',
  'take a screenshot of a page',
  'click a button in the browser',
  'deploy to the cloud',
  'list virtual machines',
  'read the logs of a service',
  'show the alerts of the monitoring',
  'create a ticket in jira',
  'update a linear issue',
  'read a notion page',
  'search confluence documents',
  'save something to memory',
  'recall what I told you before',
  'get the git history of a file',
  'commit and push changes',
  'look up documentation of a library',
  'call an external api',
  'use an mcp server',
  'what other tools are there',
  'find a tool for a job',
  'upload a file to a bucket',
  'read a google spreadsheet',
  'get a figma design',
  'query sentry errors',
  'translate a chat message',
];

const FOUND_WITHIN = 5;
const WORDS = 18_950;
const DIMENSIONS = 48;

/** Reads the table of word vectors beside this file; its notice describes the form. */
function readWordTable() {
  const bytes = readFileSync(new URL('./words-48.bin', import.meta.url));
  const cellsAt = bytes.length - WORDS * DIMENSIONS;
  const scalesAt = cellsAt - WORDS * 2;
  const words = bytes.toString('utf8', 0, scalesAt).split('\n');
  const cells = new Int8Array(bytes.buffer, bytes.byteOffset + cellsAt, WORDS * DIMENSIONS);
  const view = new DataView(bytes.buffer, bytes.byteOffset + scalesAt, WORDS * 2);
  const scales = words.map((_, row) => halfToNumber(view.getUint16(row * 2, true)));
  return { rows: new Map(words.map((word, row) => [word, row])), cells, scales };
}

function halfToNumber(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  return exponent === 0 ? fraction * 2 ** -24 : (fraction + 1024) * 2 ** (exponent - 25);
}

const table = readWordTable();

/** Returns the normalised sum of a text's word vectors, whose lengths are the weights in the table. */
function directionOf(text: string): Float64Array {
  const sum = new Float64Array(DIMENSIONS);
  eachRawWord(text, (raw) => {
    const { lower, stem } = analyzeWord(raw);
    const row = table.rows.get(stem);
    if (row === undefined || isStopWord(lower)) return;
    const scale = table.scales[row] as number;
    for (let i = 0; i < DIMENSIONS; i++) {
      sum[i] = (sum[i] as number) + (table.cells[row * DIMENSIONS + i] as number) * scale;
    }
  });
  const size = Math.hypot(...sum);
  return size === 0 ? sum : sum.map((value) => value / size);
}

const TOOLS: readonly (readonly [name: string, text: string])[] = [
  ...GATEWAY_TOOLS.map(({ name, description }) => [name, `${name} ${description}`] as const),
  ...OTHERS.map(([name, description]) => [name, `${name} ${description}`] as const),
];

/** Sum of all tool vectors. Their mean distinguishes no tool, so it is subtracted. */
const common = TOOLS.map(([, text]) => directionOf(text)).reduce((sum, direction) =>
  sum.map((value, i) => value + (direction[i] as number)),
);

function vectorOf(text: string): Float64Array {
  return directionOf(text).map((value, i) => value - (common[i] as number) / TOOLS.length);
}

function cosine(a: Float64Array, b: Float64Array): number {
  const dot = (x: Float64Array, y: Float64Array) => x.reduce((total, value, i) => total + value * (y[i] as number), 0);
  const size = Math.sqrt(dot(a, a) * dot(b, b));
  return size === 0 ? 0 : dot(a, b) / size;
}

function firstFive(intent: string): string[] {
  const wanted = vectorOf(intent);
  return TOOLS.map(([name, text]) => ({ name, score: cosine(wanted, vectorOf(text)) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, FOUND_WITHIN)
    .map(({ name }) => name);
}

describe("Copilot's search over MCP tools", () => {
  it('finds one of the three tools for an intent, which refers to the others', () => {
    expect(INTENTS).toHaveLength(40);
    const names = GATEWAY_TOOLS.map(({ name }) => name);
    const missed = INTENTS.filter((intent) => !firstFive(intent).some((name) => names.includes(name)));
    // A bag of words is less accurate than Copilot's embedding, so one intent of forty may be missed.
    expect(missed.length).toBeLessThanOrEqual(1);
  });

  it('finds tool_browse itself for nine intents in ten', () => {
    const missed = INTENTS.filter((intent) => !firstFive(intent).includes('tool_browse'));
    expect(missed.length).toBeLessThanOrEqual(4);
  });

  it('leads from the other two to tool_browse or to the handle of a schema', () => {
    const [, execute, view] = GATEWAY_TOOLS;
    expect(execute?.description).toContain('tool_browse');
    expect(view?.description).toContain('schema:<tool_id>');
  });
});
