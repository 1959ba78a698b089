import { quote } from '../util/go-quote.ts';
import { hostPort } from '../net/dial.ts';
import { WebhookError } from './webhook-client.ts';
import type { Dial } from '../net/dial.ts';
import type { RemoteEndpoint } from './kubeconfig.ts';
import type { ServiceAddress } from './service-address.ts';
import type { WeakCertificateListener } from '../serving/weak-certificates.ts';
import { serviceUrl, webhookUrl } from './webhook-url.ts';

/** How the servers of webhooks are reached. */
export interface WebhookRoutes {
  addressOf: ServiceAddress;
  /** The way to a service; absent: directly. */
  dialService?: Dial | undefined;
  /** The way to what a URL names; absent: directly. */
  dialUrl?: Dial | undefined;
  onWeakCertificate?: WeakCertificateListener | undefined;
}

/** Where a webhook is, as kinds of the API say it: a URL or a service. */
interface WebhookPlace {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  /** In base64. */
  caBundle?: string;
}

export interface WebhookRoute {
  endpoint: RemoteEndpoint;
  dial: Dial | undefined;
  /** With its port: whom credentials are for. */
  host: string;
}

const DEFAULT_PORT = 443;

/** Nobody can be called at the webhook's address: validation lets services have names that no URL has. */
export class UnusableAddress extends WebhookError {
  constructor(host: string) {
    super(`host must be a URL or a host:port pair: ${quote(host)}`);
  }
}

function urlOrUnusable(host: string, make: () => URL): URL {
  try {
    return make();
  } catch {
    throw new UnusableAddress(host);
  }
}

/** Throws UnusableAddress. A service is called by the name that its certificate is for, wherever it is (apiserver/pkg/util/webhook/client.go hookClientConfig). */
export function routeToWebhook({ url, service, caBundle = '' }: WebhookPlace, { addressOf, dialService, dialUrl }: WebhookRoutes): WebhookRoute {
  const trust = caBundle === '' ? {} : { caPem: Buffer.from(caBundle, 'base64').toString() };
  if (!service) {
    const target = urlOrUnusable(url!, () => webhookUrl(url!));
    return { endpoint: { url: target, ...trust }, dial: dialUrl, host: `${target.hostname}:${target.port || DEFAULT_PORT}` };
  }
  const { namespace, name, path = '', port = DEFAULT_PORT } = service;
  const serverName = `${name}.${namespace}.svc`;
  const target = urlOrUnusable(`https://${hostPort(serverName, port)}`, () => serviceUrl(hostPort(serverName, port), path));
  return {
    endpoint: { url: target, serverName, address: () => addressOf(namespace, name, port), ...trust },
    dial: dialService,
    host: `${serverName}:${port}`,
  };
}
