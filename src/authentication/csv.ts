/** The input breaks RFC 4180. The message is that of Go's encoding/csv, with lines and columns from 1. */
export class CsvError extends Error {
  constructor(recordLine: number, line: number, column: number, why: string) {
    const record = recordLine === line ? '' : `record on line ${recordLine}; `;
    super(`${record}parse error on line ${line}, column ${column}: ${why}`);
  }
}

/** Records of fields. Empty lines are skipped; a quoted field may hold commas, line breaks and doubled quotes. */
export function parseCsv(text: string): string[][] {
  const reader = new CsvReader(text.replaceAll('\r\n', '\n'));
  const records: string[][] = [];
  for (let record = reader.next(); record !== undefined; record = reader.next()) records.push(record);
  return records;
}

class CsvReader {
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): string[] | undefined {
    while (this.#text[this.#at] === '\n') this.#endLine();
    if (this.#at >= this.#text.length) return undefined;
    const recordLine = this.#line;
    const fields: string[] = [];
    for (;;) {
      fields.push(this.#text[this.#at] === '"' ? this.#quoted(recordLine) : this.#plain(recordLine));
      const separator = this.#text[this.#at];
      if (separator === ',') this.#at++;
      else {
        if (separator === '\n') this.#endLine();
        return fields;
      }
    }
  }

  #plain(recordLine: number): string {
    const start = this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at] !== ',' && this.#text[this.#at] !== '\n') {
      if (this.#text[this.#at] === '"') throw this.#error(recordLine, 'bare " in non-quoted field');
      this.#at++;
    }
    return this.#text.slice(start, this.#at);
  }

  #quoted(recordLine: number): string {
    let field = '';
    this.#at++;
    for (;;) {
      const quote = this.#text.indexOf('"', this.#at);
      const end = quote === -1 ? this.#text.length : quote;
      field += this.#text.slice(this.#at, end);
      this.#advanceOver(end);
      if (quote === -1) throw this.#error(recordLine, 'extraneous or missing " in quoted-field');
      const next = this.#text[quote + 1];
      if (next !== '"') {
        this.#at = quote + 1;
        if (next !== undefined && next !== ',' && next !== '\n') throw this.#error(recordLine, 'extraneous or missing " in quoted-field', -1);
        return field;
      }
      field += '"';
      this.#at = quote + 2;
    }
  }

  /** Keeps count of the lines within a quoted field. */
  #advanceOver(end: number): void {
    for (let newline = this.#text.indexOf('\n', this.#at); newline !== -1 && newline < end; newline = this.#text.indexOf('\n', newline + 1)) {
      this.#line++;
      this.#lineStart = newline + 1;
    }
    this.#at = end;
  }

  #endLine(): void {
    this.#at++;
    this.#line++;
    this.#lineStart = this.#at;
  }

  #error(recordLine: number, why: string, shift = 0): CsvError {
    return new CsvError(recordLine, this.#line, this.#at - this.#lineStart + 1 + shift, why);
  }
}
