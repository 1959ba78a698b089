import { compileRegexp } from '../re2/regexp.ts';
import { childrenOf, type Call, type Expr, type ListExpr, type MapExpr } from './ast.ts';
import type { CheckedExpr } from './checker.ts';
import { convert } from './convert.ts';
import type { Environment } from './environment.ts';
import type { CelIssue } from './source.ts';
import { DURATION, TIMESTAMP, formatType, isEquivalentType, unwrapOptional, type CelType } from './types.ts';
import { CelError, type CelValue } from './values.ts';

/** Arguments that are looked into where they are literals, by function. */
const LITERAL_CHECKS: Readonly<Record<string, (value: CelValue) => boolean>> = {
  duration: (value) => !(convert(value, DURATION) instanceof CelError),
  timestamp: (value) => !(convert(value, TIMESTAMP) instanceof CelError),
  matches: (value) => typeof value !== 'string' || !('error' in compileRegexp(value)),
};

/** What is wrong with the literals of an expression that checks, where the environment asks for it (cel-go cel/validator.go). */
export function validateLiterals(checked: CheckedExpr, environment: Environment): CelIssue[] {
  const issues: CelIssue[] = [];
  for (const [expr, reference] of checked.references) {
    if (expr.kind === 'call' && reference.kind === 'function') issues.push(...(reference.declaration.validate?.(expr, checked) ?? []));
  }
  if (!environment.isStrict) return issues;
  visit(checked.expr, false, (expr) => expr.kind === 'call' && checkArgument(expr, issues));
  visit(checked.expr, false, (expr, isExempt) => {
    if (expr.kind === 'list' && !isExempt) checkList(expr, checked, issues);
    if (expr.kind === 'map' && !isExempt) checkMap(expr, checked, issues);
  });
  return issues;
}

/** Arguments of `format` may be of mixed types. */
function visit(expr: Expr, isExempt: boolean, see: (expr: Expr, isExempt: boolean) => void): void {
  see(expr, isExempt);
  const isFormat = expr.kind === 'call' && expr.name === 'format';
  for (const child of childrenOf(expr)) visit(child, isExempt || isFormat, see);
}

function checkArgument(call: Call, issues: CelIssue[]): void {
  const isRight = Object.hasOwn(LITERAL_CHECKS, call.name) ? LITERAL_CHECKS[call.name] : undefined;
  const arg = call.args[0];
  if (isRight === undefined || arg?.kind !== 'literal' || isRight(arg.value)) return;
  issues.push({ offset: arg.offset, message: `invalid ${call.name} argument` });
}

function checkList(list: ListExpr, { types }: CheckedExpr, issues: CelIssue[]): void {
  let expected: CelType | undefined;
  for (const [index, element] of list.elements.entries()) {
    const type = types.get(element)!;
    const actual = list.optionalIndexes.has(index) ? unwrapOptional(type) : type;
    expected ??= actual;
    if (isEquivalentType(expected, actual)) continue;
    issues.push(mismatch(element, expected, actual));
    return;
  }
}

function checkMap(map: MapExpr, { types }: CheckedExpr, issues: CelIssue[]): void {
  let keyType: CelType | undefined;
  let valueType: CelType | undefined;
  for (const { key, value, isOptional } of map.entries) {
    const actualKey = types.get(key)!;
    const actualValue = isOptional ? unwrapOptional(types.get(value)!) : types.get(value)!;
    keyType ??= actualKey;
    valueType ??= actualValue;
    if (!isEquivalentType(keyType, actualKey)) issues.push(mismatch(key, keyType, actualKey));
    if (!isEquivalentType(valueType, actualValue)) issues.push(mismatch(value, valueType, actualValue));
  }
}

const mismatch = ({ offset }: Expr, expected: CelType, actual: CelType): CelIssue => ({
  offset,
  message: `expected type '${formatType(expected)}' but found '${formatType(actual)}'`,
});
