import type { ObjectSchema, TypeSchema } from '../../schema/schema.ts';
import type { Descriptions } from './descriptions.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  type: 'string' | 'boolean' | 'integer';
  /** Its description, or the type whose field of this name has it. */
  description: string | { of: string };
}

/** Parameters that are no type's fields have their descriptions under this name. */
const OWN = { of: 'parameters' };

export const nameParameter = (kind: string): Parameter => ({ name: 'name', in: 'path', type: 'string', description: `name of the ${kind}` });
export const NAMESPACE: Parameter = { name: 'namespace', in: 'path', type: 'string', description: OWN };
/** What a proxy passes on. */
export const PATH: Parameter = { name: 'path', in: 'path', type: 'string', description: OWN };
export const PRETTY: Parameter = { name: 'pretty', in: 'query', type: 'string', description: OWN };

/** The member of a parameter, where there is one. */
export function descriptionOf({ name, description }: Parameter, descriptions: Descriptions): { description?: string } {
  const text = typeof description === 'string' ? description : descriptions.ofField(description.of, name);
  return text === '' ? {} : { description: text };
}

/** An options kind as query parameters: its fields of plain types, and lists of such. The same ones at every call. */
export function parametersOf(options: ObjectSchema): readonly Parameter[] {
  const known = knownParameters.get(options);
  if (known) return known;
  const parameters = [...options.fields.values()].flatMap(({ name, type }): Parameter[] => {
    if (name === 'kind' || name === 'apiVersion') return [];
    const plain = plainType(type.type === 'list' ? type.items : type);
    return plain === undefined ? [] : [{ name, in: 'query', type: plain, description: { of: options.name } }];
  });
  knownParameters.set(options, parameters);
  return parameters;
}

const knownParameters = new WeakMap<ObjectSchema, readonly Parameter[]>();

function plainType({ type }: TypeSchema): Parameter['type'] | undefined {
  if (type === 'int32' || type === 'int64') return 'integer';
  return type === 'string' || type === 'boolean' ? type : undefined;
}

/** As documents list them; those of one name by where they stand. */
export const compareParameters = (a: Parameter, b: Parameter): number => (a.name === b.name ? compareText(a.in, b.in) : compareText(a.name, b.name));

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
