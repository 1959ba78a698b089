import type { RequestInfo } from './request.ts';

const CONNECT_SUBRESOURCES = new Set(['log', 'exec', 'portforward', 'attach', 'proxy']);
const PLAIN_METHODS = new Set(['POST', 'PUT', 'DELETE']);

/** How much a request is about: one object, a namespace of them, all of them; '' for what is no resource. */
export function scopeOf(info: RequestInfo): string {
  if (info.name !== '' || info.verb === 'create') return 'resource';
  if (info.namespace !== '') return 'namespace';
  return info.isResourceRequest ? 'cluster' : '';
}

/** The same of the route that upstream's router has chosen for a built-in resource: a selector by name makes no object of a collection (endpoints/installer.go). */
export function routeScopeOf(info: RequestInfo, method: string): string {
  if (info.parts.length > 1 || method === 'POST') return 'resource';
  return info.namespace === '' ? 'cluster' : 'namespace';
}

/** The `verb` label: one of a fixed few, whatever method a client makes up (apiserver/pkg/endpoints/metrics). */
export function verbLabel(method: string, info: RequestInfo, scope: string, contentType: string | undefined): string {
  if (info.isResourceRequest && CONNECT_SUBRESOURCES.has(info.subresource)) return 'CONNECT';
  if (info.verb === 'watch') return 'WATCH';
  if (method === 'GET' || method === 'HEAD') return scope === 'namespace' || scope === 'cluster' ? 'LIST' : 'GET';
  if (method === 'PATCH') return contentType === 'application/apply-patch+yaml' ? 'APPLY' : 'PATCH';
  return PLAIN_METHODS.has(method) ? method : 'other';
}

/** The `dry_run` label: '', `All` or `invalid`. */
export const dryRunLabel = (value: string | undefined): string => (value === undefined ? '' : value === 'All' ? 'All' : 'invalid');

const FIELD_VALIDATIONS = new Set(['Ignore', 'Warn', 'Strict']);

/** The `field_validation` label: '', one of the three, or `invalid`. */
export const fieldValidationLabel = (value: string | undefined): string => (value === undefined ? '' : FIELD_VALIDATIONS.has(value) ? value : 'invalid');
