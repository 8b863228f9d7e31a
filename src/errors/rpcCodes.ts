/** Error codes of JSON-RPC 2.0. Operational faults are tool results instead (G4.8). */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** Code of MCP for an unknown resource. */
export const RESOURCE_NOT_FOUND = -32002;
/** Code of MCP 2025-11-25: the user must visit URLs first (URL mode elicitation). */
export const URL_ELICITATION_REQUIRED = -32042;

/** Codes of the MCP SDK for a closed connection and a time limit. Servers use them too, with other meanings. */
export const CONNECTION_CLOSED = -32000;
export const REQUEST_TIMEOUT = -32001;
