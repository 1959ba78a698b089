import { emulationHelp } from '../effective-version.ts';
import { gateHelp } from '../feature-gates.ts';
import { flag, flagSet } from './flag.ts';
import { bool, colonSeparatedMultimap, duration, float, int, ip, seconds, string, strings } from './types.ts';

export const generic = flagSet('generic', {
  'advertise-address': flag(
    ip,
    'Address at which the rest of the cluster reaches this server. Empty: --bind-address, or where that names all interfaces, the address of the default one.',
  ),
  'cors-allowed-origins': flag(
    strings,
    'Origins that browsers may call from: regular expressions, comma separated. Each must pin the whole host, from "^" or "//" to "$" or ":".',
  ),
  'emulated-version': flag(strings, `Version whose features and APIs to show, as major.minor or component=major.minor.\n${emulationHelp('emulation')}`),
  'emulation-forward-compatible': flag(bool, 'Also serve APIs newer than the emulated version where they replace one that it has.'),
  'external-hostname': flag(string, 'Host name in URLs made for clients outside, such as OpenID discovery.'),
  'feature-gates': flag(colonSeparatedMultimap, `Features to turn on or off, as key=true|false pairs, comma separated. Known ones are:\n${gateHelp()}`),
  'goaway-chance': flag(float, 'Share of HTTP/2 requests, 0 to 0.02, whose connection is asked to be opened anew, so that load spreads over several servers.'),
  'livez-grace-period': flag(duration, 'How long /livez may take to see start-up complete before it fails.'),
  'max-mutating-requests-inflight': flag(
    int,
    'Mutating requests served at the same time; more are answered 429. 0: no limit. With --enable-priority-and-fairness, both limits together are the seats that are shared out, and must not be 0.',
    { default: 200 },
  ),
  'max-requests-inflight': flag(
    int,
    'Reading requests served at the same time; more are answered 429. 0: no limit. With --enable-priority-and-fairness, both limits together are the seats that are shared out, and must not be 0.',
    { default: 400 },
  ),
  'min-compatibility-version': flag(
    strings,
    `Oldest version of the control plane to stay compatible with, as major.minor: objects are stored in a version that it reads.\n${emulationHelp('minCompatibility')}`,
  ),
  'min-request-timeout': flag(
    seconds,
    'Seconds that a watch is kept open at least, when the client asks for no timeout; the actual time is random, up to twice this.',
    { default: 1800 },
  ),
  'request-timeout': flag(duration, 'How long a request may take, unless it is a long-running one such as a watch.', { default: 60_000 }),
  'runtime-config-emulation-forward-compatible': flag(bool, 'Let --runtime-config turn on APIs newer than the emulated version.'),
  'shutdown-delay-duration': flag(duration, 'How long to go on serving, with /readyz failing, after the signal to stop.'),
  'shutdown-send-retry-after': flag(bool, 'While shutting down, keep listening and answer 429 with Retry-After until the requests in flight have ended.'),
  'shutdown-watch-termination-grace-period': flag(duration, 'How long to wait at shutdown for watches to end by themselves.'),
  'storage-initialization-timeout': flag(
    duration,
    'How long the start waits for resources to be read from the store. Those that the server itself needs, such as roles, are waited for however long that takes; requests for others are answered 429 until they are there.',
    { default: 60_000 },
  ),
  'strict-transport-security-directives': flag(
    strings,
    'Directives of the Strict-Transport-Security header, such as max-age=31536000,includeSubDomains,preload. Empty: no header.',
  ),
});
