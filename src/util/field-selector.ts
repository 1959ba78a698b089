/** A parsed field selector. Grammar and errors: apimachinery/pkg/fields. */
export interface FieldSelector {
  readonly isEmpty: boolean;
  readonly requirements: readonly { field: string; operator: '=' | '!='; value: string }[];
  /** The value that `field` must have, where the selector says so: for a list of one. */
  exactMatch(field: string): string | undefined;
  matches(valueOf: (field: string) => string): boolean;
  toString(): string;
}
