import { clearArguments, clearSecrets } from '../secrets/clearSecrets.ts';
import type { ServerConfig } from './gatewayConfig.ts';

/**
 * Returns every secret that a server receives at its start: the values that its references had (`kept`), secrets in
 * clear, and passwords within addresses or connection strings. The references of `config` must be replaced already.
 */
export function secretsGiven(config: ServerConfig, kept: readonly string[]): string[] {
  const whole = [...kept, ...inClear(config)];
  const within = whole.flatMap((value) => clearSecrets('', value).map((secret) => secret.value));
  return [...new Set([...whole, ...within])];
}

function inClear(config: ServerConfig): string[] {
  if (config.type === 'static') return [];
  if (config.type === 'records')
    return [...config.tokens, ...clearSecrets('url', config.url ?? '').map(({ value }) => value)];
  const named =
    config.type === 'stdio'
      ? [['command', config.command] as const, ...Object.entries(config.env)]
      : [['url', config.url] as const, ...Object.entries(config.headers)];
  const fromArguments = config.type === 'stdio' ? clearArguments(config.args) : [];
  return [
    ...fromArguments.flatMap(({ secrets }) => secrets),
    ...named.flatMap(([name, value]) => clearSecrets(name, value)),
  ].map(({ value }) => value);
}
