/**
 * The grammars of names, labels and keys. Each function answers with what is wrong, in upstream's words; an empty list means the value is good.
 * Rules: apimachinery/pkg/api/validate/content, apimachinery/pkg/util/validation.
 */
const DNS1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
export const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`;
const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;

// The expressions below are linear: each repeated group starts with a character that what precedes it cannot end with, or is anchored by a dot.
const whole = (expression: string): RegExp => new RegExp(`^(?:${expression})$`);
const dns1123LabelExpression = whole(DNS1123_LABEL);
const dns1035LabelExpression = whole(DNS1035_LABEL);
const qualifiedNameExpression = whole(QUALIFIED_NAME);

const LABEL_MAX_BYTES = 63;
const SUBDOMAIN_MAX_BYTES = 253;

export const maxLengthError = (maxBytes: number): string => `must be no more than ${maxBytes} bytes`;
/** Rules that upstream has not moved to its newer package still speak of characters. */
export const maxCharactersError = (maxBytes: number): string => `must be no more than ${maxBytes} characters`;

/** `… (e.g. 'a',  or 'b', regex used for validation is '…')`: the odd spacing is upstream's, and clients match on it. */
export function patternError(message: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  return `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`;
}

export function dns1123LabelErrors(value: string): string[] {
  const errors: string[] = [];
  if (value.length > LABEL_MAX_BYTES) errors.push(maxCharactersError(LABEL_MAX_BYTES));
  if (dns1123LabelExpression.test(value)) return errors;
  const message = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  errors.push(isSubdomain(value) ? 'must not contain dots' : patternError(message, DNS1123_LABEL, 'my-name', '123-abc'));
  return errors;
}

/** What stands in no subdomain: other characters, and a label that is empty or begins or ends with a dash. One expression over the whole could backtrack. */
const notInSubdomain = /[^-.a-z0-9]|^[-.]|[-.]$|\.[-.]|-\./;
const isSubdomain = (value: string): boolean => value !== '' && !notInSubdomain.test(value);

const SUBDOMAIN_ERROR = patternError(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  DNS1123_SUBDOMAIN,
  'example.com',
);

/** `formError` is what is told of a value of another form. */
export function dns1123SubdomainErrors(value: string, formError: string = SUBDOMAIN_ERROR): string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(value) > SUBDOMAIN_MAX_BYTES) errors.push(maxCharactersError(SUBDOMAIN_MAX_BYTES));
  if (!isSubdomain(value)) errors.push(formError);
  return errors;
}

export function dns1035LabelErrors(value: string): string[] {
  const errors: string[] = [];
  if (value.length > LABEL_MAX_BYTES) errors.push(maxCharactersError(LABEL_MAX_BYTES));
  if (!dns1035LabelExpression.test(value)) {
    const message =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    errors.push(patternError(message, DNS1035_LABEL, 'my-name', 'abc-123'));
  }
  return errors;
}

const QUALIFIED_NAME_ERROR = patternError(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_NAME,
  'MyName',
  'my.name',
  '123-abc',
);

/** A label key: `[prefix/]name`. */
export function qualifiedNameErrors(value: string): string[] {
  // Most have no prefix and nothing wrong with them.
  if (value.length <= LABEL_MAX_BYTES && qualifiedNameExpression.test(value)) return [];
  const parts = value.split('/');
  if (parts.length > 2) return [`a valid label key ${QUALIFIED_NAME_ERROR} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const errors: string[] = [];
  if (parts.length === 2) {
    if (parts[0] === '') errors.push('prefix part must be non-empty');
    else errors.push(...dns1123SubdomainErrors(parts[0]!).map((error) => `prefix part ${error.replace(/ characters$/, ' bytes')}`));
  }
  const name = parts.at(-1)!;
  if (name === '') errors.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > LABEL_MAX_BYTES) errors.push(`name part ${maxLengthError(LABEL_MAX_BYTES)}`);
  if (!qualifiedNameExpression.test(name)) errors.push(`name part ${QUALIFIED_NAME_ERROR}`);
  return errors;
}

export function labelValueErrors(value: string): string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(value) > LABEL_MAX_BYTES) errors.push(maxLengthError(LABEL_MAX_BYTES));
  if (value !== '' && !qualifiedNameExpression.test(value)) {
    const message =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    errors.push(patternError(message, LABEL_VALUE, 'MyValue', 'my_value', '12345'));
  }
  return errors;
}

/** A key of a ConfigMap or Secret, which becomes a file's name in a volume. */
export function configMapKeyErrors(value: string): string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(value) > SUBDOMAIN_MAX_BYTES) errors.push(maxCharactersError(SUBDOMAIN_MAX_BYTES));
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) {
    errors.push(
      patternError("a valid config key must consist of alphanumeric characters, '-', '_' or '.'", '[-._a-zA-Z0-9]+', 'key.name', 'KEY_NAME', 'key-name'),
    );
  }
  if (value === '.' || value === '..') errors.push(`must not be '${value}'`);
  else if (value.startsWith('..')) errors.push("must not start with '..'");
  return errors;
}

const NOT_IN_SEGMENTS = ['/', '%'];

/** What may stand as one segment of a path or a storage key. */
export function pathSegmentErrors(name: string, isPrefix = false): string[] {
  if (!isPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return NOT_IN_SEGMENTS.filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

/** A rule for names, as `NamingRules.errors` takes it: a prefix may end in a dash. */
export type NameRule = (name: string, isPrefix: boolean) => string[];

const forPrefixes =
  (rule: (value: string) => string[]): NameRule =>
  (name, isPrefix) =>
    // Upstream cuts two characters off, not one (maskTrailingDash); a prefix of two characters passes as 'a'.
    rule(isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name);

export const subdomainName: NameRule = forPrefixes(dns1123SubdomainErrors);
export const labelName: NameRule = forPrefixes(dns1123LabelErrors);
export const label1035Name: NameRule = forPrefixes(dns1035LabelErrors);
export const pathSegmentName: NameRule = (name, isPrefix) => pathSegmentErrors(name, isPrefix);
