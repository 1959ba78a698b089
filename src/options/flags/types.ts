import { isIP } from 'node:net';
import { formatDuration, parseDuration } from '../../util/duration.ts';

/**
 * The syntax of a flag's value, as pflag and component-base/cli/flag define it. `parse` throws an Error whose message is the cause that the
 * parser reports.
 */
export interface FlagType<Value, Suffix extends string = string> {
  /** What `--help` calls the value; empty where a flag needs none. */
  readonly label: string;
  /** The unit of the number, at the end of the option's name: `requestTimeoutMs`. */
  readonly suffix: Suffix;
  readonly zero: Value;
  /** The text that a flag without a value stands for: `--x` is `--x=true`. Undefined: a value must follow. */
  readonly implied?: string;
  /** `previous` is what earlier occurrences of the flag gave: undefined at the first one, which replaces the default. */
  parse(text: string, previous: Value | undefined): Value;
  /** As `--help` shows a default. */
  format(value: Value): string;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** A certificate for the names that clients ask for by SNI; with no names, those of the certificate. */
export interface NamedCertKey {
  readonly certFile: string;
  readonly keyFile: string;
  readonly names: readonly string[];
}

const invalidSyntax = (goFunction: string, text: string): Error => new Error(`strconv.${goFunction}: parsing ${JSON.stringify(text)}: invalid syntax`);

const trueTexts = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falseTexts = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

export function parseBool(text: string): boolean {
  if (trueTexts.has(text)) return true;
  if (falseTexts.has(text)) return false;
  throw invalidSyntax('ParseBool', text);
}

function parseInteger(text: string): number {
  const match = /^([+-]?)(\d+|0x[0-9a-f]+|0o[0-7]+|0b[01]+)$/i.exec(text);
  if (!match) throw invalidSyntax('ParseInt', text);
  const [, sign, digits] = match;
  const isOldOctal = /^0[0-7]+$/.test(digits!);
  const magnitude = isOldOctal ? Number.parseInt(digits!, 8) : Number(digits);
  if (!Number.isSafeInteger(magnitude)) throw new Error(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  return sign === '-' ? 0 - magnitude : magnitude;
}

function parseFloat64(text: string): number {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw invalidSyntax('ParseFloat', text);
  return Number(text);
}

export const bool: FlagType<boolean, ''> = { label: '', suffix: '', zero: false, implied: 'true', parse: parseBool, format: String };
export const string: FlagType<string, ''> = { label: 'string', suffix: '', zero: '', parse: (text) => text, format: (value) => JSON.stringify(value) };
/** The path of a file that must be readable when the flag is given. */
export const file: FlagType<string, ''> = { ...string };
export const int: FlagType<number, ''> = { label: 'int', suffix: '', zero: 0, parse: parseInteger, format: String };
export const seconds: FlagType<number, 'Seconds'> = { ...int, suffix: 'Seconds' };
export const uint: FlagType<number, ''> = {
  ...int,
  label: 'uint',
  parse(text) {
    const value = parseInteger(text);
    if (value < 0) throw invalidSyntax('ParseUint', text);
    return value;
  },
};
/** A verbosity, 0 to 2^31 - 1. */
export const level: FlagType<number, ''> = { ...uint, label: 'Level' };
export const float: FlagType<number, ''> = { label: 'float', suffix: '', zero: 0, parse: parseFloat64, format: String };
export const float32: FlagType<number, ''> = { ...float, label: 'float32' };

/** Go's syntax: `1h30m`, `1.5s`, `300ms`. */
export const duration: FlagType<number, 'Ms'> = {
  label: 'duration',
  suffix: 'Ms',
  zero: 0,
  parse: (text) => parseDuration(text),
  format: (valueMs) => formatDuration(valueMs),
};

export const ip: FlagType<string, ''> = {
  label: 'ip',
  suffix: '',
  zero: '',
  parse(text) {
    const address = text.trim();
    if (address !== '' && isIP(address) === 0) throw new Error(`failed to parse IP: ${JSON.stringify(address)}`);
    return address;
  },
  format: (value) => value,
};

const bracketed = (items: readonly string[]): string => `[${items.join(',')}]`;

/** Comma separated, repeatable; a value with a comma in it is quoted as in CSV. */
export const strings: FlagType<readonly string[], ''> = {
  label: 'strings',
  suffix: '',
  zero: [],
  parse: (text, previous = []) => [...previous, ...(text === '' ? [] : splitCsv(text))],
  format: bracketed,
};

/** Repeatable, one value each time; commas are part of it. */
export const stringArray: FlagType<readonly string[], ''> = { ...strings, label: 'stringArray', parse: (text, previous = []) => [...previous, text] };

export const int32Slice: FlagType<readonly number[], ''> = {
  label: 'int32Slice',
  suffix: '',
  zero: [],
  parse: (text, previous = []) => [...previous, ...text.split(',').map((part) => parseInteger(part))],
  format: (value) => bracketed(value.map(String)),
};

type StringMap = ReadonlyMap<string, string>;

const formatPairs = (map: StringMap): string =>
  [...map]
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(',');

/** The two sides of the first separator, trimmed; the right one undefined where there is none. */
function splitPair(text: string, separator: string): [left: string, right: string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text.trim(), undefined] : [text.slice(0, at).trim(), text.slice(at + separator.length).trim()];
}

const nonEmptyParts = (text: string): string[] => text.split(',').filter((part) => part !== '');

/** `a=b,c`: a key without a value has the empty one (cliflag.ConfigurationMap). */
export const configurationMap: FlagType<StringMap, ''> = {
  label: 'mapStringString',
  suffix: '',
  zero: new Map(),
  parse(text, previous) {
    const map = new Map(previous);
    for (const part of nonEmptyParts(text)) {
      const [key, value] = splitPair(part, '=');
      map.set(key, value ?? '');
    }
    return map;
  },
  format: formatPairs,
};

/** One `key=value` an occurrence; commas belong to the value (cliflag.MapStringString with NoSplit). */
export const singlePairMap: FlagType<StringMap, ''> = {
  ...configurationMap,
  parse(text, previous) {
    const [key, value] = splitPair(text, '=');
    if (value === undefined) throw new Error('malformed pair, expect string=string');
    return new Map(previous).set(key, value);
  },
};

/** `a=b,c=d`; a value with commas is quoted as in CSV, and a single pair needs no quotes (pflag.StringToString). */
export const stringToString: FlagType<StringMap, ''> = {
  ...configurationMap,
  label: 'stringToString',
  parse(text, previous) {
    const map = new Map(previous);
    const pairs = text.split('=').length === 2 ? [text.replace(/^"|"$/g, '')] : splitCsv(text);
    for (const pair of pairs) {
      const [key, value] = splitPair(pair, '=');
      if (value === undefined) throw new Error(`${pair} must be formatted as key=value`);
      map.set(key, value);
    }
    return map;
  },
};

/** `component:key=value,…`; without a component the key is the empty one (cliflag.ColonSeparatedMultimapStringString). */
export const colonSeparatedMultimap: FlagType<ReadonlyMap<string, readonly string[]>, ''> = {
  label: 'colonSeparatedMultimapStringString',
  suffix: '',
  zero: new Map(),
  parse(text, previous) {
    const map = new Map(previous);
    for (const part of nonEmptyParts(text)) {
      const [left, right] = splitPair(part, ':');
      const key = right === undefined ? '' : left;
      map.set(key, [...(map.get(key) ?? []), right ?? left]);
    }
    return map;
  },
  format: (value) => [...value].flatMap(([key, items]) => items.map((item) => `${key}:${item}`)).join(','),
};

export const namedCertKeys: FlagType<readonly NamedCertKey[], ''> = {
  label: 'namedCertKey',
  suffix: '',
  zero: [],
  parse(text, previous = []) {
    const [files, names] = splitPair(text, ':');
    if (names === '') throw new Error('empty names list is not allowed');
    const [certFile, keyFile, ...more] = files.split(',').map((part) => part.trim());
    if (certFile === undefined || keyFile === undefined || more.length > 0) throw new Error('expected comma separated certificate and key file paths');
    return [...previous, { certFile, keyFile, names: names?.split(',').map((name) => name.trim()) ?? [] }];
  },
  format: (value) => `[${value.map(({ certFile, keyFile, names }) => `${certFile},${keyFile}${names.length > 0 ? `:${names.join(',')}` : ''}`).join(';')}]`,
};

/** `30000-32767`, `30000+100` or one port; inclusive (apimachinery/pkg/util/net.PortRange). */
export const portRange: FlagType<PortRange, ''> = {
  label: 'portRange',
  suffix: '',
  zero: { first: 0, last: 0 },
  parse(text) {
    const range = text.trim();
    if (range === '') return portRange.zero;
    const match = /^([^-+]*)(?:([-+])([^-+]*))?$/.exec(range);
    if (!match) throw new Error(`unable to parse port range: ${range}`);
    const first = parseInteger(match[1]!);
    const second = match[3] === undefined ? first : parseInteger(match[3]);
    const last = match[2] === '+' ? first + second : second;
    if (first > 65_535 || last > 65_535) throw new Error(`the port range cannot be greater than 65535: ${range}`);
    if (last < first) throw new Error(`end port cannot be less than start port: ${range}`);
    return { first, last };
  },
  format: ({ first, last }) => `${first}-${last}`,
};

/** A size such as 512, 1K or 2Ki, kept as written. */
export const quantity: FlagType<string, ''> = {
  label: 'quantity',
  suffix: '',
  zero: '0',
  parse(text) {
    if (!/^[+-]?(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/.test(text)) {
      throw new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    }
    return text;
  },
  format: (value) => value,
};

/** `pattern=N,…`, kept as written. */
export const verbosityByModule: FlagType<string, ''> = {
  label: 'pattern=N,...',
  suffix: '',
  zero: '',
  parse(text) {
    for (const part of nonEmptyParts(text)) {
      if (!/^[^=]+=\d+$/.test(part)) throw new Error(`${JSON.stringify(part)} does not have the pattern=N format`);
    }
    return text;
  },
  format: (value) => value,
};

/** `true`, `false`, `raw`, or a `vX.Y.Z-…` to report in place of the built-in version (component-base/version/verflag). */
export const version: FlagType<string, ''> = {
  label: 'version[=true]',
  suffix: '',
  zero: 'false',
  implied: 'true',
  parse: (text) => (text === 'raw' || text.startsWith('v') ? text : String(parseBool(text))),
  format: (value) => value,
};

/** The fields of one CSV line, as Go's encoding/csv reads it: a field may stand in quotes, where `""` is a quote. */
function splitCsv(line: string): string[] {
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
