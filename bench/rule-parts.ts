export { compileRuleTree } from '../src/extensions/rules/rule-tree.ts';
export { Structure } from '../src/schema/structural/structure.ts';
export { FieldErrors } from '../src/api/field-errors.ts';
