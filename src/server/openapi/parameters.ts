import type { ObjectSchema, TypeSchema } from '../../schema/schema.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  type: 'string' | 'boolean' | 'integer';
}

export const NAME: Parameter = { name: 'name', in: 'path', type: 'string' };
export const NAMESPACE: Parameter = { name: 'namespace', in: 'path', type: 'string' };
/** What a proxy passes on. */
export const PATH: Parameter = { name: 'path', in: 'path', type: 'string' };
export const PRETTY: Parameter = { name: 'pretty', in: 'query', type: 'string' };

/** An options kind as query parameters: its fields of plain types, and lists of such. */
export function parametersOf(options: ObjectSchema): Parameter[] {
  return [...options.fields.values()].flatMap(({ name, type }): Parameter[] => {
    if (name === 'kind' || name === 'apiVersion') return [];
    const plain = plainType(type.type === 'list' ? type.items : type);
    return plain === undefined ? [] : [{ name, in: 'query', type: plain }];
  });
}

function plainType({ type }: TypeSchema): Parameter['type'] | undefined {
  if (type === 'int32' || type === 'int64') return 'integer';
  return type === 'string' || type === 'boolean' ? type : undefined;
}

/** As documents list them; those of one name by where they stand. */
export const compareParameters = (a: Parameter, b: Parameter): number => (a.name === b.name ? compareText(a.in, b.in) : compareText(a.name, b.name));

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
