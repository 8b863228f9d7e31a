import { join } from 'node:path';
import type { Address } from '../support/wire/eraWorld.ts';
import { type Agent, type AgentPlace, agentProgram } from './agentProgram.ts';
import type { ClientProgram } from './clientProgram.ts';
import { MODULES, VERSIONS } from './install.ts';

const MODEL = 'scripted';
const KEY = 'none';

/** Returns the lines of the settings with which Codex uses a scripted model. */
export function codexModel(model: string): string[] {
  return [
    `model = "${MODEL}"`,
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[model_providers.scripted]',
    'name = "Scripted"',
    `base_url = "${model}/v1"`,
    'wire_api = "responses"',
  ];
}

/** Agents from npm. */
export function agents(): ClientProgram[] {
  return [copilot(), codex(false), codex(true), claude(), opencode(), gemini()].map(agentProgram);
}

const system = `${process.platform}-${process.arch}`;
const versionOf = (name: string): string => VERSIONS[name] as string;

function copilot(): Agent {
  return {
    name: 'Copilot CLI',
    version: versionOf('@github/copilot'),
    start: ({ address, model, home, prompt }) => ({
      program: join(MODULES, `@github/copilot-${system}/copilot`),
      args: [
        '-p',
        prompt,
        '--allow-all-tools',
        '--disable-builtin-mcps',
        '--additional-mcp-config',
        servers(address, { tools: ['*'] }),
      ],
      env: {
        COPILOT_HOME: join(home, '.copilot'),
        COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
        COPILOT_PROVIDER_API_KEY: KEY,
        COPILOT_MODEL: MODEL,
        COPILOT_OFFLINE: 'true',
        COPILOT_AUTO_UPDATE: 'false',
      },
    }),
  };
}

function codex(isModern: boolean): Agent {
  return {
    name: isModern ? 'Codex with mcp_2026_07_28' : 'Codex',
    version: versionOf('@openai/codex'),
    start: ({ address, model, home, prompt }) => ({
      program: process.execPath,
      args: [
        ...[join(MODULES, '@openai/codex/bin/codex.js'), 'exec', '--skip-git-repo-check'],
        ...['--dangerously-bypass-approvals-and-sandbox', prompt],
      ],
      env: { CODEX_HOME: join(home, '.codex') },
      files: {
        '.codex/config.toml': [
          ...codexModel(model),
          ...(isModern ? ['[features]', 'mcp_2026_07_28 = true'] : []),
          '[mcp_servers.waygate]',
          ...toml(address),
        ].join('\n'),
      },
    }),
  };
}

function toml(address: Address): string[] {
  if ('url' in address) return [`url = ${JSON.stringify(address.url)}`];
  const { command, args, env } = address;
  return [
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    '[mcp_servers.waygate.env]',
    ...Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
  ];
}

function claude(): Agent {
  return {
    name: 'Claude Code',
    version: versionOf('@anthropic-ai/claude-code'),
    start: ({ address, model, prompt }) => ({
      program: join(MODULES, `@anthropic-ai/claude-code-${system}/claude`),
      args: [
        ...['-p', prompt, '--strict-mcp-config', '--allowedTools', 'mcp__waygate'],
        ...['--mcp-config', servers(address, { type: 'url' in address ? 'http' : 'stdio' })],
      ],
      env: {
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    }),
  };
}

function opencode(): Agent {
  return {
    name: 'opencode',
    version: versionOf('opencode-ai'),
    start: ({ address, model, prompt }) => ({
      program: join(MODULES, `opencode-${system}/bin/opencode`),
      args: ['run', '--pure', '--auto', '--model', `${MODEL}/${MODEL}`, prompt],
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          share: 'disabled',
          provider: {
            [MODEL]: {
              npm: '@ai-sdk/openai-compatible',
              options: { baseURL: `${model}/v1`, apiKey: KEY },
              models: { [MODEL]: { tool_call: true } },
            },
          },
          mcp: {
            waygate:
              'url' in address
                ? { type: 'remote', url: address.url }
                : { type: 'local', command: [address.command, ...address.args], environment: address.env },
          },
        }),
      },
    }),
  };
}

function gemini(): Agent {
  return {
    name: 'Gemini CLI',
    version: versionOf('@google/gemini-cli'),
    start: ({ address, model, prompt }: AgentPlace) => ({
      program: process.execPath,
      args: [
        join(MODULES, '@google/gemini-cli/bundle/gemini.js'),
        '-p',
        prompt,
        '--approval-mode',
        'yolo',
        '--skip-trust',
      ],
      env: {
        GEMINI_API_KEY: KEY,
        GOOGLE_GEMINI_BASE_URL: model,
        GEMINI_MODEL: 'gemini-2.5-flash',
      },
      files: {
        '.gemini/settings.json': JSON.stringify({
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
          general: { disableAutoUpdate: true, enableAutoUpdate: false },
          mcpServers: {
            waygate: 'url' in address ? { httpUrl: address.url, trust: true } : { ...address, trust: true },
          },
        }),
      },
    }),
  };
}

/** Configuration in the form that most clients share. */
function servers(address: Address, more: object): string {
  const type = 'url' in address ? 'http' : 'local';
  return JSON.stringify({ mcpServers: { waygate: { type, ...address, ...more } } });
}
