import { EmbeddedProvider } from '../../../src/records/embedded/embeddedProvider.ts';
import type { EngineOptions } from '../../../src/records/embedded/recordEngine.ts';

/** Loads records until some are committed, and reports their number; a test kills this process meanwhile. */
const provider = new EmbeddedProvider(JSON.parse(process.argv[2] as string) as EngineOptions);
process.on('message', ({ until }: { until: number }) => {
  void provider.refresh();
  const look = async (): Promise<void> => {
    const { body } = await provider.get({ path: '/v1/streams/calls/aggregate', query: [['metric', 'count']] });
    const calls = Number((body as { value?: number }).value ?? 0);
    if (calls >= until) process.send?.({ calls });
    else setImmediate(() => void look());
  };
  void look();
});
