/**
 * Returns whether the SDK judges this redirect: it stays on the host, and the SDK follows it only within the origin.
 */
export function isLeftToSdk(response: Response, url: string | URL): boolean {
  return isRedirect(response) && staysOnHost(response, url);
}

/** Describes the target of a redirect; `undefined` for any other answer. */
export function redirectTarget(response: Response, url: string | URL): string | undefined {
  const location = isRedirect(response) ? response.headers.get('location') : null;
  return location === null ? undefined : whereTo(location, url);
}

function isRedirect({ status }: Response): boolean {
  return status >= 300 && status < 400;
}

function staysOnHost(response: Response, url: string | URL): boolean {
  const location = response.headers.get('location');
  try {
    return location !== null && new URL(location, url).hostname === new URL(url).hostname;
  } catch {
    return false;
  }
}

/** Leaves out the query, because it may contain secrets. */
function whereTo(location: string, base: string | URL): string {
  try {
    const { origin, pathname } = new URL(location, base);
    return `${origin}${pathname}`;
  } catch {
    return 'somewhere else';
  }
}
