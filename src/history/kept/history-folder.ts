/** In the data folder. */
export const HISTORY_FOLDER = 'history';
