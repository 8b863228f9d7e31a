const ID_FIELD = /(?:^|[\r\n])id:[ ]?\S/;

/**
 * A body with a limit: for the whole of it, or for each event where it is a stream of events, which may well be endless.
 * `onEnd` is called once, when there is no more of it. `resumable`: an event had an id, so the rest can be asked for.
 */
export function boundedBody(
  source: ReadableStream<Uint8Array>,
  contentType: string,
  limit: number,
  onEnd: () => void,
): { body: ReadableStream<Uint8Array>; resumable: () => boolean } {
  const isStream = contentType.toLowerCase().startsWith('text/event-stream');
  const reader = source.getReader();
  let bytes = 0;
  let tail = '';
  let hasId = false;
  let over = false;
  const finish = (): void => {
    if (over) return;
    over = true;
    onEnd();
  };
  const measure = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (!isStream) return;
    const text = tail + Buffer.from(chunk).toString('latin1');
    hasId ||= ID_FIELD.test(text);
    const boundary = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
    if (boundary !== -1) bytes = text.length - boundary;
    tail = text.slice(-6);
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          finish();
          controller.close();
          return;
        }
        measure(value);
        if (bytes > limit) throw new Error(`an answer is beyond the limit of ${limit} bytes`);
        controller.enqueue(value);
      } catch (error) {
        finish();
        controller.error(error);
        await reader.cancel().catch(() => undefined);
      }
    },
    async cancel(reason) {
      finish();
      await reader.cancel(reason);
    },
  });
  return { body, resumable: () => hasId };
}
