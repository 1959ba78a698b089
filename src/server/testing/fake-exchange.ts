import { CapturedExchange } from '../../serving/captured-exchange.ts';
import type { ResponseHeaders, ResponseStream } from '../../serving/exchange.ts';

/** For tests: an exchange without a socket, that remembers its answer, and insists on being answered once. */
export class FakeExchange extends CapturedExchange {
  override readonly httpVersion: '1.1' | '2.0';
  closeRequests = 0;
  isDestroyed = false;
  override readonly connection = {
    peerCertificates: [],
    requestClose: (): void => void this.closeRequests++,
    destroy() {},
    pauseReading: () => true,
    resumeReading(): void {},
  };

  constructor(target: string, { method = 'GET', headers = {}, httpVersion = '1.1' as '1.1' | '2.0' } = {}) {
    super({ method, target, headers, body: Buffer.alloc(0), remoteAddress: '127.0.0.1' }, Infinity);
    this.httpVersion = httpVersion;
  }

  get body(): string {
    return this.answer.bytes.toString();
  }

  get json(): unknown {
    return JSON.parse(this.body);
  }

  override respond(status: number, headers: ResponseHeaders, body?: Buffer | string | readonly Buffer[]): void {
    if (this.isAnswered) throw new Error('answered twice');
    super.respond(status, headers, body);
  }

  /** Never drained: what waits for that is seen to wait. */
  override startStream(status: number, headers: ResponseHeaders): ResponseStream {
    if (this.isAnswered) throw new Error('answered twice');
    const stream = super.startStream(status, headers);
    const destroy = (): void => {
      this.isDestroyed = true;
      stream.destroy();
    };
    return { ...stream, onDrain() {}, destroy };
  }
}
