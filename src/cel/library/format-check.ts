import type { Call, Expr } from '../ast.ts';
import type { CheckedExpr } from '../checker.ts';
import type { CelIssue } from '../source.ts';
import { isDyn } from '../types.ts';
import { type Clause, FORMAT_CLAUSES } from './format-clauses.ts';
import { parseTemplate } from './format-text.ts';

/** What can be said of `"…".format([…])` before it runs: whether its clauses are right and its arguments fit them. */
export function checkFormatCall(call: Call, checked: CheckedExpr): CelIssue[] {
  const { target } = call;
  const list = call.args[0];
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return [];
  const { parts, error } = parseTemplate(target.value, list.elements.length);
  const clauses = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.clause]));
  for (const [index, clause] of clauses.entries()) {
    const wrong = findMismatch(list.elements[index]!, clause, checked, clause === FORMAT_CLAUSES['s']);
    if (wrong === undefined) continue;
    const { name } = checked.types.get(wrong)!;
    return [{ offset: wrong.offset, message: `error during formatting: ${clause.complaint}, was given ${name}` }];
  }
  if (error !== undefined) return [{ offset: call.offset, message: error.message }];
  if (list.elements.length <= clauses.length) return [];
  return [{ offset: call.offset, message: `too many arguments supplied to string.format (expected ${clauses.length}, got ${list.elements.length})` }];
}

/** The expression whose type the clause does not take; for texts also inside of lists and maps. */
function findMismatch(expr: Expr, clause: Clause, checked: CheckedExpr, isDeep: boolean): Expr | undefined {
  const type = checked.types.get(expr)!;
  if (!isDyn(type) && !clause.accepts.includes(type.kind)) return expr;
  if (!isDeep) return undefined;
  const inner = expr.kind === 'list' ? expr.elements : expr.kind === 'map' ? expr.entries.flatMap(({ key, value }) => [key, value]) : [];
  for (const part of inner) {
    const wrong = findMismatch(part, clause, checked, true);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
