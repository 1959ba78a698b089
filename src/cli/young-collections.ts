import { setFlagsFromString } from 'node:v8';

/** Parts of the young generation, in percent, after which V8 looks for a moment to collect it. Its own is 80. */
const TRIGGER = { usual: 80, crowded: 5 };

/**
 * Requests that wait live on, and a young collection takes as long as it finds things alive. So while many wait it is made more often: what one finds is
 * little then, and a request that need not wait is held up by it for two milliseconds instead of eight. At other times it would be work for nothing.
 */
export const collectOften = (isCrowded: boolean): void => setFlagsFromString(`--minor-gc-task-trigger=${isCrowded ? TRIGGER.crowded : TRIGGER.usual}`);
