import { parseGoUrl } from '../../net/go-url.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123SubdomainErrors } from '../../api/names.ts';
import { inclusiveRangeError } from './ports.ts';

/** How a webhook of any kind is reached (apiserver/pkg/util/webhook). */
export interface WebhookClientConfig {
  url?: string;
  service?: WebhookService;
}

interface WebhookService {
  namespace: string;
  name: string;
  path?: string;
  port?: number;
}

export const DEFAULT_WEBHOOK_PORT = 443;
const FORM = '; desired format: https://host[/path]';

export function validateWebhookClientConfig({ url, service }: WebhookClientConfig, errors: FieldErrors): void {
  if ((url === undefined) === (service === undefined)) errors.required('exactly one of url or service is required');
  else if (url !== undefined) validateWebhookUrl(url, errors.at('url'));
  else validateWebhookService(service!, errors.at('service'));
}

function validateWebhookUrl(text: string, errors: FieldErrors): void {
  const url = parseGoUrl(text);
  if ('error' in url) return errors.required(`url must be a valid URL: ${url.error}${FORM}`);
  if (url.scheme !== 'https') errors.invalid(url.scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (url.host === '') errors.invalid(url.host, `host must be specified${FORM}`);
  if (url.user !== undefined) errors.invalid(url.user, 'user information is not permitted in the URL');
  if (url.fragment !== '') errors.invalid(url.fragment, 'fragments are not permitted in the URL');
  if (url.query !== '') errors.invalid(url.query, 'query parameters are not permitted in the URL');
}

function validateWebhookService(service: WebhookService, errors: FieldErrors): void {
  const { name, namespace, port = 0, path } = service;
  // Upstream's callers hand over name and namespace the wrong way round, so each is missed under the other's name.
  if (namespace === '') errors.at('name').required();
  if (name === '') errors.at('namespace').required();
  if (port < 1 || port > 65_535) errors.at('port').invalid(port, `port is not valid: ${inclusiveRangeError(1, 65_535)}`);
  if (path) validateServicePath(path, errors.at('path'));
}

/** Segments of a path, each as plain as a host's name. */
function validateServicePath(path: string, errors: FieldErrors): void {
  if (path === '/') return;
  if (path === '//') return errors.invalid(path, 'segment[0] may not be empty');
  if (!path.startsWith('/')) errors.invalid(path, "must start with a '/'");
  // Go's urlPath[1:] is without the first byte, be that a whole character or not.
  const inner = path.startsWith('/') ? path.slice(1) : Buffer.from(path).toString('latin1').slice(1);
  const segments = (inner.endsWith('/') ? inner.slice(0, -1) : inner).split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '') errors.invalid(path, `segment[${index}] may not be empty`);
    else for (const error of dns1123SubdomainErrors(segment)) errors.invalid(path, `segment[${index}]: ${error}`);
  }
}
