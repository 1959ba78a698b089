import { constants } from 'node:crypto';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { CommandError } from '../../options/command-error.ts';
import { peerCertificatesOf } from '../../serving/certificates/peer.ts';
import { type FileReloadable, watchBundle, watchKeyPair } from '../../serving/certificates/reload.ts';
import { verifyClientChain } from '../../serving/certificates/verify.ts';
import type { ServerTls } from '../../storage/etcd-server/server.ts';

interface StoreTlsFlags {
  'cert-file'?: string;
  'key-file'?: string;
  'trusted-ca-file'?: string;
  'client-cert-auth'?: boolean;
}

/** The files behind `https://` and `unixs://`, which are read again whenever they change. */
export interface StoreTls {
  tls: ServerTls;
  /** Throws for a client that is not to be served. */
  checkClient: ((socket: TLSSocket) => void) | undefined;
  close(): void;
}

/** Undefined without flags of TLS. Throws CommandError where they make no sense, or a file cannot be used. */
export function openStoreTls(flags: StoreTlsFlags, onError: (error: Error) => void): StoreTls | undefined {
  const { 'cert-file': certFile, 'key-file': keyFile, 'trusted-ca-file': caFile, 'client-cert-auth': asksForCertificate } = flags;
  if (certFile === undefined && keyFile === undefined && caFile === undefined && !asksForCertificate) return undefined;
  if (certFile === undefined || keyFile === undefined) throw new CommandError('--cert-file and --key-file belong together; without them there is no TLS');
  if (asksForCertificate && caFile === undefined) throw new CommandError('--client-cert-auth needs --trusted-ca-file, whose certificates it asks for');
  const authorities = caFile === undefined ? undefined : named('trusted-ca-file', () => watchBundle(caFile, { onError }));
  const keyPair = named('cert-file', () => watchKeyPair(certFile, keyFile, { onError }));
  return {
    tls: {
      get current() {
        return tlsOptions(keyPair, authorities !== undefined);
      },
      onChange: (listener) => keyPair.onChange(listener),
    },
    checkClient: authorities && clientCheck(authorities),
    close() {
      keyPair.close();
      authorities?.close();
    },
  };
}

const tlsOptions = ({ current: { certPem, keyPem } }: FileReloadable<{ certPem: string; keyPem: string }>, asksForCertificate: boolean): TlsOptions => ({
  cert: certPem,
  key: keyPem,
  minVersion: 'TLSv1.2',
  // The certificate of a session that is taken up again comes without its chain.
  secureOptions: constants.SSL_OP_NO_TICKET,
  // `clientCheck` looks at it.
  ...(asksForCertificate && { requestCert: true, rejectUnauthorized: false }),
});

/**
 * As Go verifies certificates, whose programs know these files: what `--trusted-ca-file` has may be a root, an intermediate or the client's own. With the file, clients need
 * a certificate, as etcd has it (client/pkg/transport/listener.go).
 */
const clientCheck =
  (authorities: FileReloadable<string>) =>
  (socket: TLSSocket): void =>
    void verifyClientChain(peerCertificatesOf(socket), [authorities.current]);

function named<T>(flag: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new CommandError(`--${flag}: ${(error as Error).message}`);
  }
}
