import { flag, flagSet } from './flag.ts';
import { bool, file, int, int32Slice, ip, namedCertKeys, string, strings } from './types.ts';

export const secureServing = flagSet('secure serving', {
  'bind-address': flag(ip, 'Address to listen on. Unspecified (0.0.0.0 or ::): all interfaces, IPv4 and IPv6.', { default: '0.0.0.0' }),
  'cert-dir': flag(
    string,
    'Folder in which a self-signed certificate is made where --tls-cert-file is not given. With the embedded and memory stores the default is a folder in --data-dir.',
    {
      default: '/var/run/kubernetes',
    },
  ),
  'disable-http2-serving': flag(bool, 'Serve HTTP/1.1 only.'),
  'http2-max-streams-per-connection': flag(int, 'Streams that a client may have open on one HTTP/2 connection. 0: 100.'),
  'permit-address-sharing': flag(bool, 'Listen with SO_REUSEADDR.', { noEffect: 'Node always listens so' }),
  'permit-port-sharing': flag(bool, 'Listen with SO_REUSEPORT, so that several servers share a port. Needs Node 23.1 or newer.'),
  'secure-port': flag(int, 'Port on which to serve HTTPS. 0: any free one.', { default: 6443 }),
  'tls-cert-file': flag(
    file,
    'Certificate for HTTPS, with its chain behind it. Read again when it changes. Without it a self-signed one is made in --cert-dir.',
  ),
  'tls-cipher-suites': flag(
    strings,
    'Cipher suites to offer, comma separated, by their IANA names, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256. They apply up to TLS 1.2.',
  ),
  'tls-curve-preferences': flag(
    int32Slice,
    'Key exchanges to offer, comma separated, by number: 23 P-256, 24 P-384, 25 P-521, 29 X25519, 4588 X25519MLKEM768.',
  ),
  'tls-min-version': flag(string, 'Oldest TLS version to speak: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13. Default: VersionTLS12.'),
  'tls-private-key-file': flag(file, 'Private key of --tls-cert-file.'),
  'tls-sni-cert-key': flag(
    namedCertKeys,
    'Certificate and key for certain host names: "foo.crt,foo.key" or "foo.crt,foo.key:*.foo.com,foo.com". Repeat for more.',
  ),
});
