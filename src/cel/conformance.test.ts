import { describe, expect, it } from 'vitest';
import { quote } from '../util/go-quote.ts';
import type { Expr } from './ast.ts';
import { compile, type Program } from './cel.ts';
import type { CheckedExpr } from './checker.ts';
import { equal } from './compare.ts';
import { formatLiteral } from './convert.ts';
import { fn, member, overload, type FunctionDeclaration, type Library } from './declarations.ts';
import { Environment } from './environment.ts';
import { BINDINGS_LIBRARY, TWO_VARIABLE_LIBRARY } from './library/comprehensions.ts';
import { OPTIONAL_LIBRARY } from './library/optional.ts';
import { STANDARD_LIBRARY } from './library/standard.ts';
import { STRINGS_LIBRARY } from './library/strings.ts';
import { MacroError, type Macro } from './macro.ts';
import { parse } from './parser.ts';
import { CelErrors, Source } from './source.ts';
import { parseDurationText, parseTimestamp } from './time.ts';
import * as types from './types.ts';
import { ArrayList, CelDouble, CelError, CelUint, EntryMap, canonicalInt, typeOf as typeOfValue, type CelValue } from './values.ts';

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

const PACKAGE = '@bufbuild/cel-spec';

async function load(name: string): Promise<Suite | undefined> {
  try {
    return ((await import(/* @vite-ignore */ `${PACKAGE}/testdata/${name}.js`)) as { tests: Suite }).tests;
  } catch {
    return undefined;
  }
}

const [conformance, parsing, checking] = await Promise.all(['conformance', 'parsing', 'checking'].map(load));

/** Cases about protobuf's messages and enums, which Kubernetes' environments do not have. */
const NEEDS_MESSAGES =
  /TestAllTypes|TestRequired|GlobalEnum|NestedEnum|messageType|google\.expr|_ext\b|container":"google\.protobuf|google\.protobuf\.(?!Timestamp|Duration)\w+|objectValue.*type\.googleapis\.com\/(?!google\.protobuf\.(?:Timestamp|Duration))|enumValue/;

/** Cases of functions that Kubernetes' environments do not have, or have in an earlier version, which kubernetes.test.ts is about. */
const OTHER_LIBRARIES = /\bmath\.|base64\.|\.reverse\(|\.format\(/;

const UNCHECKED = 'asks for a value of an expression whose types do not fit; here every expression is checked, as in Kubernetes';
const AS_CEL_GO = 'the version of cel-go in Kubernetes v1.36 does the same';

/** Cases that do not come out as specified, and why that is right here. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  '/comparisons/eq_literal/eq_list_elem_mixed_types': UNCHECKED,
  '/comparisons/eq_literal/eq_mixed_types': UNCHECKED,
  '/comparisons/eq_literal/not_eq_list_length': UNCHECKED,
  '/comparisons/ne_literal/ne_mixed_types': UNCHECKED,
  '/logic/AND/short_circuit_type_left': UNCHECKED,
  '/logic/AND/short_circuit_type_right': UNCHECKED,
  '/logic/OR/short_circuit_type_left': UNCHECKED,
  '/logic/OR/short_circuit_type_right': UNCHECKED,
  '/logic/conditional/mixed_type': UNCHECKED,
  '/fields/qualified_identifier_resolution/map_value_repeat_key': `a later entry replaces an earlier one: ${AS_CEL_GO}`,
  '/fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous': `a later entry replaces an earlier one: ${AS_CEL_GO}`,
  '/optionals/optionals/map_null_entry_no_such_key': `what has no fields has none that is optional: ${AS_CEL_GO}`,
  '/optionals/optionals/map_present_key_invalid_field': `what has no fields has none that is optional: ${AS_CEL_GO}`,
  '/string_ext/value_errors/indexof_out_of_range': `nothing is found behind the end: ${AS_CEL_GO}`,
  '/string_ext/value_errors/lastindexof_out_of_range': `nothing is found behind the end: ${AS_CEL_GO}`,
  '/type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate': AS_CEL_GO,
};

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
  ...['index', 'iterVar', 'accuVar'].map((name): Macro => ({
    name,
    argumentCount: undefined,
    isReceiver: true,
    expand: ({ make, args }) => make.ident(`@${name}${args.map((arg) => (arg.kind === 'literal' ? String(arg.value) : '')).join(':')}`),
  })),
];

const LIBRARIES: readonly Library[] = [STANDARD_LIBRARY, OPTIONAL_LIBRARY, STRINGS_LIBRARY, BINDINGS_LIBRARY, TWO_VARIABLE_LIBRARY, { macros: blockMacros }];

const environment = new Environment({ libraries: LIBRARIES, hasEscapedNames: true, isStrict: false });

function environmentOf({ container = '', typeEnv = [] }: Case['original'], base = environment): Environment {
  const variables = Object.fromEntries(typeEnv.flatMap(({ name, ident }) => (ident ? [[name, typeOf(ident.type)]] : [])));
  const functions = typeEnv.flatMap((declaration): FunctionDeclaration[] => {
    const overloads = declaration.function?.overloads.map(({ overloadId, params = [], resultType, isInstanceFunction }) =>
      (isInstanceFunction ? member : overload)(overloadId, params.map(typeOf), typeOf(resultType)),
    );
    return overloads ? [fn(declaration.name, ...overloads)] : [];
  });
  return base.extend({ container, variables, libraries: functions.length > 0 ? [{ functions }] : [] });
}

/** Names that nobody declared, in expressions that are not to be checked, mean anything and have no value. */
function declaring(base: Environment, error: unknown): Environment {
  if (!(error instanceof CelErrors)) throw error;
  const names = error.issues.map(({ message }) => /^undeclared reference to '(\w+)'/.exec(message)?.[1]);
  if (names.includes(undefined)) throw error;
  const variables = Object.fromEntries(names.map((name) => [name!, types.DYN]));
  const anything = (name: string): FunctionDeclaration => fn(name, overload(name, [types.DYN], types.DYN), member(`${name}_`, [types.DYN], types.DYN));
  return base.extend({ variables, libraries: [{ functions: names.map((name) => anything(name!)) }] });
}

function compileCase(original: Case['original']): Program {
  const own = environmentOf(original);
  try {
    return compile(original.expr, own);
  } catch (error) {
    if (!original.disableCheck || original.evalError !== undefined) throw error;
    return compile(original.expr, declaring(own, error));
  }
}

/** Undefined where the case is as it should be, else what came instead. */
function run({ original }: Case): string | undefined {
  const wantsError = original.evalError !== undefined;
  try {
    const program = compileCase(original);
    const deduced = original.typedResult?.deducedType;
    if (deduced !== undefined && types.formatType(program.resultType) !== types.formatType(typeOf(deduced)))
      return `type ${types.formatType(program.resultType)}`;
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

/** As cel-go's debug strings: every node with its kind, or with its type and what it refers to. */
type Adorn = (node: Expr | 'entry') => string;

const KINDS: Record<string, string> = {
  ident: 'IdentExpr',
  select: 'SelectExpr',
  call: 'CallExpr',
  list: 'ListExpr',
  map: 'StructExpr',
  struct: 'StructExpr',
  comprehension: 'ComprehensionExpr',
};
const CONSTANTS: Record<string, string> = { int: 'Int64', uint: 'Uint64', double: 'Double', string: 'String', bytes: 'Bytes', bool: 'Bool', null: 'Null' };

const byKind: Adorn = (node) => {
  if (node === 'entry') return '^#*expr.Expr_CreateStruct_Entry#';
  if (node.kind === 'literal') return `^#*expr.Constant_${CONSTANTS[typeOfValue(node.value).kind]}Value#`;
  return `^#*expr.Expr_${KINDS[node.kind]}#`;
};

const byType =
  ({ types: known, references }: CheckedExpr): Adorn =>
  (node) => {
    if (node === 'entry') return '';
    const reference = references.get(node);
    const name =
      reference === undefined
        ? ''
        : reference.kind === 'variable'
          ? `^${reference.name}`
          : reference.kind === 'type'
            ? `^${reference.type.name}`
            : `^${reference.overloads
                .map(({ id }) => id)
                .toSorted()
                .join('|')}`;
    return `~${types.formatType(known.get(node)!)}${name}`;
  };

const sequence = (parts: readonly string[]): string => parts.join(', ');

function debug(expr: Expr, adorn: Adorn, checked?: CheckedExpr): string {
  const show = (node: Expr): string => debug(node, adorn, checked);
  const reference = checked?.references.get(expr);
  switch (expr.kind) {
    case 'literal':
      return debugLiteral(expr.value) + adorn(expr);
    case 'ident':
      return (reference?.kind === 'variable' ? reference.name : reference?.kind === 'type' ? reference.type.name : expr.name) + adorn(expr);
    case 'select':
      if (reference?.kind === 'variable' || reference?.kind === 'type')
        return (reference.kind === 'variable' ? reference.name : reference.type.name) + adorn(expr);
      return `${show(expr.operand)}.${expr.field}${expr.isTest ? '~test-only~' : ''}${adorn(expr)}`;
    case 'call': {
      const isNamespaced = reference?.kind === 'function' && reference.isNamespaced;
      const name = reference?.kind === 'function' ? reference.declaration.name : expr.name;
      const target = expr.target === undefined || isNamespaced ? '' : `${show(expr.target)}.`;
      return `${target}${name}(${sequence(expr.args.map(show))})${adorn(expr)}`;
    }
    case 'list':
      return `[${sequence(expr.elements.map((element, index) => (expr.optionalIndexes.has(index) ? '?' : '') + show(element)))}]${adorn(expr)}`;
    case 'map':
      return `{${sequence(expr.entries.map(({ key, value, isOptional }) => `${isOptional ? '?' : ''}${show(key)}:${show(value)}${adorn('entry')}`))}}${adorn(expr)}`;
    case 'struct':
      return `${expr.typeName}{${sequence(expr.fields.map(({ name, value, isOptional }) => `${isOptional ? '?' : ''}${name}:${show(value)}${adorn('entry')}`))}}${adorn(expr)}`;
    case 'comprehension': {
      const parts = ['// Variable', expr.variable, ...(expr.variable2 === undefined ? [] : ['// Variable', expr.variable2]), '// Target', show(expr.range)];
      parts.push(
        '// Accumulator',
        expr.accumulator,
        '// Init',
        show(expr.init),
        '// LoopCondition',
        show(expr.condition),
        '// LoopStep',
        show(expr.step),
        '// Result',
        show(expr.result),
      );
      const lines = Array.from({ length: parts.length / 2 }, (_, index) => `${parts[2 * index]} ${parts[2 * index + 1]}`);
      return `__comprehension__(${sequence(lines)})${adorn(expr)}`;
    }
    default:
      return '';
  }
}

function debugLiteral(value: CelValue): string {
  if (value instanceof CelDouble) return String(value.value);
  return value instanceof Uint8Array ? `b${quote(Buffer.from(value).toString('latin1'))}` : formatLiteral(value);
}

const withoutBlanks = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/([([{]) | (?=[)\]}])/g, '$1');

const plain = new Environment({
  libraries: [
    STANDARD_LIBRARY,
    { functions: [fn('fg_s', overload('fg_s_0', [], types.STRING)), fn('fi_s_s', member('fi_s_s_0', [types.STRING], types.STRING))] },
  ],
  variables: { is: types.STRING, ii: types.INT, iu: types.UINT, iz: types.BOOL, ib: types.BYTES, id: types.DOUBLE, ix: types.NULL },
  hasMixedComparisons: false,
  isStrict: false,
});
/** What cases that are to check were recorded with; those that are to be refused had less. */
const full = plain.extend({ libraries: [OPTIONAL_LIBRARY], hasMixedComparisons: true });

/** Recorded with limits lower than those of Kubernetes, or with optionals turned off, which they never are here. */
const OTHER_PARSER = /limit exceeded|recursion depth|unsupported syntax/;

/** Undefined where the text parses to the wanted tree, and checks to the wanted types or is refused in the wanted words. */
function runStatic({ original, ast, checkedAst, type, error }: Case): string | undefined {
  const own = environmentOf(original, error === undefined ? full : plain);
  const parsed = parse(new Source(original.expr), own);
  if (ast !== undefined && parsed.issues.length === 0 && withoutBlanks(debug(parsed.expr, byKind)) !== withoutBlanks(ast))
    return withoutBlanks(debug(parsed.expr, byKind));
  try {
    const { checked, resultType } = compile(original.expr, own);
    if (error !== undefined) return `no error`;
    if (type !== undefined && types.formatType(resultType) !== type) return types.formatType(resultType);
    const shown = withoutBlanks(debug(checked.expr, byType(checked), checked));
    return checkedAst === undefined || shown === withoutBlanks(checkedAst) ? undefined : shown;
  } catch (problem) {
    if (!(problem instanceof CelErrors)) throw problem;
    return error !== undefined && problem.message === error.replaceAll('ERROR: :', 'ERROR: <input>:') ? undefined : problem.message;
  }
}

/** Expressions that do not parse or check as recorded. */
function failuresOf(suite: Suite | undefined): string[] {
  const cases = casesOf(suite!).filter(([, test]) => !NEEDS_MESSAGES.test(JSON.stringify(test.original)) && !OTHER_PARSER.test(test.error ?? ''));
  const failed = cases.flatMap(([, test]) => (runStatic(test) === undefined ? [] : [test.original.expr]));
  return Array.from(new Set(failed));
}

describe.skipIf(conformance === undefined)('the cases of the CEL specification', () => {
  it('evaluate as specified', () => {
    const cases = casesOf(conformance!).filter(([, test]) => !NEEDS_MESSAGES.test(JSON.stringify(test.original)) && !OTHER_LIBRARIES.test(test.original.expr));
    const failed = cases.flatMap(([name, test]) => (run(test) === undefined ? [] : [name]));
    expect(failed.toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
    expect(failed.length / cases.length).toBeLessThan(0.02);
  });

  it('parse as cel-go parses them', () => {
    // Recorded without the macro, which Kubernetes has.
    expect(failuresOf(parsing)).toEqual(['m.existsOne(v, f)']);
  });

  it('check as cel-go checks them', () => {
    expect(failuresOf(checking)).toEqual([]);
  });
});
