#!/usr/bin/env bash
# cmd.sh KUBERNETES SOURCES [flags]: kubectl's own tests (SOURCES/test/cmd) against this server on its embedded store. KUBERNETES is the folder of the built
# programs. Flags are this server's. It takes seven minutes, and the ports 6443, 2379 and 10257; the one test that reads a page of the internet fails
# without it.
set -eu
programs=$(realpath "$1") sources=$(realpath "$2")
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$sources/_output/bin" "$folder/bin"
ln -sf "$programs"/{kubectl,kubectl-convert,kube-controller-manager} "$sources/_output/bin/"
# Everything is built already.
ln -s "$(type -P true)" "$folder/bin/make"
cat >"$sources/_output/bin/kube-apiserver" <<END
#!/usr/bin/env bash
for flag in "\$@"; do case \$flag in --etcd-servers=*) ;; *) flags+=("\$flag") ;; esac; done
exec node '$root/dist/binnacle.js' serve "\${flags[@]}" --data-dir="\$(mktemp -d '$folder/store.XXXX')" ${*@Q}
END
chmod +x "$sources/_output/bin/kube-apiserver"
cd "$sources"
PATH=$folder/bin:$programs:$PATH ALLOW_SKEW=1 KUBEADM_PATH=true ETCD_VERSION=3.5.0 KUBE_JUNIT_REPORT_DIR=$folder/junit hack/make-rules/test-cmd.sh
