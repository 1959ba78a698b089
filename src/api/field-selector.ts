import { LIMITS } from '../util/limits.ts';
import { SelectorSyntaxError, tooManyRequirements } from './label-selector.ts';

/** A parsed field selector. Grammar and errors: apimachinery/pkg/fields. */
export interface FieldSelector {
  readonly isEmpty: boolean;
  readonly requirements: readonly FieldRequirement[];
  /** The value that `field` must have, where the selector says so: for a list of one. */
  exactMatch(field: string): string | undefined;
  matches(valueOf: (field: string) => string): boolean;
  toString(): string;
}

export interface FieldRequirement {
  field: string;
  operator: '=' | '!=';
  value: string;
}

export const EVERY_FIELD: FieldSelector = fieldSelectorOf([]);

/** Throws SelectorSyntaxError. */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return EVERY_FIELD;
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).toSorted()) {
    const parts = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (parts === null) throw new SelectorSyntaxError(`invalid selector: '${text}'; can't understand '${term}'`);
    const value = unescapeValue(parts[3]!);
    // A lone operator asks for nothing (Selector.Transform).
    if (parts[1] !== '' || value !== '') requirements.push({ field: parts[1]!, operator: parts[2] === '!=' ? '!=' : '=', value });
  }
  return requirements.length === 0 ? EVERY_FIELD : fieldSelectorOf(requirements);
}

export function fieldSelectorOf(requirements: readonly FieldRequirement[]): FieldSelector {
  let demands: FieldDemand[] | undefined;
  return {
    isEmpty: requirements.length === 0,
    requirements,
    exactMatch: (field) => requirements.find((r) => r.field === field && r.operator === '=')?.value,
    matches: (valueOf) => (demands ??= demandsOf(requirements)).every((demand) => meets(demand, valueOf(demand.field))),
    toString: () => requirements.map((r) => `${r.field}${r.operator}${escapeValue(r.value)}`).join(','),
  };
}

/** All that a selector's requirements say of one field: however many they are, its value is looked up. */
interface FieldDemand {
  field: string;
  /** One at most can be met; none: any. */
  wanted: Set<string>;
  unwanted: Set<string>;
}

function demandsOf(requirements: readonly FieldRequirement[]): FieldDemand[] {
  const demands = new Map<string, FieldDemand>();
  for (const { field, operator, value } of requirements) {
    let demand = demands.get(field);
    if (demand === undefined) demands.set(field, (demand = { field, wanted: new Set(), unwanted: new Set() }));
    (operator === '=' ? demand.wanted : demand.unwanted).add(value);
  }
  return [...demands.values()];
}

const meets = ({ wanted, unwanted }: FieldDemand, value: string): boolean =>
  (wanted.size === 0 || (wanted.size === 1 && wanted.has(value))) && !unwanted.has(value);

/** Terms between commas, but for the empty ones, which ask for nothing; a comma behind a backslash is data. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      if (at > start) terms.push(text.slice(start, at));
      if (terms.length > LIMITS.selectorRequirements) throw tooManyRequirements();
      start = at + 1;
    }
  }
  if (start < text.length) terms.push(text.slice(start));
  if (terms.length > LIMITS.selectorRequirements) throw tooManyRequirements();
  return terms;
}

const escapeValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

function unescapeValue(text: string): string {
  let value = '';
  const chars = [...text];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!;
    if (char === '\\') {
      const next = chars[++at] ?? '';
      if (next === '' || !'\\,='.includes(next)) throw new SelectorSyntaxError(`invalid field selector: invalid escape sequence: \\${next}`);
      value += next;
    } else if (char === ',' || char === '=') {
      // Upstream prints the character's number.
      throw new SelectorSyntaxError(`invalid field selector: unescaped character in value: ${char.codePointAt(0)}`);
    } else value += char;
  }
  return value;
}
