/** On one machine an answer takes milliseconds; a worker that hangs must not take the command with it. */
const ANSWER_TIMEOUT_MS = 5_000;

/** The answer, or one sentence when there is none in time. */
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
