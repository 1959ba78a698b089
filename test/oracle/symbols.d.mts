/** See symbols.mjs. */
export declare class Symbols {
  abstract(value: unknown, given?: unknown): unknown;
}
