import type { TypeProvider } from '../declarations.ts';
import { structType, type CelType } from '../types.ts';

/** Types of objects by a table of their fields, under the names that data has. Values of them are maps, such as `jsonValue` makes. */
export function recordTypes(table: Readonly<Record<string, Readonly<Record<string, CelType>>>>): TypeProvider {
  const types = new Map(Object.entries(table).map(([name, fields]) => [name, { type: structType(name), fields: new Map(Object.entries(fields)) }]));
  return { findType: (name) => types.get(name)?.type, findField: (name, field) => types.get(name)?.fields.get(field) };
}
