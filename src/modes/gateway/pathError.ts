import { CatalogError } from '../../catalog/catalogError.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { meantBy } from '../../text/nearest.ts';

/** A path that leads nowhere, with the one that was most likely meant: of two that there could be, none is guessed at. */
export function pathError(error: unknown, path: string): unknown {
  if (!(error instanceof CatalogError)) return error;
  if (error.code === 'PATH_INVALID') return new GatewayError(error.code, error.message, { path });
  if (error.code !== 'PATH_NOT_FOUND' || !error.missing) return error;
  const { parent, label, siblings } = error.missing;
  const sibling = meantBy(label, siblings);
  const nearest = sibling === undefined ? parent : `${parent === '/' ? '' : parent}/${sibling}`;
  const message = `${error.message} The nearest is "${nearest}"; browse "${parent}" for all there.`;
  return new GatewayError(error.code, message, { path, details: { nearest } });
}
