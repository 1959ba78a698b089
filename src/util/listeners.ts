/** The list with one more, for the two or three that a request has: pushing to an array makes room for sixteen others, which stays as long as the request. */
export const withListener = <T>(listeners: readonly T[] | undefined, listener: T): readonly T[] =>
  listeners === undefined ? [listener] : [...listeners, listener];
