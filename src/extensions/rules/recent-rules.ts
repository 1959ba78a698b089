import type { JsonSchema } from '../../schema/structural/json-schema.ts';
import type { CompiledRule } from './compile-rule.ts';

/** Some hundred KiB of programs; definitions that come in a row, as of an operator, are all there when their first objects come. */
const MAX_RULES = 200;
/** Schemas beyond this are compiled again: comparing them takes its time, too. */
const MAX_SCHEMA_CHARS = 64 * 1024;

/**
 * The rules of definitions that were just let in, as they were compiled for that, until the first object asks for them. A schema is known by its text: what
 * was sent and what is read back from the store are different objects.
 */
export class RecentRules {
  readonly #kept = new Map<string, readonly CompiledRule[]>();
  #ruleCount = 0;

  /** All rules of the schema, in order. */
  keep(schema: JsonSchema, isRoot: boolean, rules: readonly CompiledRule[]): void {
    const key = keyOf(schema, isRoot);
    if (key === undefined || rules.length > MAX_RULES) return;
    this.#remove(key);
    this.#kept.set(key, rules);
    this.#ruleCount += rules.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#ruleCount <= MAX_RULES) return;
      this.#remove(oldest);
    }
  }

  /** They belong to whoever takes them. */
  take(schema: JsonSchema, isRoot: boolean): readonly CompiledRule[] | undefined {
    if (this.#kept.size === 0) return undefined;
    const key = keyOf(schema, isRoot);
    const rules = key === undefined ? undefined : this.#kept.get(key);
    if (rules !== undefined) this.#remove(key!);
    return rules;
  }

  #remove(key: string): void {
    this.#ruleCount -= this.#kept.get(key)?.length ?? 0;
    this.#kept.delete(key);
  }
}

/** Undefined for a schema that is too large, and for one that has rules from elsewhere. */
function keyOf(schema: JsonSchema, isRoot: boolean): string | undefined {
  if ((schema.allOf ?? []).length > 0) return undefined;
  const text = JSON.stringify(schema);
  return text.length > MAX_SCHEMA_CHARS ? undefined : `${isRoot} ${text}`;
}
