/** A parsed label selector. Grammar and errors: apimachinery/pkg/labels. */
export interface LabelSelector {
  readonly isEmpty: boolean;
  matches(labels: Record<string, string> | undefined): boolean;
  /** Canonical text. */
  toString(): string;
}
