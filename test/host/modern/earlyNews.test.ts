import { expect, it } from 'vitest';
import { Subscriptions } from '../../../src/host/modern/subscriptions.ts';
import { deferred } from '../../../src/lib/deferred.ts';

it('a change that comes before the acknowledgement of a subscription follows it', async () => {
  const capabilities = deferred<Readonly<Record<string, unknown>>>();
  const frames: string[] = [];
  const note = (frame: string | Buffer): void =>
    void frames.push((JSON.parse(String(frame)) as { method: string }).method);
  const ports = { serverInfo: {}, capabilities: () => capabilities.promise, request: () => subscribed.promise };
  const subscribed = deferred<boolean>();
  const subscriptions = new Subscriptions(ports);
  const notifications = { toolsListChanged: true, resourceSubscriptions: ['a:b'] };
  const listening = subscriptions.listen({ id: 1, notify: note, answer: note }, { notifications });
  capabilities.resolve({ tools: { listChanged: true }, resources: { subscribe: true } });
  // The subscription of the resource is under way, and the filter is known.
  await capabilities.promise;
  await Promise.resolve();
  subscriptions.onNotification('notifications/resources/updated', { uri: 'a:b' });
  subscriptions.onNotification('notifications/tools/list_changed', {});
  expect(frames).toEqual([]);
  subscribed.resolve(true);
  await listening;
  expect(frames).toEqual([
    'notifications/subscriptions/acknowledged',
    'notifications/resources/updated',
    'notifications/tools/list_changed',
  ]);
});
