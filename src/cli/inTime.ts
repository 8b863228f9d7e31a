/** A local answer takes milliseconds. A hanging worker must not block the command. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Resolves to the answer, or rejects after the timeout with one sentence. */
export async function inTime<T>(answer: Promise<T>, who: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const sentence = `${who} did not answer within ${ANSWER_TIMEOUT_MS / 1000} s; see its log.`;
    timer = setTimeout(() => reject(new Error(sentence)), ANSWER_TIMEOUT_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
