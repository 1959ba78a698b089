/** Several messages as one; those that repeat others are left out (apimachinery/pkg/util/errors). */
export function aggregate(messages: Iterable<string>): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`;
}
