/** A query as Go's url.Values writes it: sorted by name, and escaped as forms are. */
export const encodeQuery = (parameters: readonly (readonly [name: string, value: string])[]): string =>
  parameters
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([name, value]) => `${escape(name)}=${escape(value)}`)
    .join('&');

const escape = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

export const pathWithQuery = (path: string, parameters: readonly (readonly [name: string, value: string])[]): string =>
  parameters.length === 0 ? path : `${path}?${encodeQuery(parameters)}`;
