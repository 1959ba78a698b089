/** Hears how far a long work is. Called often; must be cheap. */
export type OnProgress = (done: number, total: number) => void;
