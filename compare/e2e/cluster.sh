#!/usr/bin/env bash
# cluster.sh KUBERNETES FOLDER [flags]: a cluster for Kubernetes' end-to-end tests, until it is stopped (Ctrl-C, TERM): this server, the real
# kube-controller-manager and kube-scheduler of the folder KUBERNETES, and two pretended nodes. Flags are this server's. Runs in a network namespace of its
# own, since pods have addresses; FOLDER/enter runs a command in it. FOLDER is emptied first.
set -eu
if [ "${IN_NAMESPACE:-}" = "" ]; then exec env IN_NAMESPACE=1 unshare --net --kill-child "$0" "$@"; fi
programs=$(realpath "$1") folder=$2
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
port=6443
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
ip link set lo up
for host in $(seq 10 249); do ip address add "10.244.0.$host/32" dev lo; done
printf '#!/bin/sh\nexec nsenter --target=%s --net -- "$@"\n' $$ >enter
chmod +x enter
"$root/node_modules/.bin/esbuild" "$root/compare/e2e/kubelets.ts" --bundle --platform=node --format=esm --log-level=error --outfile=kubelets.mjs

authority() { openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.crt" -days 30 -subj "/CN=$1" 2>/dev/null; }
certificate() {
  openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
  printf 'extendedKeyUsage=clientAuth,serverAuth\nsubjectAltName=DNS:localhost,IP:127.0.0.1' >extensions
  openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -CAcreateserial -out "$1.crt" -days 30 -extfile extensions 2>/dev/null
}
authority ca
authority front-proxy-ca
certificate server ca
certificate front-proxy-client front-proxy-ca
openssl genrsa -out sa.key 2048 2>/dev/null
cat >kubeconfig <<END
{"apiVersion": "v1", "kind": "Config", "current-context": "e2e", "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "admin"}}],
 "clusters": [{"name": "e2e", "cluster": {"server": "https://127.0.0.1:$port", "certificate-authority": "$PWD/ca.crt"}}],
 "users": [{"name": "admin", "user": {"token": "admin-token"}}]}
END

trap 'kill $(jobs -p) 2>/dev/null; wait' TERM INT EXIT
node "$root/dist/binnacle.js" serve --data-dir=store --secure-port=$port --bind-address=127.0.0.1 --advertise-address=127.0.0.1 \
  --tls-cert-file=server.crt --tls-private-key-file=server.key --client-ca-file=ca.crt --token-auth-file="$root/test/oracle/tokens.csv" \
  --requestheader-client-ca-file=front-proxy-ca.crt --requestheader-allowed-names=front-proxy-client --requestheader-username-headers=X-Remote-User \
  --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
  --proxy-client-cert-file=front-proxy-client.crt --proxy-client-key-file=front-proxy-client.key --enable-aggregator-routing \
  --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --service-cluster-ip-range=10.96.0.0/16 --allow-privileged \
  --service-account-issuer=https://kubernetes.default.svc.cluster.local \
  --service-account-key-file=sa.key --service-account-signing-key-file=sa.key "$@" >apiserver.log 2>&1 &
until [ "$(curl --silent --cacert ca.crt --header 'Authorization: Bearer admin-token' https://127.0.0.1:$port/readyz)" = ok ]; do
  kill -0 $! || { cat apiserver.log; exit 1; }
  sleep 0.2
done
"$programs/kube-controller-manager" --kubeconfig=kubeconfig --service-account-private-key-file=sa.key --root-ca-file=ca.crt \
  --cluster-signing-cert-file=ca.crt --cluster-signing-key-file=ca.key --use-service-account-credentials \
  --controllers='*,bootstrapsigner,tokencleaner' --kube-api-qps=200 --kube-api-burst=400 >controller-manager.log 2>&1 &
"$programs/kube-scheduler" --kubeconfig=kubeconfig >scheduler.log 2>&1 &
node kubelets.mjs $port ca.crt "$programs" "$PWD/pods" >kubelets.log 2>&1 &
echo "Serving; for example: $PWD/enter kubectl --kubeconfig=$PWD/kubeconfig get nodes"
wait
