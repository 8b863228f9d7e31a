/**
 * Measures the search for secrets in the arguments of a call: `npm run bench:egress`. The whole
 * trust check of a call may take 20 µs at the median.
 */
import { readFileSync } from 'node:fs';
import { KnownSecrets } from '../../src/secrets/knownSecrets.ts';
import { MaskedValues } from '../../src/secrets/maskedValues.ts';
import { sentSecrets } from '../../src/trust/egress.ts';

const RUNS = 20_000;
const ARGUMENTS = {
  'a short query': { query: 'is:open label:bug author:ada', limit: 20 },
  'a text of 2 KB': { path: '/home/ada/notes.md', content: 'A line of an ordinary text file.\n'.repeat(60) },
  'code of 2 KB': {
    path: '/home/ada/pace.ts',
    content: readFileSync(new URL('../../src/lib/pace.ts', import.meta.url), 'utf8').slice(0, 2_048),
  },
  'a URL and JSON': { url: 'https://example.test/a%20b?c=d', body: JSON.stringify({ a: 'b "c" d', list: [1, 2, 3] }) },
};

for (const count of [0, 50, 500]) {
  const known = new KnownSecrets('[REDACTED]');
  const masked = new MaskedValues();
  for (let i = 0; i < count; i += 1) known.learn(`server ${i}`, [`Zq7-secret-number-${i}-4411`]);
  for (let i = 0; i < count / 10; i += 1) masked.note(`Zq7-masked-number-${i}-4411`, `server ${i}`);
  for (const [name, args] of Object.entries(ARGUMENTS)) {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const start = performance.now();
      sentSecrets(args, { server: 'receiver', isOwner: () => false }, { known, masked });
      times.push((performance.now() - start) * 1_000);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => (times[Math.floor(RUNS * share)] as number).toFixed(1);
    console.log(`${count} secrets, ${name}: p50 ${at(0.5)} µs, p99 ${at(0.99)} µs`);
  }
}
