#!/usr/bin/env bash
# reference.sh KUBE_APISERVER ETCD FOLDER PORT [flags]: runs kube-apiserver on etcd as the comparison needs it, until it is stopped (Ctrl-C, TERM).
# FOLDER is emptied first. etcd listens on PORT+1 and PORT+2. Further flags are kube-apiserver's.
set -eu
apiserver=$1 etcd=$2 folder=$3 port=$4
shift 4
tokens=$(cd "$(dirname "$0")/../test/oracle" && pwd)/tokens.csv
client=http://127.0.0.1:$((port + 1)) peer=http://127.0.0.1:$((port + 2))
rm -rf "$folder"
mkdir -p "$folder"
openssl genrsa -out "$folder/sa.key" 2048 2>/dev/null

"$etcd" --data-dir "$folder/etcd" --unsafe-no-fsync --quota-backend-bytes 8000000000 \
  --listen-client-urls "$client" --advertise-client-urls "$client" \
  --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" >"$folder/etcd.log" 2>&1 &
etcd_pid=$!
"$apiserver" --etcd-servers "$client" --secure-port "$port" --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --cert-dir "$folder/certs" \
  --token-auth-file "$tokens" --authorization-mode Node,RBAC --service-cluster-ip-range 10.0.0.0/16 \
  --service-account-issuer https://kubernetes.default.svc.cluster.local \
  --service-account-signing-key-file "$folder/sa.key" --service-account-key-file "$folder/sa.key" \
  --endpoint-reconciler-type none "$@" >"$folder/apiserver.log" 2>&1 &
apiserver_pid=$!
trap 'kill $apiserver_pid $etcd_pid 2>/dev/null; wait' TERM INT EXIT
wait $apiserver_pid
