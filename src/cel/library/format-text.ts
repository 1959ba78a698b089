import { CelError, typeOf, type CelList, type CelValue } from '../values.ts';
import { type Clause, FORMAT_CLAUSES } from './format-clauses.ts';

const DEFAULT_PRECISION = 6;
/** Go prints nothing sensible beyond a million; nobody needs a thousand. */
const MAX_PRECISION = 1_000;

/** A template taken apart: texts and clauses in turn. The message of an error is cel-go's. */
export type TemplatePart = string | { clause: Clause; precision: number };

/** The parts up to what cannot be read. `argumentCount` of them are at hand. */
export function parseTemplate(template: string, argumentCount: number): { parts: TemplatePart[]; error: CelError | undefined } {
  const parts: TemplatePart[] = [];
  let used = 0;
  const fail = (message: string): { parts: TemplatePart[]; error: CelError } => ({ parts, error: new CelError(message) });
  for (let index = 0; index < template.length;) {
    const percent = template.indexOf('%', index);
    parts.push(template.slice(index, percent === -1 ? undefined : percent));
    if (percent === -1) break;
    if (template[percent + 1] === '%') {
      parts.push('%');
      index = percent + 2;
      continue;
    }
    if (used >= argumentCount) return fail(`index ${used} out of range`);
    if (percent + 1 >= template.length) return fail('unexpected end of string');
    const clause = parseClause(template.slice(percent + 1));
    if ('error' in clause) return fail(`could not parse formatting clause: ${clause.error}`);
    parts.push({ clause: clause.clause, precision: clause.precision });
    used++;
    index = percent + 1 + clause.length;
  }
  return { parts, error: undefined };
}

function parseClause(text: string): { clause: Clause; precision: number; length: number } | { error: string } {
  const dotted = /^\.(\d*)/.exec(text);
  const letter = text[dotted?.[0].length ?? 0];
  if (dotted !== null && letter === undefined) return { error: 'error while parsing precision: could not find end of precision specifier' };
  if (dotted !== null && dotted[1] === '') {
    return { error: 'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax' };
  }
  const precision = dotted === null ? DEFAULT_PRECISION : Number(dotted[1]);
  if (precision > MAX_PRECISION) return { error: `error while parsing precision: precision ${dotted![1]} is too large` };
  if (!Object.hasOwn(FORMAT_CLAUSES, letter!)) return { error: `unrecognized formatting clause "${letter}"` };
  return { clause: FORMAT_CLAUSES[letter!]!, precision, length: (dotted?.[0].length ?? 0) + 1 };
}

/** The template with its clauses replaced by the arguments. */
export function formatText(template: string, args: CelList): CelValue {
  const { parts, error } = parseTemplate(template, args.size);
  let text = '';
  let next = 0;
  for (const part of parts) {
    const piece = typeof part === 'string' ? part : writeArgument(part.clause, args.get(next++), part.precision);
    if (piece instanceof CelError) return new CelError(`error during formatting: ${piece.message}`);
    text += piece;
  }
  return error ?? text;
}

function writeArgument(clause: Clause, value: CelValue, precision: number): string | CelError {
  const type = typeOf(value);
  return clause.accepts.includes(type.kind) ? clause.write(value, precision) : new CelError(`${clause.complaint}, was given ${type.name}`);
}
