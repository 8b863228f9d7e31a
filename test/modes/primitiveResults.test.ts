import { expect, it } from 'vitest';
import { promptAsResult, resourceAsResult } from '../../src/modes/gateway/readPrimitive.ts';
import { ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { Firewall } from '../../src/results/firewall.ts';

const admit = (result: Record<string, unknown>) =>
  new Firewall({ store: new ArtifactStore() }).admit(result, { toolId: 'resource::file:a#0', upstreamName: 'a' });

it('processes a resource like a result: shows its text, and stores every part (G10.5)', async () => {
  const read = {
    contents: [
      { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# A' },
      { uri: 'file:///a.bin', mimeType: 'application/zip', blob: 'UEsD' },
      'odd',
    ],
  };
  const { text, envelope } = await admit(resourceAsResult(read));
  expect(text).toMatch(/^ok · data from file\n# A\nodd\nfile file:\/\/\/a\.bin \(application\/zip, 3 bytes\) attached/);
  expect((await envelope()).artifacts.map(({ handle }) => handle.split(':')[0])).toEqual([
    'resource',
    'resource',
    'part',
    'text',
  ]);
});

it('shows a large resource as a digest', async () => {
  const { text } = await admit(
    resourceAsResult({ contents: [{ uri: 'file:///a', text: 'a line of it\n'.repeat(3_000) }] }),
  );
  expect(text).toMatch(/^ok · data from file\nText, [\d,]+ characters: 3,000 lines/);
});

it('renders a prompt as its messages under their roles', async () => {
  const prompt = {
    description: 'greets',
    messages: [
      { role: 'user', content: { type: 'text', text: 'hello' } },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
      },
      'odd',
    ],
  };
  const { text, parts } = await admit(promptAsResult(prompt));
  expect(text).toMatch(
    /^ok · data from file\n\[user\] hello\n\[assistant\] hi\n\[assistant\]\nodd\nimage \(image\/png, 3 bytes\) attached/,
  );
  expect(parts).toHaveLength(1);
});

it('treats anything else as empty', async () => {
  expect((await admit(resourceAsResult({ contents: 7 }))).text).toBe('ok (no content)');
  expect((await admit(promptAsResult({}))).text).toBe('ok (no content)');
});
