import { once } from 'node:events';
import { type ConnectionOptions, type TLSSocket, connect } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { createAuthority, signCertificate } from './certificates/create.ts';
import { type KeyPair, decodePem } from './certificates/pem.ts';
import { type Reloadable, fixed } from './certificates/reload.ts';
import { verifyClientChain } from './certificates/verify.ts';
import type { Listener } from './listener.ts';
import { readToEnd, startListener, testAuthority } from './test-server.ts';

let listener: Listener;
afterEach(() => listener.close({ graceMs: 0 }));

const serving = fixed(signCertificate(testAuthority, { commonName: 'localhost', usages: ['server'], hosts: ['localhost'] }));
const other = fixed(signCertificate(testAuthority, { commonName: 'other', usages: ['server'], hosts: ['other.example'] }));

/** What the server saw of each request's client. */
let seen: (readonly Buffer[])[];

function start(clientCa: Reloadable<string> = fixed(testAuthority.certPem)): Promise<Listener> {
  seen = [];
  const certificates = { certificate: serving, sni: [{ certificate: other, names: [] }], clientCas: [clientCa] };
  return startListener(
    (exchange) => {
      seen.push(exchange.connection.peerCertificates);
      exchange.respond(200, {}, 'ok');
    },
    { certificates },
  );
}

interface Visit {
  isResumed: boolean;
  /** The newest ticket that came. */
  session: Buffer;
}

/** One connection with one request, to its end. */
async function visit(options: ConnectionOptions = {}): Promise<Visit> {
  const socket: TLSSocket = connect({ host: '127.0.0.1', port: listener.address.port, rejectUnauthorized: false, ...options });
  let session: Buffer = Buffer.alloc(0);
  socket.on('session', (received: Buffer) => (session = received));
  await once(socket, 'secureConnect');
  const isResumed = socket.isSessionReused();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect(await readToEnd(socket)).toContain('200 OK');
  return { isResumed, session };
}

const intermediate = createAuthority({ commonName: 'intermediate', issuer: testAuthority });
const jane = signCertificate(intermediate, { commonName: 'jane', usages: ['client'] });
const withChain = { cert: jane.certPem + intermediate.certPem, key: jane.keyPem };
const chainOfJane = [...decodePem('CERTIFICATE', jane.certPem), ...decodePem('CERTIFICATE', intermediate.certPem)];

class ChangingBundle implements Reloadable<string> {
  current = testAuthority.certPem;
  readonly #listeners: (() => void)[] = [];
  onChange(changed: () => void): void {
    this.#listeners.push(changed);
  }
  change(pem: string): void {
    this.current = pem;
    for (const changed of this.#listeners) changed();
  }
}

describe.each(['TLSv1.3', 'TLSv1.2'] as const)('sessions of %s', (version) => {
  const options: ConnectionOptions = { minVersion: version, maxVersion: version };

  test('are resumed by ticket, without a certificate and with one', async () => {
    listener = await start();
    for (const credentials of [{}, withChain]) {
      const first = await visit({ ...options, ...credentials });
      const second = await visit({ ...options, ...credentials, session: first.session });
      expect([first.isResumed, second.isResumed]).toEqual([false, true]);
    }
    expect(seen.slice(0, 2)).toEqual([[], []]);
  });

  test('bring the client’s certificates whole, so that they are verified as in a full handshake', async () => {
    listener = await start();
    const { session } = await visit({ ...options, ...withChain });
    await visit({ ...options, ...withChain, session });
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[1]!.slice(0, 2)).toEqual(chainOfJane);
    expect(verifyClientChain(seen[1]!, [testAuthority.certPem])).toHaveLength(3);
    expect(() => verifyClientChain(seen[1]!, [createAuthority({ commonName: 'test-ca' }).certPem])).toThrow('unknown authority');
  });

  test('are those of the client that began them, whatever certificate comes with the ticket', async () => {
    listener = await start();
    const { session } = await visit(options);
    expect((await visit({ ...options, ...withChain, session })).isResumed).toBe(true);
    expect(seen[1]).toEqual([]);
  });

  test('of a name are resumed for that name', async () => {
    listener = await start();
    const named = { ...options, ...withChain, servername: 'other.example' };
    const { session } = await visit(named);
    expect((await visit({ ...named, session })).isResumed).toBe(true);
    expect(seen[1]).toEqual(seen[0]);
  });

  test('end with the authorities that clients are asked for', async () => {
    const bundle = new ChangingBundle();
    listener = await start(bundle);
    const { session } = await visit({ ...options, ...withChain });
    bundle.change(createAuthority({ commonName: 'new-ca' }).certPem);
    expect((await visit({ ...options, ...withChain, session })).isResumed).toBe(false);
  });

  test('end when their client’s intermediates are forgotten', async () => {
    listener = await start();
    const { session } = await visit({ ...options, ...withChain });
    const renewed: KeyPair = createAuthority({ commonName: 'intermediate', issuer: testAuthority, key: intermediate.key });
    // The same leaf with other intermediates: which of the two chains a ticket stands for cannot be told.
    await visit({ ...options, cert: jane.certPem + renewed.certPem, key: jane.keyPem });
    expect((await visit({ ...options, ...withChain, session })).isResumed).toBe(false);
    expect(seen[2]).toEqual(seen[0]);
  });
});
