/**
 * Measures the search for secrets of other servers in the arguments of a call: `node test/bench/egress.ts`. The whole
 * trust check of a call may take 20 µs at the median.
 */
import { KnownSecrets } from '../../src/secrets/knownSecrets.ts';
import { foreignSecret } from '../../src/trust/egress.ts';

const RUNS = 20_000;
const ARGUMENTS = {
  'a short query': { query: 'is:open label:bug author:ada', limit: 20 },
  'a file of 2 KB': { path: '/home/ada/notes.md', content: 'A line of an ordinary text file.\n'.repeat(60) },
  'a URL and JSON': { url: 'https://example.test/a%20b?c=d', body: JSON.stringify({ a: 'b "c" d', list: [1, 2, 3] }) },
};

for (const count of [0, 50, 500]) {
  const known = new KnownSecrets('[REDACTED]');
  for (let i = 0; i < count; i += 1) known.learn(`server ${i}`, [`Zq7-secret-number-${i}-4411`]);
  for (const [name, args] of Object.entries(ARGUMENTS)) {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const start = performance.now();
      foreignSecret(args, known, () => false);
      times.push((performance.now() - start) * 1_000);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => (times[Math.floor(RUNS * share)] as number).toFixed(1);
    console.log(`${count} secrets, ${name}: p50 ${at(0.5)} µs, p99 ${at(0.99)} µs`);
  }
}
