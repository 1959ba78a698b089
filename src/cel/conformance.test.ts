import { describe, expect, it } from 'vitest';
import { compile } from './cel.ts';
import { equal } from './compare.ts';
import { formatLiteral } from './convert.ts';
import { fn, member, overload, type FunctionDeclaration, type Library } from './declarations.ts';
import { Environment } from './environment.ts';
import { BINDINGS_LIBRARY, TWO_VARIABLE_LIBRARY } from './library/comprehensions.ts';
import { ENCODERS_LIBRARY } from './library/encoders.ts';
import { SPECIFIED_STYLE } from './library/format-styles.ts';
import { MATH_LIBRARY } from './library/math.ts';
import { OPTIONAL_LIBRARY } from './library/optional.ts';
import { STANDARD_LIBRARY } from './library/standard.ts';
import { REVERSE_LIBRARY, stringsLibrary } from './library/strings.ts';
import { MacroError, type Macro } from './macro.ts';
import { parseDurationText, parseTimestamp } from './time.ts';
import * as types from './types.ts';
import { ArrayList, CelDouble, CelError, CelUint, EntryMap, canonicalInt, type CelValue } from './values.ts';

/** The cases of CEL's specification that need no protobuf messages, from the development dependency @bufbuild/cel-spec; skipped where it is not installed. */
interface Suite {
  name: string;
  suites?: Suite[];
  tests?: Case[];
}

interface Case {
  original: {
    name?: string;
    expr: string;
    container?: string;
    typeEnv?: Declaration[];
    bindings?: Record<string, { value: SpecValue }>;
    value?: SpecValue;
    evalError?: unknown;
    typedResult?: { result?: SpecValue; deducedType?: SpecType };
    checkOnly?: boolean;
    disableCheck?: boolean;
    disableMacros?: boolean;
  };
  ast?: string;
  checkedAst?: string;
  type?: string;
  error?: string;
}

type SpecType = Record<string, unknown>;
type SpecValue = Record<string, unknown>;
interface Declaration {
  name: string;
  ident?: { type: SpecType };
  function?: { overloads: { overloadId: string; params?: SpecType[]; resultType: SpecType; isInstanceFunction?: boolean }[] };
}

const base = process.env['CEL_SPEC'] ?? '@bufbuild/cel-spec';

async function load(name: string): Promise<Suite | undefined> {
  try {
    return ((await import(/* @vite-ignore */ `${base}/testdata/${name}.js`)) as { tests: Suite }).tests;
  } catch {
    return undefined;
  }
}

const conformance = await load('conformance');

const NEEDS_MESSAGES = /TestAllTypes|TestRequired|container":"google.protobuf|NestedTestAllTypes|GlobalEnum|NestedEnum|messageType|_ext\b|google\.protobuf\.(?!Timestamp|Duration)\w+|objectValue.*type\.googleapis\.com\/(?!google\.protobuf\.(?:Timestamp|Duration))|enumValue/;

/** Cases that fail, and why that is right here. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

function casesOf(suite: Suite, path = ''): [name: string, test: Case][] {
  const own = (suite.tests ?? []).map((test, index): [string, Case] => [`${path}/${test.original.name ?? index}`, test]);
  return [...own, ...(suite.suites ?? []).flatMap((inner) => casesOf(inner, `${path}/${inner.name}`))];
}

const PRIMITIVES: Record<string, types.CelType> = {
  BOOL: types.BOOL,
  BYTES: types.BYTES,
  DOUBLE: types.DOUBLE,
  INT64: types.INT,
  STRING: types.STRING,
  UINT64: types.UINT,
};

function typeOf(spec: SpecType): types.CelType {
  const [kind, value] = Object.entries(spec)[0]!;
  const inner = value as Record<string, SpecType>;
  switch (kind) {
    case 'primitive':
      return PRIMITIVES[value as string]!;
    case 'wrapper':
      return types.nullableType(PRIMITIVES[value as string]!);
    case 'wellKnown':
      return { TIMESTAMP: types.TIMESTAMP, DURATION: types.DURATION, ANY: types.ANY }[value as string]!;
    case 'listType':
      return types.listType(typeOf(inner['elemType']!));
    case 'mapType':
      return types.mapType(typeOf(inner['keyType']!), typeOf(inner['valueType']!));
    case 'typeParam':
      return types.paramType(value as string);
    case 'messageType':
      return types.structType(value as string);
    case 'abstractType':
      return types.opaqueType(String(inner['name']), ...((inner['parameterTypes'] as unknown as SpecType[] | undefined) ?? []).map(typeOf));
    case 'type':
      return Object.keys(inner).length === 0 ? types.TYPE : types.typeType(typeOf(inner as unknown as SpecType));
    case 'null':
      return types.NULL;
    default:
      return types.DYN;
  }
}

function valueOf(spec: SpecValue): CelValue {
  const [kind, value] = Object.entries(spec)[0]!;
  switch (kind) {
    case 'int64Value':
      return canonicalInt(BigInt(value as string));
    case 'uint64Value':
      return new CelUint(BigInt(value as string));
    case 'doubleValue':
      return new CelDouble(Number(value));
    case 'stringValue':
    case 'boolValue':
      return value as string | boolean;
    case 'bytesValue':
      return Buffer.from(value as string, 'base64');
    case 'listValue':
      return new ArrayList(((value as { values?: SpecValue[] }).values ?? []).map(valueOf));
    case 'mapValue': {
      const map = new EntryMap();
      for (const entry of (value as { entries?: { key: SpecValue; value: SpecValue }[] }).entries ?? []) map.set(valueOf(entry.key), valueOf(entry.value));
      return map;
    }
    case 'typeValue':
      return types.structType(value as string);
    case 'objectValue': {
      const { '@type': type, value: text } = value as { '@type': string; value: string };
      return (type.endsWith('Duration') ? parseDurationText(text) : parseTimestamp(text))!;
    }
    default:
      return null;
  }
}

/** `cel.block([…], …)`, which only the specification's own cases use, as bindings inside of each other. */
const blockMacros: readonly Macro[] = [
  {
    name: 'block',
    argumentCount: 2,
    isReceiver: true,
    expand({ make, args: [slots, result] }) {
      if (slots!.kind !== 'list') throw new MacroError(slots!.offset, 'not a list');
      return slots!.elements.reduceRight((inner, slot, index) => make.bind(`@index${index}`, slot, inner), result!);
    },
  },
  ...['index', 'iterVar', 'accuVar'].map(
    (name): Macro => ({
      name,
      argumentCount: undefined,
      isReceiver: true,
      expand: ({ make, args }) => make.ident(`@${name}${args.map((arg) => (arg.kind === 'literal' ? String(arg.value) : '')).join(':')}`),
    }),
  ),
];

const LIBRARIES: readonly Library[] = [
  STANDARD_LIBRARY,
  OPTIONAL_LIBRARY,
  stringsLibrary(SPECIFIED_STYLE),
  REVERSE_LIBRARY,
  MATH_LIBRARY,
  ENCODERS_LIBRARY,
  BINDINGS_LIBRARY,
  TWO_VARIABLE_LIBRARY,
  { macros: blockMacros },
];

const environment = new Environment({ libraries: LIBRARIES, hasEscapedNames: true, isStrict: false });

function environmentOf({ container = '', typeEnv = [] }: Case['original']): Environment {
  const variables = Object.fromEntries(typeEnv.flatMap(({ name, ident }) => (ident ? [[name, typeOf(ident.type)]] : [])));
  const functions = typeEnv.flatMap((declaration): FunctionDeclaration[] => {
    const overloads = declaration.function?.overloads.map(({ overloadId, params = [], resultType, isInstanceFunction }) =>
      (isInstanceFunction ? member : overload)(overloadId, params.map(typeOf), typeOf(resultType)),
    );
    return overloads ? [fn(declaration.name, ...overloads)] : [];
  });
  return environment.extend({ container, variables, libraries: functions.length > 0 ? [{ functions }] : [] });
}

/** Undefined where the case is as it should be, else what came instead. */
function run({ original }: Case): string | undefined {
  const wantsError = original.evalError !== undefined;
  try {
    const program = compile(original.expr, environmentOf(original));
    const deduced = original.typedResult?.deducedType;
    if (deduced !== undefined && types.formatType(program.resultType) !== types.formatType(typeOf(deduced))) return `type ${types.formatType(program.resultType)}`;
    if (original.checkOnly) return undefined;
    const activation = Object.fromEntries(Object.entries(original.bindings ?? {}).map(([name, { value }]) => [name, valueOf(value)]));
    const { value } = program.evaluate(activation, { costLimit: Infinity });
    const wanted = original.typedResult?.result ?? original.value ?? { boolValue: true };
    if (value instanceof CelError) return wantsError ? undefined : `error: ${value.message}`;
    if (wantsError) return `no error: ${formatLiteral(value)}`;
    return isSame(value, valueOf(wanted)) ? undefined : formatLiteral(value);
  } catch (error) {
    return wantsError ? undefined : (error as Error).message;
  }
}

/** Equal and of one type; NaN is itself here. */
const isSame = (a: CelValue, b: CelValue): boolean =>
  (a instanceof CelDouble && b instanceof CelDouble && Object.is(a.value, b.value)) || (equal(a, b) === true && formatLiteral(a) === formatLiteral(b));

describe.skipIf(conformance === undefined)('the cases of the CEL specification', () => {
  it('evaluate as specified', () => {
    const cases = casesOf(conformance!).filter(([, test]) => !NEEDS_MESSAGES.test(JSON.stringify(test.original)));
    const failed = cases.flatMap(([name, test]) => {
      const got = run(test);
      return got === undefined ? [] : [[name, test.original.expr, got]];
    });
    console.log(cases.length, failed.length);
    for (const f of failed) console.log(f.join('   |   '));
    expect(failed.map(([name]) => name).toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
  });
});
