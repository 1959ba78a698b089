/** What Go's time.LoadLocation says of a name; undefined where it knows it. Names are those of the tz database, which Intl knows too. */
export function timeZoneError(name: string): string | undefined {
  if (name === '' || name === 'UTC' || name === 'Local') return undefined;
  if (name.includes('..') || name.startsWith('/') || name.startsWith('\\')) return 'time: invalid location name';
  return isKnown(name) ? undefined : `unknown time zone ${name}`;
}

/** In the database names are files: their case counts, which Intl overlooks; and Intl may take offsets, which are no names. */
function isKnown(name: string): boolean {
  if (!name.split('/').every((part) => /^[A-Z]/.test(part))) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
