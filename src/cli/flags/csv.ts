/** The fields of one CSV line, as Go's encoding/csv reads it: a field may stand in quotes, where `""` is a quote. */
export function splitCsv(line: string): string[] {
  const fields: string[] = [];
  let at = 0;
  while (at <= line.length) {
    const [field, end] = line[at] === '"' ? quotedField(line, at) : plainField(line, at);
    fields.push(field);
    at = end + 1;
  }
  return fields;
}

type FieldAndEnd = [field: string, end: number];

function plainField(line: string, start: number): FieldAndEnd {
  const comma = line.indexOf(',', start);
  const end = comma < 0 ? line.length : comma;
  const field = line.slice(start, end);
  if (field.includes('"')) throw new Error(`parse error on line 1, column ${start + field.indexOf('"') + 1}: bare " in non-quoted-field`);
  return [field, end];
}

function quotedField(line: string, start: number): FieldAndEnd {
  const match = /"((?:[^"]|"")*)"(?=,|$)/y;
  match.lastIndex = start;
  const found = match.exec(line);
  if (!found) throw new Error(`parse error on line 1, column ${line.length + 1}: extraneous or missing " in quoted-field`);
  return [found[1]!.replaceAll('""', '"'), match.lastIndex];
}
