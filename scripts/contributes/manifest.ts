import {
  APPROVAL_LANGUAGE,
  COMMANDS,
  CONFIGURATION_PATH,
  CONTAINER_ID,
  type CommandContribution,
  DASHBOARD_VIEW_TYPE,
  EXTENSION_TITLE,
  MCP_PROVIDER_ID,
  OWN_CONFIGURATIONS,
  REVIEW_EXTENSION,
  TOOLS_VIEW_ID,
  TRY_VIEW_TYPE,
  WALKTHROUGH_ID,
  WAYGATE_SCHEME,
} from '../../src/extension/contributions.ts';
import { MENUS, SETTINGS, type SettingContribution, VIEWS, WALKTHROUGH_STEPS, WELCOMES } from './contributed.ts';
import { withKeys } from './texts.ts';

/** Returns the generated fields of package.json, with texts. The other fields are written by hand. */
export function extensionManifest(): Record<string, unknown> {
  return {
    extensionKind: ['workspace'],
    l10n: './l10n',
    capabilities: {
      untrustedWorkspaces: {
        supported: 'limited',
        description: 'Waygate starts no MCP server of an untrusted workspace.',
        restrictedConfigurations: settings()
          .filter(([, setting]) => setting.restricted)
          .map(([id]) => id),
      },
      virtualWorkspaces: {
        supported: 'limited',
        description: 'Waygate runs MCP servers beside your files, so it needs a folder on a real disk.',
      },
    },
    // VS Code derives the other events (views, commands, onMcpCollection) from the contributions.
    activationEvents: [
      `workspaceContains:${CONFIGURATION_PATH}`,
      `onWebviewPanel:${DASHBOARD_VIEW_TYPE}`,
      `onWebviewPanel:${TRY_VIEW_TYPE}`,
      `onFileSystem:${WAYGATE_SCHEME}`,
    ],
    contributes: contributes(),
  };
}

function contributes(): Record<string, unknown> {
  return {
    commands: commands().map(([command, { title, icon, enablement }]) => ({
      command,
      title,
      category: EXTENSION_TITLE,
      ...(icon && { icon }),
      ...(enablement && { enablement }),
    })),
    menus: {
      ...MENUS,
      commandPalette: commands()
        .filter(([, { inPalette }]) => !inPalette)
        .map(([command]) => ({ command, when: 'false' })),
    },
    viewsContainers: {
      activitybar: [{ id: CONTAINER_ID, title: EXTENSION_TITLE, icon: 'media/waygate.svg' }],
    },
    views: {
      [CONTAINER_ID]: Object.entries(VIEWS).map(([id, view]) => ({ id, ...view, contextualTitle: EXTENSION_TITLE })),
    },
    viewsWelcome: WELCOMES.map(({ when, contents }) => ({ view: TOOLS_VIEW_ID, contents, when })),
    walkthroughs: [
      {
        id: WALKTHROUGH_ID,
        title: 'Get started with Waygate',
        description: 'All your MCP servers behind three tools: from the import to the first result.',
        steps: WALKTHROUGH_STEPS.map(({ key, title, description, media }) => ({
          id: key,
          title,
          description,
          media: { markdown: `media/walkthrough/${media}` },
          completionEvents: [`onContext:${key}`],
        })),
      },
    ],
    configuration: {
      title: EXTENSION_TITLE,
      properties: Object.fromEntries(settings().map(([id, { restricted: _, ...setting }]) => [id, setting])),
    },
    mcpServerDefinitionProviders: [{ id: MCP_PROVIDER_ID, label: EXTENSION_TITLE }],
    jsonValidation: [
      { fileMatch: [CONFIGURATION_PATH, ...OWN_CONFIGURATIONS], url: './media/waygate.editor.schema.json' },
    ],
    // The template contains comments.
    languages: [
      { id: 'jsonc', filenamePatterns: [CONFIGURATION_PATH, ...OWN_CONFIGURATIONS].map((path) => `**/${path}`) },
      { id: APPROVAL_LANGUAGE, extensions: [REVIEW_EXTENSION] },
    ],
    configurationDefaults: {
      [`[${APPROVAL_LANGUAGE}]`]: {
        // Shows every part of a command without horizontal scrolling, and every unusual character.
        'editor.wordWrap': 'on',
        'editor.minimap.enabled': false,
        'editor.renderControlCharacters': true,
        'editor.codeLens': true,
        'diffEditor.codeLens': true,
        'diffEditor.ignoreTrimWhitespace': false,
        'editor.lineNumbers': 'off',
        'editor.folding': false,
        'editor.guides.indentation': false,
        'editor.occurrencesHighlight': 'off',
        'editor.renderLineHighlight': 'none',
        'editor.scrollBeyondLastLine': false,
      },
    },
  };
}

function commands(): [string, CommandContribution][] {
  return Object.entries(COMMANDS);
}

function settings(): [string, SettingContribution<string>][] {
  return Object.entries(SETTINGS);
}

/** Returns the generated fields in which a package.json differs from the sources. The build fails if there are any. */
export function manifestDifferences(packageJson: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(withKeys(extensionManifest()).manifest)
    .filter(([field, expected]) => JSON.stringify(packageJson[field]) !== JSON.stringify(expected))
    .map(([field]) => field);
}
