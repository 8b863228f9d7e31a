import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { type ParseError, parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { MENUS, WALKTHROUGH_STEPS, WELCOMES } from '../../scripts/contributes/contributed.ts';
import { extensionManifest, manifestDifferences } from '../../scripts/contributes/manifest.ts';
import { withKeys } from '../../scripts/contributes/texts.ts';
import { editorSchema, schemaText } from '../../scripts/lib/generatedDocs.mjs';
import { documentSchema } from '../../src/config/declaration/document.ts';
import { CONFIGURATION_TEMPLATE } from '../../src/extension/configuration/configurationFile.ts';
import { COMMANDS, EXTENSION_ID } from '../../src/extension/contributions.ts';
import { ACTION_COMMANDS } from '../../src/extension/dashboard/actionCommands.ts';
import { serverRow } from '../../src/extension/tree/serverRow.ts';
import { server } from './fixtures.ts';

type JsonObject = Record<string, unknown>;

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const packageJson = JSON.parse(read('package.json')) as Record<string, unknown>;

describe('package.json', () => {
  it('holds exactly the contributions of the sources (npm run contributes writes it)', () => {
    expect(manifestDifferences(packageJson)).toEqual([]);
    const { manifest, texts } = withKeys(extensionManifest());
    expect(packageJson).toMatchObject(manifest);
    expect(JSON.parse(read('package.nls.json'))).toEqual(texts);
  });

  it('differs when a command is missing or a field is changed', () => {
    const contributes = structuredClone(packageJson.contributes) as { commands: unknown[] };
    contributes.commands.pop();
    expect(manifestDifferences({ ...packageJson, contributes, extensionKind: ['ui'] })).toEqual([
      'extensionKind',
      'contributes',
    ]);
  });

  it('runs beside the code, only in trusted workspaces, and never before it is needed', () => {
    expect(packageJson.engines).toMatchObject({ vscode: '^1.105.0' });
    // The types of the oldest version, so that nothing newer compiles.
    expect(packageJson.devDependencies).toMatchObject({ '@types/vscode': '1.105.0' });
    expect(packageJson.enabledApiProposals).toBeUndefined();
    expect(packageJson.extensionKind).toEqual(['workspace']);
    expect(packageJson.activationEvents).toEqual([
      'workspaceContains:.vscode/waygate.json',
      'onWebviewPanel:waygate.dashboard',
      'onWebviewPanel:waygate.try',
      'onFileSystem:waygate',
    ]);
    expect(packageJson.capabilities).toMatchObject({
      untrustedWorkspaces: {
        supported: 'limited',
        restrictedConfigurations: ['waygate.gateway.nodePath', 'waygate.records.providerUrl'],
      },
      virtualWorkspaces: { supported: 'limited' },
    });
  });

  it('lets no workspace set the program that runs the gateway', () => {
    expect(packageJson.contributes).toMatchObject({
      configuration: { properties: { 'waygate.gateway.nodePath': { scope: 'machine', default: '' } } },
    });
  });

  it('names only files that exist', () => {
    const files = JSON.stringify(packageJson).match(/media\/[\w./]+/g) ?? [];
    expect(new Set(files)).toEqual(
      new Set([
        'media/icon.png',
        'media/waygate.svg',
        'media/waygate.editor.schema.json',
        ...WALKTHROUGH_STEPS.map(({ media }) => `media/walkthrough/${media}`),
      ]),
    );
    for (const file of files) expect(read(file).length, file).toBeGreaterThan(0);
  });
});

describe('the texts of the manifest', () => {
  it('are all keys of package.nls.json, so that they can be translated', () => {
    const { manifest, texts } = withKeys(extensionManifest());
    const used = [...JSON.stringify(manifest).matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key);
    expect(used.sort()).toEqual(Object.keys(texts).sort());
    // Words with a space are texts; what is left are clauses, patterns and commands.
    const left =
      JSON.stringify(manifest.contributes).match(/"(?:title|name|contents|description)":"[^%"][^"]*"/g) ?? [];
    expect(new Set(left)).toEqual(new Set(['"title":"Waygate"']));
  });

  it('have keys that stay when a text is added before them', () => {
    const named = (...ids: string[]): object => ({
      commands: ids.map((command) => ({ command, title: `Do ${command}` })),
    });
    const { texts } = withKeys({ contributes: named('b') });
    expect(withKeys({ contributes: named('a', 'b') }).texts).toMatchObject(texts);
    expect(texts).toEqual({ 'commands.b.title': 'Do b' });
  });
});

describe('the first steps', () => {
  it('are the walkthrough of this extension, each with an event that completes it', () => {
    expect(`${packageJson.publisher}.${packageJson.name}`).toBe(EXTENSION_ID);
    const { walkthroughs } = packageJson.contributes as { walkthroughs: { steps: { completionEvents: string[] }[] }[] };
    expect(walkthroughs[0]?.steps.map(({ completionEvents }) => completionEvents)).toEqual([
      ['onContext:waygate.step.import'],
      ['onContext:waygate.step.approve'],
      ['onContext:waygate.step.ask'],
      ['onContext:waygate.step.read'],
    ]);
  });
});

describe('contributions', () => {
  it('refer only to commands that exist', () => {
    const texts = [
      ...WELCOMES.map(({ contents }) => contents),
      ...WALKTHROUGH_STEPS.map(({ description }) => description),
    ];
    const linked = texts.flatMap((text) => [...text.matchAll(/command:(waygate\.\w+)/g)]);
    const named = [
      ...linked.map((match) => match[1]),
      ...Object.values(MENUS)
        .flat()
        .map(({ command }) => command),
    ];
    expect(named.length).toBeGreaterThan(5);
    for (const command of named) expect(Object.keys(COMMANDS)).toContain(command);
  });

  it('keep commands that need a row or a document out of the command palette', () => {
    const { menus } = extensionManifest().contributes as {
      menus: Record<string, { command: string; when?: string }[]>;
    };
    const hidden = Object.entries(COMMANDS).flatMap(([command, { inPalette }]) => (inPalette ? [] : [command]));
    expect(menus.commandPalette).toEqual(hidden.map((command) => ({ command, when: 'false' })));
    expect(hidden).toEqual(expect.arrayContaining(['waygate.setSecret', 'waygate.copyToolId', 'waygate.approveShown']));
  });
});

describe('schema of waygate.json in the editor', () => {
  const schema = JSON.parse(read('media/waygate.editor.schema.json')) as JsonObject;

  it('is made of the published one (npm run docs writes it)', () => {
    expect(read('media/waygate.editor.schema.json')).toBe(schemaText(editorSchema(documentSchema())));
  });

  it('accepts anything, because Waygate itself reports every mistake', () => {
    const ajv = new Ajv({ strict: false });
    const accepts = ajv.compile(schema);
    const parts = [null, true, -1, 'x', [], [null], {}, { x: null }];
    const wrong = [
      ...parts,
      ...Object.keys(schema.properties as object).flatMap((key) => parts.map((part) => ({ [key]: part }))),
      ...['command', 'url', 'args', 'tools', 'type'].flatMap((key) =>
        parts.map((part) => ({ servers: { a: { [key]: part, other: 1 } } })),
      ),
    ];
    for (const one of wrong) expect(accepts(one), JSON.stringify(one)).toBe(true);
  });

  it('still has every key, its explanation and its values', () => {
    const published = JSON.parse(read('media/waygate.schema.json')) as JsonObject;
    const missing = (text: string): boolean => !JSON.stringify(schema).includes(text);
    const explained = [...JSON.stringify(published).matchAll(/"markdownDescription":"(?:[^"\\]|\\.)*"/g)];
    expect(explained.length).toBeGreaterThan(50);
    expect(explained.map(([text]) => text).filter(missing)).toEqual([]);
    const values = [...JSON.stringify(published).matchAll(/"enum":\[[^\]]*\]/g)].map(([text]) => text);
    // Part of a condition.
    expect(values.filter((text) => text !== '"enum":["http","sse"]').filter(missing)).toEqual([]);
  });
});

describe('menu of a server', () => {
  const offers = (command: string, over: Parameters<typeof server>[1]) => {
    const { contextValue } = serverRow({ kind: 'server', server: server('one', over) });
    const [item] = MENUS['view/item/context'].filter((entry) => entry.command === command);
    const [, pattern = ''] = /viewItem =~ \/(.*)\/$/.exec(item?.when ?? '') ?? [];
    return new RegExp(pattern).test(contextValue);
  };
  const held = [{ toolId: '', part: 'tools', name: 'x', why: 'new' }];

  it('starts a stopped server, here and in the dashboard, by another command than the one that restarts', () => {
    const item = (command: string) => MENUS['view/item/context'].find((entry) => entry.command === command);
    expect(offers('waygate.startServer', { state: 'stopped' })).toBe(true);
    expect(offers('waygate.startServer', { state: 'failed' })).toBe(false);
    expect(MENUS['view/item/context'].filter(({ command }) => command === 'waygate.restartServer')).toHaveLength(2);
    expect(item('waygate.startServer')?.group).toBe('3_server@2');
    expect(offers('waygate.restartServer', { state: 'stopped' })).toBe(false);
    expect(ACTION_COMMANDS.startServer).toBe('waygate.startServer');
    expect(ACTION_COMMANDS.restartServer).toBe('waygate.restartServer');
  });

  it('offers the sign-out only where tokens of a sign-in are kept', () => {
    expect(offers('waygate.signOut', { kind: 'stdio' })).toBe(false);
    expect(offers('waygate.signOut', { kind: 'http' })).toBe(false);
    expect(offers('waygate.signOut', { kind: 'http', signedIn: true })).toBe(true);
    expect(offers('waygate.signOut', { kind: 'http', signedIn: true, held })).toBe(true);
  });

  it('offers the step of each state, whatever else the row has', () => {
    expect(offers('waygate.signIn', { kind: 'http', state: 'needs_sign_in', held })).toBe(true);
    expect(offers('waygate.setSecret', { state: 'needs_secret' })).toBe(true);
    expect(offers('waygate.approveServers', { state: 'needs_approval' })).toBe(true);
    expect(offers('waygate.approveServers', {})).toBe(false);
    expect(offers('waygate.reviewChanges', { held })).toBe(true);
    expect(offers('waygate.refreshServer', {})).toBe(true);
    expect(offers('waygate.release', { held: [{ ...held[0], why: 'quarantined' } as (typeof held)[0]] })).toBe(true);
    expect(offers('waygate.quarantine', { held })).toBe(true);
    expect(offers('waygate.switchOff', {})).toBe(true);
    expect(offers('waygate.switchOn', {})).toBe(false);
    expect(offers('waygate.switchOff', { state: 'disabled' })).toBe(false);
    expect(offers('waygate.switchOn', { state: 'disabled' })).toBe(true);
  });
});

describe('schema of waygate.json', () => {
  const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true });
  ajv.addVocabulary(['markdownDescription', 'defaultSnippets']);
  const valid = ajv.compile(JSON.parse(read('media/waygate.schema.json')) as object);

  it('accepts every key of the loader', () => {
    const files = {
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'x'],
      env: { A: 'b', C: true },
      cwd: '.',
      envFile: '.env',
      disabled: true,
    };
    expect(valid({ $schema: 'x', servers: { files } }), JSON.stringify(valid.errors)).toBe(true);
    expect(valid({})).toBe(true);
  });

  it.each<[string, unknown]>([
    ['an unknown key', { server: {} }],
    ['an unknown key of a server', { servers: { a: { command: 'x', arguments: [] } } }],
    ['a server without a command', { servers: { a: {} } }],
    ['an empty command', { servers: { a: { command: '' } } }],
    ['arguments that are no list', { servers: { a: { command: 'x', args: '-y' } } }],
    ['another transport', { servers: { a: { command: 'x', type: 'http' } } }],
    ['servers as a list', { servers: [] }],
    ['a disabled that is no boolean', { servers: { a: { command: 'x', disabled: 'yes' } } }],
  ])('refuses %s', (_, configuration) => {
    expect(valid(configuration)).toBe(false);
  });

  it('accepts the template, and its example without the comment marks', () => {
    const errors: ParseError[] = [];
    expect(valid(parse(CONFIGURATION_TEMPLATE, errors))).toBe(true);
    // Off by default (G6.8), on in the template.
    expect(parse(CONFIGURATION_TEMPLATE)).toMatchObject({ tolerantArgs: true });
    const example = CONFIGURATION_TEMPLATE.replace(/^\s*\/\/ (?=["} ])/gm, '');
    const shown = parse(example, errors) as { servers: object };
    expect(errors).toEqual([]);
    expect(Object.keys(shown.servers)).toEqual(['files']);
    expect(valid(shown), JSON.stringify(valid.errors)).toBe(true);
  });
});
