/** Rejection of a request by a server over HTTP. */
export interface AuthChallenge {
  status: 401 | 403;
  /** Header `WWW-Authenticate`, with the server's requirements (RFC 9728 §5.1). */
  wwwAuthenticate: string | undefined;
  /** Rejected `Authorization`, if the request had one. */
  refused: string | undefined;
  /** Whether this is the rejection of a repeated request. */
  again: boolean;
}

/** Authentication at a server over HTTP. */
export interface UpstreamAuth {
  /** Returns the headers for a request to a URL. Each request calls this, so that a token can be renewed in between. */
  headers(url: URL): Promise<Readonly<Record<string, string>>>;
  /** Resolves to whether there is something new to try. If so, the transport sends the request once more. */
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
