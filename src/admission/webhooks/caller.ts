import type { WebhookClientConfig } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { ServiceAddress } from '../../client/service-address.ts';
import { WebhookClient } from '../../client/webhook-client.ts';
import type { Credentials, RemoteEndpoint } from '../../client/kubeconfig.ts';

/** How the servers of webhooks are found, and whom they are called as. */
export interface CallEnvironment {
  addressOf: ServiceAddress;
  /** `host`: with its port. */
  credentialsFor(host: string): Credentials;
}

const DEFAULT_PORT = 443;
/** A patch may hold the whole of an object that is as large as a request may be, in base64. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Calls one webhook server, over connections that are kept until nobody needs it any more. */
export class WebhookCaller {
  readonly #client: WebhookClient;
  #callsUnderWay = 0;
  #isRetired = false;

  constructor(config: WebhookClientConfig, timeoutMs: number, environment: CallEnvironment) {
    this.#client = new WebhookClient(endpointOf(config, environment), { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES });
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
function endpointOf({ url, service, caBundle = '' }: WebhookClientConfig, { addressOf, credentialsFor }: CallEnvironment): RemoteEndpoint {
  const trust = caBundle === '' ? {} : { caPem: Buffer.from(caBundle, 'base64').toString() };
  if (!service) {
    const target = new URL(url!);
    return { url: target, ...trust, ...credentialsFor(`${target.hostname}:${target.port || DEFAULT_PORT}`) };
  }
  const { namespace, name, path = '', port = DEFAULT_PORT } = service;
  const serverName = `${name}.${namespace}.svc`;
  const target = new URL(`https://${serverName}:${port}`);
  target.pathname = path;
  return { url: target, serverName, address: () => addressOf(namespace, name, port), ...trust, ...credentialsFor(`${serverName}:${port}`) };
}
