import { LineCounter, type YAMLMap, isScalar, parseDocument, visit } from 'yaml';

/** Keys that a YAML (or JSON) text repeats within one map, in the order of the text, each with the line of its repetition. Slow to load and to run. */
export function repeatedKeys(text: string): { line: number; key: string }[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: 'silent' });
  const found: { line: number; key: string }[] = [];
  visit(document, {
    Map(_key, map: YAMLMap) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) found.push({ line: lines.linePos(key.range?.[0] ?? 0).line, key: name });
        seen.add(name);
      }
    },
  });
  return found;
}
