export { SandboxManager, SandboxRuntimeConfigSchema } from '@anthropic-ai/sandbox-runtime';
export { runtimeRules } from './rules.ts';
