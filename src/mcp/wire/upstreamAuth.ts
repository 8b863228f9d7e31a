/** Rejection of a request by a server over HTTP. */
export interface AuthChallenge {
  status: 401 | 403;
  /** Header `WWW-Authenticate`, with the server's requirements (RFC 9728 §5.1). */
  wwwAuthenticate: string | undefined;
  /** Rejected `Authorization`, where one was sent. */
  refused: string | undefined;
  /** Whether this rejects a request that was already repeated. */
  again: boolean;
}

/** Authentication at a server over HTTP. */
export interface UpstreamAuth {
  /**
   * Returns the headers for the next request to a URL. Called before each request, so that a token may be renewed in
   * between.
   */
  headers(url: URL): Promise<Readonly<Record<string, string>>>;
  /** Resolves to whether there is something new to try. The request is then sent once more. */
  onChallenge(challenge: AuthChallenge): Promise<boolean>;
}

/** Authenticates with the configured headers alone: a rejection is final. */
export function authByHeaders(headers: Readonly<Record<string, string>>): UpstreamAuth {
  return { headers: async () => headers, onChallenge: async () => false };
}

/** Authenticates with the configured headers, overridden by those of `auth`. */
export function authAboveHeaders(headers: Readonly<Record<string, string>>, auth: UpstreamAuth): UpstreamAuth {
  return {
    headers: async (url) => ({ ...headers, ...(await auth.headers(url)) }),
    onChallenge: (challenge) => auth.onChallenge(challenge),
  };
}
