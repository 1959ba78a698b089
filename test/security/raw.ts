import { type TLSSocket, connect } from 'node:tls';
import type { ServerProcess } from '../support/server.ts';

/** What came back on a connection that was spoken to byte by byte. */
export interface RawAnswer {
  /** Of the first answer; 0 where the connection was closed without one. */
  status: number;
  head: string;
  body: string;
  /** All that was received, for answers that follow each other. */
  text: string;
  /** True when the server ended the connection. */
  isClosed: boolean;
}

const parse = (text: string, isClosed: boolean): RawAnswer => {
  const headEnd = text.indexOf('\r\n\r\n');
  const head = headEnd < 0 ? text : text.slice(0, headEnd);
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0), head, body: headEnd < 0 ? '' : text.slice(headEnd + 4), text, isClosed };
};

const isWhole = (text: string, answers: number): boolean => {
  let rest = text;
  for (let count = 0; count < answers; count++) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return false;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(rest.slice(0, headEnd))?.[1] ?? Number.NaN);
    if (!(rest.length >= headEnd + 4 + length)) return false;
    rest = rest.slice(headEnd + 4 + length);
  }
  return true;
};

/** Sends bytes over TLS as they are. Resolves when so many answers (1) are whole, or the server has closed the connection. */
export function sendRaw(
  server: ServerProcess,
  bytes: string | Buffer,
  { answers = 1, end = false }: { answers?: number; end?: boolean } = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = '';
    const socket: TLSSocket = connect({ host: '127.0.0.1', port: server.port, ca: server.ca, ALPNProtocols: ['http/1.1'] }, () => {
      if (end) socket.end(bytes);
      else socket.write(bytes);
    });
    const finish = (isClosed: boolean): void => {
      socket.destroy();
      resolve(parse(text, isClosed));
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (isWhole(text, answers)) finish(false);
    });
    socket.on('error', () => finish(true)).on('close', () => finish(true));
  });
}

/** The head of a request by admin, with lines of one's own behind; it ends with the empty line. */
export const head = (requestLine: string, ...lines: string[]): string =>
  [`${requestLine} HTTP/1.1`, 'Host: localhost', 'Authorization: Bearer admin-token', ...lines, '', ''].join('\r\n');
