import type { CustomResourceDefinitionSpec } from '../facts/types/apiextensions-v1.ts';
import { internalSpec } from './internal-spec.ts';
import { someSchema } from './schema-walk.ts';

/** Formats that are enforced, by type. A string's are named without regard to dashes (apiextensions-apiserver/pkg/apiserver/validation). */
const STRING_FORMATS = new Set(
  (
    'bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor byte password date duration datetime ' +
    'k8sshortname k8slongname'
  ).split(' '),
);
const NUMBER_FORMATS: Record<string, readonly string[]> = { integer: ['int32', 'int64'], number: ['float', 'double'] };

/** Formats that no value is checked against, in the order of the schemas; one of all versions once. */
export function unknownFormats(spec: CustomResourceDefinitionSpec): string[] {
  const { validation, versions } = internalSpec(spec);
  const formats: string[] = [];
  for (const schema of [validation, ...versions.map((version) => version.schema)]) {
    someSchema(schema?.openAPIV3Schema, ({ format = '', type = '' }) => {
      if (format !== '' && !isKnown(format, type)) formats.push(format);
      return false;
    });
  }
  return formats;
}

function isKnown(format: string, type: string): boolean {
  if (type === '' || type === 'string') return STRING_FORMATS.has(format.replaceAll('-', ''));
  return Object.hasOwn(NUMBER_FORMATS, type) && NUMBER_FORMATS[type]!.includes(format);
}
