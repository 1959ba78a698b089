import type { Resource } from '../api/discovery.ts';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** As a shell reads it as one word. */
export const shellWord = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export const commandLine = (...words: readonly (string | undefined)[]): string =>
  ['kubectl', ...words.filter((word) => word !== undefined).map(shellWord)].join(' ');

/** The resource as kubectl is told it: with its group, where it is not the core's. */
export const resourceWord = ({ plural, group }: Pick<Resource, 'plural' | 'group'>): string => (group === '' ? plural : `${plural}.${group}`);

export const objectWord = ({ singular, plural, group }: Pick<Resource, 'singular' | 'plural' | 'group'>, name: string): string =>
  `${resourceWord({ plural: singular || plural, group })}/${name}`;

export interface TableCommand {
  resource: Pick<Resource, 'plural' | 'group' | 'isNamespaced'>;
  namespace?: string | undefined;
  labelSelector?: string;
  fieldSelector?: string;
}

export const getCommand = ({ resource, namespace, labelSelector = '', fieldSelector = '' }: TableCommand): string =>
  commandLine(
    'get',
    resourceWord(resource),
    ...scope(resource.isNamespaced, namespace),
    ...(labelSelector === '' ? [] : ['-l', labelSelector]),
    ...(fieldSelector === '' ? [] : ['--field-selector', fieldSelector]),
    '--watch',
  );

const scope = (isNamespaced: boolean, namespace: string | undefined): string[] => (isNamespaced ? (namespace === undefined ? ['-A'] : ['-n', namespace]) : []);

/** `get`, `edit` or `delete` of one object. */
export const objectCommand = (verb: string, resource: Resource, name: string, namespace: string | undefined, ...flags: readonly string[]): string =>
  commandLine(verb, objectWord(resource, name), ...(namespace === undefined ? [] : ['-n', namespace]), ...flags);
