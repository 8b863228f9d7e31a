import { setFlagsFromString } from 'node:v8';

/** Delay after which a start is over. Optimizing the code of a start costs more than it wins: 20 ms of 150. */
const STARTED_AFTER_MS = 2_000;
/** Calls of a function before V8 optimizes it, instead of 3,000. A session of an agent seldom makes that many calls. */
const CALLS = 300;
/** Versions of V8 before this one do not know the flag and would print an error. */
const SINCE_V8 = 12;

/** Lets V8 optimize a long-lived process after hundreds of requests, not after thousands. A start is not affected. */
export function optimizeEarly(version = process.versions.v8, setFlag = setFlagsFromString): void {
  if (Number.parseInt(version, 10) < SINCE_V8) return;
  setTimeout(() => setFlag(`--invocation-count-for-turbofan=${CALLS}`), STARTED_AFTER_MS).unref();
}
