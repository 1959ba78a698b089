import { parseGoRequestUri } from '../../net/go-url.ts';
import { label1035Name, labelName, labelValueErrors, qualifiedNameErrors, subdomainName } from '../../api/names.ts';
import { fn, member, overload, type Library } from '../declarations.ts';
import { STRING, listType, optionalType, structType } from '../types.ts';
import type { CelError } from '../values.ts';
import { ArrayList, CelObject, CelOptional, NONE, noSuchOverload, type CelValue } from '../values.ts';

/** Grammars that have names (apiserver/pkg/cel/library/format.go). */
const FORMAT = structType('kubernetes.NamedFormat');

class FormatValue extends CelObject {
  readonly type = FORMAT;
  readonly name: string;
  /** How long the pattern may be that checks it, for costs. */
  readonly maxPatternSize: number;
  /** What is wrong with a text. */
  readonly errorsOf: (text: string) => string[];

  constructor(name: string, maxPatternSize: number, errorsOf: (text: string) => string[]) {
    super();
    this.name = name;
    this.maxPatternSize = maxPatternSize;
    this.errorsOf = errorsOf;
  }

  override equals(other: CelValue): boolean | CelError {
    return other instanceof FormatValue ? this.name === other.name : noSuchOverload();
  }

  toString(): string {
    return this.name;
  }
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/s;

export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return date.getUTCMonth() === Number(match[2]) - 1 && date.getUTCDate() === Number(match[3]);
}

/** As kube-openapi's strfmt, which looks at the first two parts only. */
function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t');
  const match = time === undefined ? null : TIME.exec(time);
  return match !== null && isDate(date!) && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59';
}

const checked =
  (isRight: (text: string) => boolean, complaint: string) =>
  (text: string): string[] =>
    isRight(text) ? [] : [complaint];

function uriErrors(text: string): string[] {
  const url = parseGoRequestUri(text);
  return 'error' in url ? [url.error] : [];
}

const FORMATS: Readonly<Record<string, FormatValue>> = {
  dns1123Label: new FormatValue('DNS1123Label', 30, (text) => labelName(text, false)),
  dns1123Subdomain: new FormatValue('DNS1123Subdomain', 60, (text) => subdomainName(text, false)),
  dns1035Label: new FormatValue('DNS1035Label', 30, (text) => label1035Name(text, false)),
  qualifiedName: new FormatValue('QualifiedName', 60, qualifiedNameErrors),
  dns1123LabelPrefix: new FormatValue('DNS1123LabelPrefix', 30, (text) => labelName(text, true)),
  dns1123SubdomainPrefix: new FormatValue('DNS1123SubdomainPrefix', 60, (text) => subdomainName(text, true)),
  dns1035LabelPrefix: new FormatValue('DNS1035LabelPrefix', 30, (text) => label1035Name(text, true)),
  labelValue: new FormatValue('LabelValue', 40, labelValueErrors),
  uri: new FormatValue('URI', 1103, uriErrors),
  uuid: new FormatValue(
    'uuid',
    70,
    checked((text) => UUID.test(text), 'does not match the UUID format'),
  ),
  byte: new FormatValue(
    'byte',
    84,
    checked((text) => BASE64.test(text), 'invalid base64'),
  ),
  date: new FormatValue('date', 71, checked(isDate, 'invalid date')),
  datetime: new FormatValue('datetime', 71, checked(isDateTime, 'invalid datetime')),
};

function validate({ errorsOf }: FormatValue, text: string): CelValue {
  const errors = errorsOf(text);
  return errors.length === 0 ? NONE : new CelOptional(new ArrayList(errors));
}

export const FORMAT_LIBRARY: Library = {
  functions: [
    fn('validate', member('format-validate', [FORMAT, STRING], optionalType(listType(STRING)), validate)),
    fn(
      'format.named',
      overload('format-named', [STRING], optionalType(FORMAT), (name: string) => (Object.hasOwn(FORMATS, name) ? new CelOptional(FORMATS[name]!) : NONE)),
    ),
    ...Object.entries(FORMATS).map(([name, format]) =>
      fn(
        `format.${name}`,
        overload(`format.${name}`, [], FORMAT, () => format),
      ),
    ),
  ],
};
