import type { WebhookClientConfig } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { Credentials } from '../../client/kubeconfig.ts';
import { WebhookClient } from '../../client/webhook-client.ts';
import { UnusableAddress, type WebhookRoute, type WebhookRoutes, routeToWebhook } from '../../client/webhook-route.ts';

/** How the servers of webhooks are reached, and whom they are called as. */
export interface CallEnvironment {
  routes: WebhookRoutes;
  /** `host`: with its port. */
  credentialsFor(host: string): Credentials;
}

/** A patch may hold the whole of an object that is as large as a request may be, in base64. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Calls one webhook server, over connections that are kept until nobody needs it any more. */
export class WebhookCaller {
  readonly #client: WebhookClient | UnusableAddress;
  #callsUnderWay = 0;
  #isRetired = false;

  constructor(config: WebhookClientConfig, timeoutMs: number, { routes, credentialsFor }: CallEnvironment) {
    const route = routeOrUnusable(config, routes);
    if (route instanceof UnusableAddress) this.#client = route;
    else {
      const { endpoint, dial, host } = route;
      const { onWeakCertificate } = routes;
      this.#client = new WebhookClient({ ...endpoint, ...credentialsFor(host) }, { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES, dial, onWeakCertificate });
    }
  }

  /** Throws WebhookError. */
  async post(body: string, signal: AbortSignal | undefined, traceparent?: string): Promise<Buffer> {
    if (this.#client instanceof UnusableAddress) throw this.#client;
    this.#callsUnderWay++;
    try {
      return await this.#client.post(body, signal, traceparent);
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
    if (this.#isRetired && this.#callsUnderWay === 0 && this.#client instanceof WebhookClient) this.#client.close();
  }
}

/** Configurations are compiled for requests that no webhook is called for: what is wrong with one is told to those that it concerns. */
function routeOrUnusable(config: WebhookClientConfig, routes: WebhookRoutes): WebhookRoute | UnusableAddress {
  try {
    return routeToWebhook(config, routes);
  } catch (error) {
    if (error instanceof UnusableAddress) return error;
    throw error;
  }
}
