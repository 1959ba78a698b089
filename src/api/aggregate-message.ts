/** Several errors as one text: equal ones once, one alone as it is, more in brackets (apimachinery/pkg/util/errors). */
export function aggregateMessage(messages: Iterable<string>): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
}
