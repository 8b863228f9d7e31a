/**
 * Scenarios of the suites that do not apply to the gateway mode, where a client sees a few tools in place of the
 * servers', with the reasons. Some of them pass for reasons that prove nothing. All of them apply to the passthrough
 * mode.
 */
const NAMES_A_TOOL = 'It calls a tool of the fixture by its own name; behind the gateway that is tool_execute.';
const PASSES_EMPTILY =
  'It calls a tool of the fixture by its own name and is content with any text, so that the refusal of an unknown tool passes it.';

export const NOT_IN_GATEWAY_MODE: Readonly<Record<string, string>> = {
  'elicitation-sep1034-defaults': NAMES_A_TOOL,
  'elicitation-sep1330-enums': NAMES_A_TOOL,
  'json-schema-2020-12':
    "It looks for a tool of the fixture in tools/list; behind the gateway its schema is tool_view's.",
  'server-sse-polling':
    'It wants its tool test_reconnection; that a stream can be left and come back to is tested in protocol/httpFront.test.ts.',
  'tools-call-audio': NAMES_A_TOOL,
  'tools-call-elicitation': NAMES_A_TOOL,
  'tools-call-embedded-resource': NAMES_A_TOOL,
  'tools-call-error': PASSES_EMPTILY,
  'tools-call-image': NAMES_A_TOOL,
  'tools-call-mixed-content': NAMES_A_TOOL,
  'tools-call-sampling': NAMES_A_TOOL,
  'tools-call-simple-text': PASSES_EMPTILY,
  'tools-call-with-logging': NAMES_A_TOOL,
  'tools-call-with-progress': NAMES_A_TOOL,
};
