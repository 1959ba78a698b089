import type { CompileRules } from './validation-rules.ts';

/** Rules are compiled once the expression language is joined. */
export const compileRules: CompileRules = () => undefined;
