/** Operations of the event log: events of each gateway tool (O8.7). */
import { CallPipeline } from '../../../src/calls/pipeline/callPipeline.ts';
import { DEFAULT_SETTINGS } from '../../../src/config/declaration/document.ts';
import { gatewayMode } from '../../../src/modes/gateway/gatewayMode.ts';
import type { CallEvent } from '../../../src/modes/shared/callEvent.ts';
import { catalogLoaded } from '../../../src/modes/shared/catalog/catalogEvents.ts';
import { TokenMeter } from '../../../src/modes/shared/catalog/tokenMeter.ts';
import { type AdmittedResult, Firewall } from '../../../src/results/firewall.ts';
import { scrubSecrets } from '../../../src/secrets/mask.ts';
import { type DiagnosticEvent, diagnosticEvent } from '../../../src/telemetry/diagnosticEvent.ts';
import { fixedContext } from '../../support/fixedContext.ts';
import type { ConformanceFile, Operation, OverruledCase } from '../conformance.ts';
import { EXPOSED_SCHEMAS } from '../reference/exposedSchemas.ts';

export const diagnosticsOverruled: readonly OverruledCase[] = [
  {
    id: 'diagnostics-04-browse-path-/',
    op: 'browse path /',
    rule: 'G3.4',
    why: 'a bare "/" lists one card per namespace, also in a small catalog',
  },
];

/** Tools that the cases add to their shared fixture, whose identity `files:read#3bdca3ae` reveals. */
const READ = {
  name: 'files.read',
  description: 'Read a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  annotations: { readOnlyHint: true },
};
/** 705 characters, 92 tokens; 67 in the first 500 characters, 4 in the first 5. */
const TEXT = `k: v\n${'x'.repeat(700)}`;
const READ_ID = 'files:read#3bdca3ae';

type Step = [name: string, args: Record<string, unknown>];

/** Creates a gateway over the fixture, with one server that answers every call alike. */
function gateway(file: ConformanceFile) {
  const shared = file.groups.runtime_fixture?.[0]?.input as { name: string }[];
  const named = (server: string) => ({ server, tools: shared.filter(({ name }) => name.startsWith(server)) });
  const context = fixedContext([named('github'), named('slack'), { server: 'files', tools: [READ] }]);
  const firewall = new Firewall({ store: context.artifacts });
  const calls = new CallPipeline<AdmittedResult>(
    {
      upstream: () => ({ state: 'ready', call: async () => ({ content: [{ type: 'text', text: TEXT }] }) }),
      firewall: (result, { tool }) => firewall.admit(result, { toolId: tool.id, upstreamName: tool.upstreamName }),
      scrubSecrets,
    },
    { ...DEFAULT_SETTINGS, cache: { ...DEFAULT_SETTINGS.cache, readOnly: true } },
  );
  const events: CallEvent[] = [];
  const mode = gatewayMode({ ...context, calls, onCallEnd: (_call, event) => void events.push(event) });
  const session = {};
  const call = async (...[name, args]: Step) =>
    (await mode.callTool(name, args, {
      signal: new AbortController().signal,
      client: 'conformance',
      session,
    })) as { structuredContent?: { artifacts?: { handle: string }[] } };
  return { view: context.view(), call, events };
}

/** Returns the event in the case's form: the values that it pins, and all names. */
function comparable(
  event: Omit<DiagnosticEvent, 'timestamp' | 'duration_ms' | 'version' | 'session_id'>,
  expected: unknown,
) {
  const pinned = Object.keys((expected as { attributes: object }).attributes);
  const { attributes } = event;
  return {
    event: event.event,
    success: event.success,
    tool_id: event.tool_id,
    namespace: event.namespace,
    attribute_keys: Object.keys(attributes).sort(),
    attributes: Object.fromEntries(pinned.map((name) => [name, attributes[name]])),
  };
}

/** Returns the last event of these calls. */
const lastOf = (...steps: Step[]): Operation => ({
  run: async (_input, { expected, file }) => {
    const { call, events } = gateway(file);
    for (const step of steps) await call(...step);
    const event = events.at(-1) as CallEvent;
    const attributes = event.attributes(new TokenMeter());
    return comparable(diagnosticEvent({ ...event, attributes }, new Date(), scrubSecrets), expected);
  },
});

const execute = (args: object, more: object = {}): Step => [
  'tool_execute',
  { tool_id: READ_ID, args, render: 'json', ...more },
];

const register: Operation = {
  run: async (_input, { expected, file }) => {
    const counted = await catalogLoaded(gateway(file).view, EXPOSED_SCHEMAS);
    const draft = { event: 'catalog.loaded', success: true, attributes: { ...counted?.loaded } };
    return comparable(diagnosticEvent(draft, new Date(), scrubSecrets), expected);
  },
};

const viewed: Operation = {
  run: async (_input, { expected, file }) => {
    const { call, events } = gateway(file);
    const { structuredContent } = await call(...execute({ path: 'a' }));
    const handle = structuredContent?.artifacts?.[0]?.handle;
    await call('tool_view', { handle, selector: { type: 'head', chars: 5 } });
    const event = events.at(-1) as CallEvent;
    const attributes = event.attributes(new TokenMeter());
    return comparable(diagnosticEvent({ ...event, attributes }, new Date(), scrubSecrets), expected);
  },
};

const SCHEMA_OF_READ: Step = ['tool_view', { handle: `schema:${READ_ID}`, selector: {} }];
const dryRun = lastOf(execute({ path: 'a' }, { dry_run: true }));

export const diagnosticsOperations: Readonly<Record<string, Operation>> = {
  register,
  'browse query': lastOf(['tool_browse', { query: 'read file' }]),
  'browse bad path': lastOf(['tool_browse', { path: 'no-slash' }]),
  'browse path /': lastOf(['tool_browse', { path: '/' }]),
  'hydrate ok': lastOf(SCHEMA_OF_READ),
  hydrate: lastOf(SCHEMA_OF_READ),
  'hydrate unknown': lastOf(['tool_view', { handle: 'schema:no:pe#00000000', selector: {} }]),
  'execute ok': lastOf(execute({ path: 'a' })),
  'execute again (cached)': lastOf(execute({ path: 'a' }), execute({ path: 'a' })),
  'execute bad args': lastOf(execute({})),
  'execute dry run': dryRun,
  'execute dry_run': dryRun,
  'view ok': viewed,
  'view unknown': lastOf(['tool_view', { handle: 'text:nope', selector: { type: 'head' } }]),
};
