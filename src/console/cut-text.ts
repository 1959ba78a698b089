/** The beginning of a text that is longer than it is shown. */
export const cutText = (text: string, maxCharacters: number): string => (text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters)}…`);

/** Of names and user agents. */
export const MAX_NAME_CHARACTERS = 256;
