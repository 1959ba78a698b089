const SURROGATE_ESCAPE = /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/;

/** Where JSON text writes half a character as an escape (`\ud83d`), which YAML does not know; -1 where it never does. */
export const surrogateEscapeIn = (text: string): number => (text.includes('\\u') ? text.search(SURROGATE_ESCAPE) : -1);
