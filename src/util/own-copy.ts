/** The same text in memory of its own. What was cut out of another text keeps all of that alive: a name that is remembered, the request that it came with. */
export const ownCopy = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');
