/**
 * Reads a stream of JSON documents, one a line, and hands over those that came together: a watch that is behind is then worked off in few steps.
 * The last line counts without its line break too.
 */
export async function readJsonLines(body: ReadableStream<Uint8Array>, onDocuments: (documents: unknown[]) => void): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + (value === undefined ? decoder.decode() : decoder.decode(value, { stream: true }))).split('\n');
    rest = done ? '' : lines.pop()!;
    const documents = lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as unknown);
    if (documents.length > 0) onDocuments(documents);
    if (done) return;
  }
}
