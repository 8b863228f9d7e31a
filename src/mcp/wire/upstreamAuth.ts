/** What a server over HTTP answered to a request that it did not let in. */
export interface AuthChallenge {
  status: 401 | 403;
  /** The header `WWW-Authenticate`, where the server says what it wants (RFC 9728 §5.1). */
  wwwAuthenticate: string | undefined;
  /** The `Authorization` that it refused, where one was sent. */
  refused: string | undefined;
  /** It is the answer to the request that was sent once more. */
  again: boolean;
}

/** Who lets us in to a server over HTTP. */
export interface UpstreamAuth {
  /** Headers for the next request to a URL; asked before each, so that a token may be renewed in between. */
  headers(url: URL): Promise<Readonly<Record<string, string>>>;
  /** Resolves to whether there is something new to try: the request is then sent once more. */
  onChallenge(challenge: AuthChallenge): Promise<boolean>;
}

/** What the configuration says, and nothing else: what is refused stays refused. */
export function authByHeaders(headers: Readonly<Record<string, string>>): UpstreamAuth {
  return { headers: async () => headers, onChallenge: async () => false };
}

/** What the configuration says, and above it what `auth` has. */
export function authAboveHeaders(headers: Readonly<Record<string, string>>, auth: UpstreamAuth): UpstreamAuth {
  return {
    headers: async (url) => ({ ...headers, ...(await auth.headers(url)) }),
    onChallenge: (challenge) => auth.onChallenge(challenge),
  };
}
