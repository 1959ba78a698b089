import type { FuzzTarget } from './target.ts';
import { cbor, cborObject } from './targets/cbor.ts';
import { cel } from './targets/cel.ts';
import { certificate, certificateChain } from './targets/certificates.ts';
import { auditPolicy, execCredential, kubeconfig, pem, staticManifests } from './targets/configuration.ts';
import { etcdConnection, etcdRequests } from './targets/etcd.ts';
import { html } from './targets/html.ts';
import { http1Answer, http1Connection } from './targets/http1.ts';
import { hpack, http2Connection } from './targets/http2.ts';
import { decodedJson, json } from './targets/json.ts';
import { jsonPath } from './targets/json-path.ts';
import { jwt } from './targets/jwt.ts';
import { apply, managedFields } from './targets/ownership.ts';
import { jsonPatch, mergePatch, strategicMerge } from './targets/patches.ts';
import { grpcAnswers, konnectivityPacket, pluginAnswers, signerHeader, signerKeys } from './targets/plugins.ts';
import { protobuf } from './targets/protobuf.ts';
import { re2 } from './targets/re2.ts';
import { continueToken, mediaTypes, requestInfo, urls } from './targets/requests.ts';
import { addresses, duration, names, quantity, time, versionsAndSchedules } from './targets/scalars.ts';
import { schemaValues } from './targets/schema-values.ts';
import { fieldSelector, labelSelector, shardSelector } from './targets/selectors.ts';
import { spdy, spdyHeaders } from './targets/spdy.ts';
import { webSocket } from './targets/websocket.ts';
import { yaml } from './targets/yaml.ts';

/** All parsers and entry points. */
export const TARGETS: readonly FuzzTarget[] = [
  http1Connection,
  http1Answer,
  http2Connection,
  hpack,
  etcdConnection,
  etcdRequests,
  json,
  decodedJson,
  yaml,
  cbor,
  cborObject,
  protobuf,
  jsonPatch,
  mergePatch,
  strategicMerge,
  managedFields,
  apply,
  schemaValues,
  labelSelector,
  fieldSelector,
  shardSelector,
  cel,
  re2,
  jsonPath,
  certificate,
  certificateChain,
  pem,
  jwt,
  webSocket,
  spdy,
  spdyHeaders,
  html,
  requestInfo,
  urls,
  mediaTypes,
  continueToken,
  duration,
  quantity,
  time,
  names,
  addresses,
  versionsAndSchedules,
  auditPolicy,
  kubeconfig,
  execCredential,
  staticManifests,
  grpcAnswers,
  pluginAnswers,
  konnectivityPacket,
  signerKeys,
  signerHeader,
];
