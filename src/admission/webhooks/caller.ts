import type { WebhookClientConfig } from '../../apis/facts/types/admissionregistration-v1.ts';
import { WebhookClient } from '../../client/webhook-client.ts';
import type { RemoteEndpoint } from '../../client/kubeconfig.ts';

/** Where a service answers. Throws an Error that says why it does not. */
export type ServiceAddress = (namespace: string, name: string, port: number) => { host: string; port: number };

const DEFAULT_PORT = 443;

/** Calls one webhook server, over connections that are kept until nobody needs it any more. */
export class WebhookCaller {
  readonly #client: WebhookClient;
  #callsUnderWay = 0;
  #isRetired = false;

  constructor(config: WebhookClientConfig, timeoutMs: number, addressOf: ServiceAddress) {
    this.#client = new WebhookClient(endpointOf(config, addressOf), { timeoutMs });
  }

  /** Throws WebhookError. */
  async post(body: string, signal: AbortSignal | undefined): Promise<Buffer> {
    this.#callsUnderWay++;
    try {
      return await this.#client.post(body, signal);
    } finally {
      this.#callsUnderWay--;
      this.#closeWhenIdle();
    }
  }

  /** Calls under way may end; a late one still works. */
  retire(): void {
    this.#isRetired = true;
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (this.#isRetired && this.#callsUnderWay === 0) this.#client.close();
  }
}

/** apiserver/pkg/util/webhook/client.go hookClientConfig */
function endpointOf({ url, service, caBundle = '' }: WebhookClientConfig, addressOf: ServiceAddress): RemoteEndpoint {
  const trust = caBundle === '' ? {} : { caPem: Buffer.from(caBundle, 'base64').toString() };
  if (!service) return { url: new URL(url!), ...trust };
  const { namespace, name, path = '', port = DEFAULT_PORT } = service;
  const serverName = `${name}.${namespace}.svc`;
  const target = new URL(`https://${serverName}:${port}`);
  target.pathname = path;
  return { url: target, serverName, address: () => addressOf(namespace, name, port), ...trust };
}
