/** Facts by their path in the set of facts: the text of each file. */
export type FactFiles = Map<string, string>;

const WIDTH = 160;

/**
 * JSON that people can compare: what fits a line stays on one, so that a changed field is a changed line and a file does not grow far beyond its content.
 * `depth` levels are opened in any case.
 */
export function printJson(value: unknown, depth = 1): string {
  return `${print(value, '', depth)}\n`;
}

function print(value: unknown, indent: string, depth: number): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || (depth <= 0 && indent.length + line.length <= WIDTH)) return line;
  const inner = `${indent} `;
  const items = Array.isArray(value)
    ? value.map((item) => `\n${inner}${print(item, inner, depth - 1)}`)
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `\n${inner}${JSON.stringify(key)}: ${print(item, inner, depth - 1)}`);
  if (items.length === 0) return line;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}${items.join(',')}\n${indent}${close}`;
}

/** One line an entry, however long: for tables whose entries are looked at one by one. */
export function printLines(value: Record<string, unknown> | readonly unknown[]): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]\n' : `[\n${value.map((item) => JSON.stringify(item)).join(',\n')}\n]\n`;
  const lines = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${JSON.stringify(item)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}
