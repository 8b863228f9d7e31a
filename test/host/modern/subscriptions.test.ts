import { describe, expect, it } from 'vitest';
import { rendezvous } from '../../support/census.ts';
import { HostProcess, isAlive, type RpcMessage, until } from '../../support/hostProcess.ts';
import { HttpProcess } from '../../support/httpProcess.ts';
import { shared } from '../../support/lifetime.ts';
import { ModernCaller, ModernHttp } from '../../support/modernClient.ts';
import { modernMeta } from '../../support/modernMeta.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const WATCHED = 'test://watched-resource';
const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

/** Returns the subscription that a notification belongs to. */
const subscriptionOf = ({ params }: RpcMessage): unknown =>
  (params?._meta as Record<string, unknown> | undefined)?.[SUBSCRIPTION];
const listen = (notifications: unknown) => ({ notifications, _meta: modernMeta() });

/** Changes all lists of the server, and what is subscribed to. */
const announce = (client: ModernCaller): Promise<unknown> => client.call('test_trigger_changes', {});

async function trigger(client: ModernCaller): Promise<void> {
  const id = await client.toolId('/one/test_trigger_changes');
  await client.call('tool_execute', { tool_id: id, args: {} });
}

describe('a subscription on stdio', () => {
  const host = shared(() => new HostProcess(testWorkspace({ one: servers.conformance }), ['--mode', 'passthrough']));
  const client = (): ModernCaller => ModernCaller.on(host());
  const of = (id: string): RpcMessage[] => host().notifications.filter((message) => subscriptionOf(message) === id);
  const methodsOf = (id: string): string[] => of(id).map(({ method }) => method as string);

  it('is acknowledged first, and then gets what it asked for under its id', async () => {
    void host().request('subscriptions/listen', listen({ ...ALL, resourceSubscriptions: [WATCHED] }), 'all');
    await until('the acknowledgement', () => of('all').length > 0);
    expect(of('all')[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { ...ALL, resourceSubscriptions: [WATCHED] } },
    });
    void host().request('subscriptions/listen', listen({ promptsListChanged: true }), 'prompts');
    await until('the acknowledgement', () => of('prompts').length > 0);
    expect(of('prompts')[0]?.params?.notifications).toEqual({ promptsListChanged: true });
    await announce(client());
    await until('the update', () => methodsOf('all').includes('notifications/resources/updated'));
    await until('the prompts', () => methodsOf('all').includes('notifications/prompts/list_changed'));
    await until('the prompts', () => methodsOf('prompts').includes('notifications/prompts/list_changed'));
    const [, ...changes] = methodsOf('prompts');
    expect(new Set(changes)).toEqual(new Set(['notifications/prompts/list_changed']));
    const updates = of('all').filter(({ method }) => method === 'notifications/resources/updated');
    expect(updates[0]?.params).toMatchObject({ uri: WATCHED });
    // Nothing reaches the client outside of a subscription.
    const strays = host().notifications.filter((message) => subscriptionOf(message) === undefined);
    expect(strays).toEqual([]);
  });

  it('ends without a message when the client cancels it', async () => {
    const watched = listen({ resourceSubscriptions: [WATCHED] });
    void host().request('subscriptions/listen', watched, 'cancelled');
    await until('the acknowledgement', () => of('cancelled').length === 1);
    host().notify('notifications/cancelled', { requestId: 'cancelled' });
    void host().request('subscriptions/listen', watched, 'witness');
    await until('the acknowledgement', () => of('witness').length === 1);
    await announce(client());
    await until('the change', () => of('witness').length > 1);
    expect(of('cancelled')).toHaveLength(1);
    expect(host().lines.filter((line) => line.includes('"id":"cancelled"'))).toEqual([]);
  });

  it('without anything that can be had ends at once', async () => {
    const { result } = await host().request('subscriptions/listen', listen({ toolsListChanged: false }), 'nothing');
    expect(result).toMatchObject({ resultType: 'complete', _meta: { [SUBSCRIPTION]: 'nothing' } });
    expect(of('nothing').map(({ params }) => params?.notifications)).toEqual([{}]);
  });

  it.each([
    ['no filter', undefined],
    ['a filter that is a list', []],
    ['a list that is no boolean', { toolsListChanged: 'yes' }],
    ['URIs that are no list', { resourceSubscriptions: WATCHED }],
    ['a URI that is no string', { resourceSubscriptions: [7] }],
  ])('is refused with %s', async (_, notifications) => {
    const { error } = await host().request('subscriptions/listen', listen(notifications));
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('params.notifications') });
  });
});

it('a subscription goes on with the next worker', async () => {
  const workspace = testWorkspace({ one: servers.conformance });
  const host = new HostProcess(workspace);
  const client = ModernCaller.on(host);
  await client.toolId('/one/test_trigger_changes');
  void host.request('subscriptions/listen', listen({ resourceSubscriptions: [WATCHED] }), 'kept');
  await until('the acknowledgement', () => host.notifications.length === 1);
  const pid = rendezvous(workspace)?.pid as number;
  process.kill(pid, 'SIGKILL');
  await until('the end of the worker', () => !isAlive(pid));
  await trigger(client);
  await until('the update', () =>
    host.notifications.some(({ method }) => method === 'notifications/resources/updated'),
  );
  expect(new Set(host.notifications.map(subscriptionOf))).toEqual(new Set(['kept']));
});

it('a subscription over HTTP is the stream of its request, and ends with the host', async () => {
  const workspace = testWorkspace({ one: servers.conformance });
  const process = HttpProcess.waygate(workspace, ['--no-token']);
  const http = new ModernHttp(await process.url());
  await http.caller().toolId('/one/test_trigger_changes');
  const response = await http.open('subscriptions/listen', listen({ resourceSubscriptions: [WATCHED] }));
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const received: RpcMessage[] = [];
  const reading = (async () => {
    let text = '';
    for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
        if (data) received.push(JSON.parse(data) as RpcMessage);
        text = text.slice(end + 2);
      }
    }
  })();
  await until('the acknowledgement', () => received.length === 1);
  await trigger(http.caller());
  await until('the update', () => received.some(({ method }) => method === 'notifications/resources/updated'));
  process.child.kill('SIGTERM');
  await reading;
  expect(received.at(-1)?.result).toMatchObject({ resultType: 'complete' });
  expect(await process.exited).toBe(0);
});
