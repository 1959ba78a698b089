import { badRequest } from './errors.ts';
import { quote } from '../util/go-quote.ts';
import { pathSegmentErrors } from './names.ts';

/** Throws where an object has no path in a store, in upstream's words (registry/generic: NamespaceKeyFunc). `namespace` is undefined for what is in none. */
export function demandObjectPath(namespace: string | undefined, name: string): void {
  if (namespace === '') throw badRequest('Namespace parameter required.');
  if (name === '') throw badRequest('Name parameter required.');
  const errors = pathSegmentErrors(name);
  if (errors.length > 0) throw badRequest(`Name parameter invalid: ${quote(name)}: ${errors.join(';')}`);
}
