import { FACES, type Face, isFace } from '../link/mode.ts';
import { didYouMean } from '../text/nearest.ts';
import { meantToken, type Tell } from '../text/normalise.ts';
import type { HttpOptions } from './commands.ts';
import type { OptionValues } from './options.ts';
import { givenPath } from './target.ts';
import { UsageError } from './usageError.ts';

/** Always the same, so that a client's configuration stays right. */
const DEFAULT_HTTP_PORT = 7420;

export function modeOf({ mode: given }: OptionValues, tell: Tell): { mode?: Face } {
  if (typeof given !== 'string') return {};
  const mode = meantToken(given, FACES);
  if (!isFace(mode)) throw new UsageError(`there is no mode "${given}"; ${didYouMean(given, FACES)}`);
  if (mode !== given) tell({ rule: 'token_alias', from: given, to: mode });
  return { mode };
}

export function httpOf(values: OptionValues, tell: Tell): { http?: HttpOptions } {
  const noToken = values['no-token'] === true;
  if (values.http !== true) {
    const stray = ['port', 'token-file', 'no-token'].find((option) => values[option] !== undefined);
    if (stray) throw new UsageError(`--${stray} belongs to --http; write waygate serve --http --${stray}.`);
    return {};
  }
  if (noToken && values['token-file'] !== undefined) {
    throw new UsageError('--token-file and --no-token exclude each other; give one.');
  }
  const file = givenPath('token-file', values, tell);
  const token = file === undefined ? (noToken ? 'none' : 'own') : { file };
  return { http: { port: portOf(values.port), token } };
}

function portOf(given: OptionValues[string]): number {
  if (given === undefined) return DEFAULT_HTTP_PORT;
  const port = /^\d{1,5}$/.test(String(given)) ? Number(given) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port must be a number from 0 (any that is free) to 65535, not "${given}".`);
}
