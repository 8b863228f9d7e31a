import { describe, expect, it } from 'vitest';
import type { ControlClient } from '../../src/control/client.ts';
import { toolTooltip } from '../../src/extension/tree/toolTooltip.ts';
import { outcomeOf, pastCalls, triedTool, verdictOf } from '../../src/extension/try/verdict.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { type Draft, readDraft } from '../../webview/try/drafts.ts';
import { argumentsField } from '../../webview/try/fields.ts';
import { realTool } from '../catalog/sampleListings.ts';
import { DEEP, HIDDEN, oddSchemas } from '../fixtures/catalog/oddSchemas.ts';
import schemaForms from '../fixtures/catalog/schemaForms.json' with { type: 'json' };
import { runtimeOf } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { atEnd, shared } from '../support/lifetime.ts';
import { testWorkspace } from '../support/workspace.ts';
import { filledForm } from '../webview/filledForm.ts';

/** Covers the way of a form's arguments: page, worker, server process and back. */

/** Definitions of real servers that have every kind of field between them. */
const PICKED = [
  'argocd/create_application attio/filter-list-entries azure-devops/wit_work_item_write browserstack/updateTestRun',
  'charts/generate_treemap_chart clarity/list-session-recordings cloudinary/upload-asset',
  'desktop-commander/set_config_value digitalocean/doks-create-nodepool excel/excel_format_range',
  'firecrawl/firecrawl_crawl gitlab/create_merge_request_thread hubspot/hubspot-search-objects',
  'launchdarkly/create-feature-flag linear/linear_createOAuthClientCredentialsToken mapbox/render_map_tool',
  'monday/get_board_items_page n8n/n8n_create_workflow paddle/create_price paddle/preview_prices',
  'postman/createCollectionComment postman/searchPostmanElements postman/updateCollectionRequest resend/manage-events',
  'salesforce/score_issues shortcut/stories-update sonarqube/hotspots stripe/update_subscription',
  'trello/update_card_details xero/create-invoice',
].flatMap((line) => line.split(' '));

/** Forms of this project, so that a clone without the definitions tests every kind too. */
const OWN: Readonly<Record<string, unknown>> = {
  ...schemaForms.usable,
  'a nullable choice': {
    type: 'object',
    properties: { a: { enum: ['x', 'y', null] }, b: { type: ['boolean', 'null'] } },
  },
  'a constant': { type: 'object', properties: { kind: { const: 'line' }, to: { type: 'number' } }, required: ['kind'] },
  'many suggestions': { type: 'object', properties: { a: { enum: Array.from({ length: 120 }, (_, i) => `v${i}`) } } },
  'a secret': { type: 'object', properties: { api_key: { type: 'string', minLength: 8 } }, required: ['api_key'] },
  'five levels': {
    type: 'object',
    properties: {
      a: {
        type: 'object',
        properties: {
          b: { type: 'array', items: { type: 'object', properties: { c: { type: 'object', properties: { d: {} } } } } },
        },
      },
    },
  },
  'a whole number or a text': { type: 'object', properties: { id: { type: ['integer', 'string'] } }, required: ['id'] },
  'a list of choices': {
    type: 'object',
    properties: { tags: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 } },
  },
  'nullable text': { type: 'object', properties: { note: { anyOf: [{ type: 'string' }, { type: 'null' }] } } },
  'prototype names': JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}}',
  ),
};

const real = PICKED.flatMap((key) => {
  const [server = '', name = ''] = key.split('/');
  const tool = realTool(server, name);
  return tool ? [{ title: key, schema: tool.inputSchema }] : [];
});
const forms = [...Object.entries(OWN).map(([title, schema]) => ({ title, schema })), ...real].map((form, index) => ({
  ...form,
  name: `form_${index}`,
}));

const odd = Object.entries(oddSchemas())
  .map(([title, inputSchema], index) => ({ title, tool: { name: `odd_${index}`, inputSchema } }))
  // The catalog has no tools whose schema is too deep, and those of hidden characters wait for a review.
  .filter(({ title }) => title !== HIDDEN && title !== DEEP);

const gateway = shared(async () => {
  const workspace = testWorkspace();
  const oddListing = workspace.write('odd.json', JSON.stringify({ tools: odd.map(({ tool }) => tool) }));
  const tools = forms.map(({ name, schema }) => ({ name, inputSchema: schema }));
  const slow = { name: 'destroy', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } };
  const listing = workspace.write('listing.json', JSON.stringify({ echoes: true, tools: [...tools, slow] }));
  workspace.configure({
    forms: {
      command: process.execPath,
      args: ['test/fixtures/changingServer.mjs', listing, `${listing}.calls`],
      cwd: process.cwd(),
    },
    odd: {
      command: process.execPath,
      args: ['test/fixtures/changingServer.mjs', oddListing, `${oddListing}.calls`],
      cwd: process.cwd(),
    },
  });
  const host = await GatewaySession.connect(workspace);
  await host.toolId('/forms/form_0');
  await host.toolId('/odd/odd_0');
  const editor = await attachControl(runtimeOf(workspace), { start: false, holds: true });
  if (!editor) throw new Error('No worker runs.');
  atEnd(() => editor.dispose());
  const { paths } = await editor.request('paths', {});
  const idOf = (name: string): string => paths.find(({ path }) => path.endsWith(`/${name}`))?.toolId ?? name;
  return { editor, idOf };
});

const call = (editor: ControlClient, toolId: string, args: unknown, more: object = {}) =>
  editor.request('callTool', { name: 'tool_execute', args: { tool_id: toolId, args, ...more }, as: 'you' });
const check = async (editor: ControlClient, toolId: string, args: unknown) =>
  verdictOf(await call(editor, toolId, args, { dry_run: true, render: 'json' }));

describe('a tool that the user tries', () => {
  it('has thirty definitions or more', () => {
    expect(forms.length).toBeGreaterThanOrEqual(30);
    expect([0, PICKED.length]).toContain(real.length);
    expect(PICKED.length).toBe(30);
  });

  it.each(forms)('runs from its form: $title', async ({ name }) => {
    const { editor, idOf } = await gateway();
    const details = await editor.request('tool', { toolId: idOf(name) });
    expect(details).not.toBeNull();
    if (details === null) return;
    const tool = triedTool('waygate', details);
    const field = argumentsField(tool.schema);
    const { value, problems } = readDraft(field, filledForm(field));
    expect(problems).toEqual([]);
    expect(await check(editor, tool.toolId, value)).toMatchObject({ kind: 'valid' });
    const answer = await call(editor, tool.toolId, value);
    expect(answer.isError, JSON.stringify(answer.content)).not.toBe(true);
    const { calls } = await editor.request('calls', { limit: 1, filter: { toolId: tool.toolId } });
    const outcome = outcomeOf(answer, 0, calls[0]);
    expect(outcome.isError).toBe(false);
    expect(pastCalls(calls)).toMatchObject([{ client: 'you', isError: false }]);
    // A long answer is a digest, and a secret in it is masked.
    const echoed = outcome.answer.join('\n');
    if (outcome.figures.handles.length === 0 && !echoed.includes('REDACTED'))
      expect(echoed.replaceAll(/\s/g, '')).toContain(JSON.stringify(value).slice(0, 200).replaceAll(/\s/g, ''));
  });

  it.each(odd)('is described, shown and judged, whatever its schema is: $title', async ({ tool: { name } }) => {
    const { editor, idOf } = await gateway();
    const details = await editor.request('tool', { toolId: idOf(name) });
    expect(details).not.toBeNull();
    if (details === null) return;
    expect(toolTooltip(details).length).toBeGreaterThan(2);
    const field = argumentsField(triedTool('waygate', details).schema);
    const { value, problems } = readDraft(field, filledForm(field));
    expect(problems).toEqual([]);
    for (const args of [{}, value, { a: null, other: [[]] }]) {
      const verdict = await check(editor, details.toolId, args);
      // A schema that is none is said to be broken, with its place.
      if (verdict.kind === 'refused')
        expect(verdict.reason).toMatch(/^The server odd declares a broken schema for odd_\d+, .*: at \/\S+: must be /);
      const { isError, content } = await call(editor, details.toolId, args);
      expect(isError === true, JSON.stringify([content, verdict])).toBe(verdict.kind !== 'valid');
    }
  });

  it('has each problem at its field, and leaves checks out of the list of calls', async () => {
    const { editor, idOf } = await gateway();
    const form = forms.find(({ title }) => title === 'a list of choices');
    const toolId = idOf(form?.name ?? '');
    await editor.request('clearCalls', {});
    const entry: Draft = {
      kind: 'list',
      items: [
        { kind: 'picked', value: 'a' },
        { kind: 'picked', value: 'z' },
      ],
    };
    const { value } = readDraft(argumentsField(form?.schema), {
      kind: 'object',
      entries: [['tags', entry]],
      others: '',
    });
    const verdict = await check(editor, toolId, value);
    expect(verdict).toMatchObject({ kind: 'invalid', problems: [{ path: ['tags', '1'] }], more: 0 });
    const missing = forms.find(({ title }) => title === 'a secret');
    expect(await check(editor, idOf(missing?.name ?? ''), {})).toMatchObject({
      kind: 'invalid',
      problems: [{ path: ['api_key'] }],
    });
    expect((await editor.request('calls', { limit: 10 })).calls).toEqual([]);
    expect((await editor.request('status', {})).recentCalls).toEqual([]);
  });

  it('says that it would ask first, and that a tool is unknown', async () => {
    const { editor, idOf } = await gateway();
    const verdict = await check(editor, idOf('destroy'), {});
    expect(verdict).toMatchObject({ kind: 'valid' });
    expect(verdict.kind === 'valid' && verdict.notes).toContain('asks you first');
    expect(await check(editor, 'forms:nothing#00000000', {})).toMatchObject({ kind: 'refused' });
  });
});
