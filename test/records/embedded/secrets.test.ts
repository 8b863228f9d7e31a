import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ArtifactStore } from '../../../src/results/artifacts/artifactStore.ts';
import { textContent } from '../../../src/results/envelope/partContent.ts';
import { knownSecrets } from '../../../src/secrets/mask.ts';
import { ALL_OF, jsonLines, recordWorld, STATE } from './world.ts';

const letters = (n: number, length: number): string =>
  Array.from({ length }, (_, i) => 'aBcD3fGh1jKlMn0pQrStUvWxYz4567'[(n * 7 + i * 11 + ((n * i) % 5)) % 30]).join('');

/** Fifty secrets of ten forms; the last form is known only because a server was given it. */
const SECRETS = Array.from({ length: 50 }, (_, n) => {
  const forms = [
    `ghp_${letters(n, 36)}`,
    `sk-ant-api03-${letters(n, 60)}`,
    `AKIA${letters(n, 16)
      .toUpperCase()
      .replace(/[^A-Z2-7]/g, 'Q')}`,
    `xoxb-${String(100000000000 + n)}-${String(200000000000 + n)}-${letters(n, 24)}`,
    `glpat-${letters(n, 20)}`,
    `npm_${letters(n, 36)}`,
    `AIza${letters(n, 35)}`,
    `eyJhbGciOiJIUzI1NiJ9.${letters(n, 40)}.${letters(n + 1, 43)}`,
    `hf_${letters(n, 34)}`,
    `plain-value-${letters(n, 12)}-of-no-form`,
  ];
  return forms[n % forms.length] as string;
});
const at = new Date(Date.now() - 3_600_000).toISOString();

it('no answer has one of fifty planted secrets, whatever source they were planted in', async () => {
  knownSecrets.learn(
    'planted',
    SECRETS.filter((secret) => secret.endsWith('of-no-form')),
  );
  const world = recordWorld();
  const words = (n: number): string => `the token is ${SECRETS[n]} and works`;
  const of = (source: number): number[] => SECRETS.map((_, n) => n).filter((n) => n % 5 === source);
  const claude = { sessionId: 's1', timestamp: at, cwd: '/work' };
  world.write(
    'home/.claude/projects/p/s1.jsonl',
    jsonLines([
      ...of(0).map((n) => ({ ...claude, type: 'user', uuid: `u${n}`, message: { content: words(n) } })),
      ...of(0).flatMap((n) => [
        {
          ...claude,
          type: 'assistant',
          uuid: `a${n}`,
          message: {
            id: `m${n}`,
            content: [{ type: 'tool_use', id: `t${n}`, name: 'shell', input: { command: words(n) } }],
          },
        },
        {
          ...claude,
          type: 'user',
          uuid: `r${n}`,
          message: {
            content: [{ type: 'tool_result', tool_use_id: `t${n}`, is_error: n % 2 === 0, content: words(n) }],
          },
        },
      ]),
    ]),
  );
  world.write(
    'data/rows.jsonl',
    jsonLines(of(1).map((n) => ({ id: `r${n}`, text: words(n), nested: { deep: [words(n)] } }))),
  );
  world.write(
    'data/people.csv',
    `id,note\n${of(2)
      .map((n) => `p${n},"${words(n)}"\n`)
      .join('')}`,
  );
  world.write(
    `${STATE}/events.jsonl`,
    jsonLines(
      of(3).map((n) => ({
        version: 1,
        event: 'execute.failed',
        timestamp: at,
        success: false,
        duration_ms: n,
        session_id: 's',
        tool_id: `a:b#0000000${n % 10}`,
        namespace: 'a',
        attributes: { server: 'a', client: words(n), error_code: 'X', fault: words(n) },
      })),
    ),
  );
  const store = new ArtifactStore({ folder: join(world.root, STATE, 'artifacts') });
  for (const n of of(4)) {
    const draft = { kind: 'text', source: `s${n}`, mediaType: 'text/plain', owner: 'workspace' };
    await store.hold({ ...draft, label: words(n), content: textContent(`${words(n)} ${n}`) }).saved();
  }
  const folder = { kind: 'folder', path: join(world.root, 'data'), name: 'data' } as const;
  world.grant([
    ALL_OF('history', { kind: 'history' }),
    ALL_OF('agents', { kind: 'agents' }),
    ALL_OF('folder-data', folder),
  ]);
  const { connections } = await world.provider.refresh();
  expect(connections.flatMap(({ problem }) => problem ?? [])).toEqual([]);

  const streams = (await world.get('/v1/streams')).body.data as unknown as { name: string; record_count: number }[];
  const answers: string[] = [];
  for (const { name } of streams) {
    for (const target of [
      `/v1/streams/${name}/records?limit=100`,
      `/v1/streams/${name}/records?changes_since=beginning&limit=100`,
      `/v1/schema?detail=full&stream=${name}`,
    ]) {
      answers.push(JSON.stringify((await world.get(target)).body));
    }
  }
  for (const [stream, field] of [
    ['calls', 'client'],
    ['calls', 'fault'],
    ['tool_calls', 'tool'],
  ]) {
    const target = `/v1/streams/${stream}/aggregate?metric=count&group_by=${field}&limit=100`;
    answers.push(JSON.stringify((await world.get(target)).body));
  }
  const found: number[] = [];
  for (const secret of SECRETS) {
    const { body } = await world.get(`/v1/search?q=${encodeURIComponent(`"${secret}"`)}`);
    found.push(body.data?.length ?? 0);
    answers.push(JSON.stringify(body.data));
  }
  answers.push(JSON.stringify((await world.get('/v1/search?q=token&limit=100')).body));
  const all = answers.join('\n');
  // Everything was loaded: 20 turns and tool calls, 20 rows, 10 calls with faults, 10 results.
  const total = Object.fromEntries(streams.map(({ name, record_count: records }) => [name, records]));
  expect(total).toMatchObject({ turns: 20, tool_calls: 10, rows: 10, people: 10, calls: 10, faults: 10, results: 10 });
  expect(SECRETS.filter((secret) => all.includes(secret))).toEqual([]);
  expect(found.filter((hits) => hits > 0)).toEqual([]);
});
