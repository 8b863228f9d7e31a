/** Error codes of JSON-RPC 2.0. Operational faults are tool results instead (G4.8). */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** MCP's code for a resource that its server does not have. */
export const RESOURCE_NOT_FOUND = -32002;
/** The person must go to URLs first (2025-11-25, URL Mode Elicitation). */
export const URL_ELICITATION_REQUIRED = -32042;

/** The MCP SDK's code for a connection that ended; servers answer with it too, and mean other things. */
export const CONNECTION_CLOSED = -32000;
